public import FieldpackCore
import FieldpackGeometry

/// A GeoJSON Feature as a value, in which an absent member differs from `null`.
public struct GeoJSONFeature: Hashable, Sendable {
  /// The member `id`: an integer where it is written as one, else its text.
  public var id: FeatureID?
  /// The members of `properties`; nested values are JSON text.
  public var attributes: Attributes
  /// `.keep` where there is no member `geometry`.
  public var geometry: GeometryUpdate
  /// Where the feature begins.
  public var position: FilePosition

  /// The key tuple in the `id`; `nil` where the `id` is none.
  public var key: KeyTuple? {
    guard case .text(let text)? = id else { return nil }
    return KeyTuple(text)
  }
}

/// Reads a few features as values, for `create` and `update`. For many features use
/// ``GeoJSONReader``.
public struct GeoJSONFeatures: ~Copyable {
  private var scanner: JSONScanner
  private var geometry = GeoJSONGeometryParser()
  private var features: [GeoJSONFeature] = []

  private struct Object {
    var type = GeoJSONType.missing
    var feature: GeoJSONFeature
    var geometry: GeoJSONGeometryParser.Object
    var hasFeatures = false
  }

  /// The features of a collection, a Feature, a geometry, or a sequence of them.
  public static func read(_ bytes: [UInt8]) throws(FieldpackError) -> [GeoJSONFeature] {
    try read(JSONScanner(bytes))
  }

  public static func read(_ input: ByteInput) throws(FieldpackError) -> [GeoJSONFeature] {
    try read(JSONScanner(input))
  }

  private static func read(
    _ scanner: consuming JSONScanner
  ) throws(FieldpackError) -> [GeoJSONFeature] {
    var reading = GeoJSONFeatures(scanner: scanner)
    do throws(FieldpackError) {
      try reading.readAll()
    } catch {
      throw reading.scanner.locate(error)
    }
    return reading.features
  }

  private init(scanner: consuming JSONScanner) { self.scanner = scanner }

  private mutating func readAll() throws(FieldpackError) {
    scanner.allowsRecordSeparators = true
    try scanner.begin()
    repeat {
      _ = try scanner.peek()
      try readObject(isTop: true)
    } while try scanner.peek() != 0
  }

  private mutating func readObject(isTop: Bool) throws(FieldpackError) {
    scanner.feature = features.count + 1
    guard try scanner.peek() == UInt8(ascii: "{") else {
      throw scanner.unexpected("a GeoJSON object")
    }
    geometry.reset()
    let position = FilePosition(byteOffset: scanner.offset, feature: features.count + 1)
    var object = Object(
      feature: GeoJSONFeature(attributes: [:], geometry: .keep, position: position),
      geometry: geometry.begin(at: scanner.offset))
    try scanner.enter()
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      let member = GeoJSONMember(name)
      _ = try scanner.peek()
      try readMember(member, of: &object, isTop: isTop)
    }
    try finish(&object, isTop: isTop)
  }

  private mutating func readMember(
    _ member: GeoJSONMember, of object: inout Object, isTop: Bool
  ) throws(FieldpackError) {
    switch member {
    case .type: object.type = try geometry.parseType(&scanner)
    case .id: object.feature.id = try readID()
    case .properties: object.feature.attributes = try readProperties()
    case .geometry:
      try geometry.parse(&scanner)
      object.feature.geometry = .set(try geometry.value(&scanner))
    case .coordinates where isTop: try geometry.parseCoordinates(&object.geometry, &scanner)
    case .geometries where isTop: try geometry.parseGeometries(&object.geometry, &scanner)
    case .features where isTop: try readFeatures(&object)
    default: try scanner.skipValue()
    }
  }

  private mutating func readFeatures(_ object: inout Object) throws(FieldpackError) {
    guard try scanner.peek() == UInt8(ascii: "[") else { throw scanner.unexpected("an array") }
    object.hasFeatures = true
    try scanner.enter()
    var isFirst = true
    while try scanner.nextElement(&isFirst) { try readObject(isTop: false) }
  }

  private mutating func finish(_ object: inout Object, isTop: Bool) throws(FieldpackError) {
    let offset = object.geometry.offset
    switch object.type {
    case .feature where !object.hasFeatures: break
    case .featureCollection where isTop && object.hasFeatures: return
    case .geometry where isTop && !object.hasFeatures:
      object.geometry.type = object.type
      geometry.finishWhole(geometry.finish(object.geometry))
      object.feature.geometry = .set(try geometry.value(&scanner))
    default: throw scanner.failure("this is no GeoJSON Feature", offset: offset)
    }
    features.append(object.feature)
  }

  private mutating func readID() throws(FieldpackError) -> FeatureID? {
    switch try scanner.peek() {
    case UInt8(ascii: "\""):
      return .text(String(decoding: try scanner.scanString(), as: UTF8.self))
    case UInt8(ascii: "n"):
      _ = try scanner.scanLiteral()
      return nil
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try scanner.scanNumber()
      if let integer = scanner.integer { return .integer(integer) }
      return .text(String(decoding: scanner.numberText, as: UTF8.self))
    default:
      throw scanner.failure(
        "an id is neither string nor number (RFC 7946 section 3.2)", offset: scanner.offset)
    }
  }

  private mutating func readProperties() throws(FieldpackError) -> Attributes {
    var attributes: Attributes = [:]
    if try scanner.peek() == UInt8(ascii: "n") {
      _ = try scanner.scanLiteral()
      return attributes
    }
    guard try scanner.peek() == UInt8(ascii: "{") else { throw scanner.unexpected("an object") }
    try scanner.enter()
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      let name = String(decoding: name, as: UTF8.self)
      attributes[name] = try readValue()
    }
    return attributes
  }

  private mutating func readValue() throws(FieldpackError) -> Value {
    switch try scanner.peek() {
    case UInt8(ascii: "\""):
      return .text(String(decoding: try scanner.scanString(), as: UTF8.self))
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      return .text(String(decoding: try scanner.compactValue(), as: UTF8.self))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try scanner.scanNumber()
      if let integer = scanner.integer { return .integer(integer) }
      let real = scanner.real
      return real.isFinite
        ? .real(real) : .text(String(decoding: scanner.numberText, as: UTF8.self))
    default:
      switch try scanner.scanLiteral() {
      case UInt8(ascii: "t"): return .boolean(true)
      case UInt8(ascii: "f"): return .boolean(false)
      default: return .null
      }
    }
  }
}
