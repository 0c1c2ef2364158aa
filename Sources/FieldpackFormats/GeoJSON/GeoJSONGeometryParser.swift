import FieldpackCore
import FieldpackGeometry

/// Turns GeoJSON geometries into WKB (ISO, the machine's byte order) in one reused buffer.
struct GeoJSONGeometryParser: ~Copyable {
  /// What is known of an object that may be a geometry, its members standing in any order.
  struct Object {
    var type = GeoJSONType.missing
    /// Where the object begins in the file.
    var offset: Int
    /// Where its WKB begins.
    var start: Int
    var depth: Int
    var hasCoordinates = false
    var hasGeometries = false
    var memberCount: UInt32 = 0
  }

  var coordinates = CoordinateArrays()
  /// Room for the header of a Multi type, then the WKB.
  var wkb = GrowingBytes()
  var rewritten = GrowingBytes()
  /// The type of the geometry read last; `nil` where there is none.
  var type: GeometryType?
  var hasZ = false
  var envelope = Envelope.empty
  var problem: FeatureProblem?
  var closedRings = 0
  /// Whether parts with too few positions are left out, instead of being a problem.
  var leavesOutShortParts = false
  /// Parts that were left out.
  var shortParts = 0
  var hasExtraOrdinates = false
  var hasMixedDimensions = false
  var sawFlat = false
  /// The `crs` members on the way.
  var crs = CRSMember()

  /// Bytes before the WKB, in which a single geometry can become the only member of a Multi type.
  static let headerLength = 9
  static let maximumDepth = WKB.maximumDepth

  init() { reset() }

  mutating func reset() {
    wkb.removeAll()
    wkb.append(raw: UInt64(0))
    wkb.append(0)
    (type, hasZ, sawFlat, problem, envelope) = (nil, false, false, nil, .empty)
  }

  /// Forgets what the notes are about.
  mutating func resetNotes() {
    (closedRings, shortParts) = (0, 0)
    (hasExtraOrdinates, hasMixedDimensions) = (false, false)
  }

  mutating func complain(_ message: String, at offset: Int) {
    if problem == nil { problem = FeatureProblem(message: message, offset: offset) }
  }

  // MARK: Parsing

  /// Takes the value of a `geometry` member: an object or null.
  mutating func parse(_ scanner: inout JSONScanner) throws(FieldpackError) {
    reset()
    let byte = try scanner.peek()
    if byte == UInt8(ascii: "n") {
      _ = try scanner.scanLiteral()
      return
    }
    type = try parseObject(depth: 1, &scanner)
    finishWhole()
  }

  func begin(at offset: Int, depth: Int = 1) -> Object {
    Object(offset: offset, start: wkb.count, depth: depth)
  }

  private mutating func parseObject(
    depth: Int, _ scanner: inout JSONScanner
  ) throws(FieldpackError) -> GeometryType? {
    guard depth <= Self.maximumDepth else {
      complain(
        "geometry collections are nested more than \(Self.maximumDepth) deep", at: scanner.offset)
      try scanner.skipValue()
      return nil
    }
    var object = begin(at: scanner.offset, depth: depth)
    guard try scanner.peek() == UInt8(ascii: "{") else {
      complain("a geometry is not an object (RFC 7946 section 3.1)", at: scanner.offset)
      try scanner.skipValue()
      return nil
    }
    try scanner.enter()
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      let member = GeoJSONMember(name)
      _ = try scanner.peek()
      switch member {
      case .type: object.type = try parseType(&scanner)
      case .coordinates: try parseCoordinates(&object, &scanner)
      case .geometries: try parseGeometries(&object, &scanner)
      case .crs: try crs.parse(&scanner)
      default: try scanner.skipValue()
      }
    }
    return finish(object)
  }

  mutating func parseType(_ scanner: inout JSONScanner) throws(FieldpackError) -> GeoJSONType {
    guard try scanner.peek() == UInt8(ascii: "\"") else {
      complain("a type is not a string (RFC 7946 section 3)", at: scanner.offset)
      try scanner.skipValue()
      return .unknown("")
    }
    return GeoJSONType(try scanner.scanString())
  }

  mutating func parseCoordinates(
    _ object: inout Object, _ scanner: inout JSONScanner
  ) throws(FieldpackError) {
    try coordinates.parse(&scanner)
    object.hasCoordinates = true
    if object.hasGeometries { complainOfBoth(object) }
  }

  mutating func parseGeometries(
    _ object: inout Object, _ scanner: inout JSONScanner
  ) throws(FieldpackError) {
    if object.hasCoordinates { complainOfBoth(object) }
    guard try scanner.peek() == UInt8(ascii: "[") else {
      complain("geometries are not an array (RFC 7946 section 3.1.8)", at: scanner.offset)
      return try scanner.skipValue()
    }
    object.hasGeometries = true
    object.memberCount = 0
    wkb.truncate(to: object.start)
    appendHeader(.geometryCollection, hasZ: false)
    wkb.append(raw: UInt32(0))
    try scanner.enter()
    var isFirst = true
    while try scanner.nextElement(&isFirst) {
      _ = try parseObject(depth: object.depth + 1, &scanner)
      object.memberCount &+= 1
    }
  }

  private mutating func complainOfBoth(_ object: Object) {
    complain(
      "a geometry has both coordinates and geometries (RFC 7946 section 7.1)", at: object.offset)
  }

  /// Makes the WKB of an object whose members have all been read.
  mutating func finish(_ object: Object) -> GeometryType? {
    guard case .geometry(let type) = object.type else {
      complain(Self.describe(object.type), at: object.offset)
      return nil
    }
    if type == .geometryCollection {
      guard object.hasGeometries else {
        complain("a GeometryCollection has no geometries", at: object.offset)
        return nil
      }
      wkb.store(object.memberCount, at: object.start + 5)
      return type
    }
    guard object.hasCoordinates else {
      complain("a geometry has no coordinates (RFC 7946 section 3.1)", at: object.offset)
      return nil
    }
    if let found = coordinates.problem {
      complain(found.message, at: found.offset)
      return nil
    }
    if let message = append(type) { complain(message, at: object.offset) }
    return type
  }

  static func describe(_ type: GeoJSONType) -> String {
    switch type {
    case .missing: "a geometry has no type (RFC 7946 section 3)"
    case .unknown(let name): "'\(name)' is no geometry type of GeoJSON (RFC 7946 section 1.4)"
    default: "a geometry is expected here, not a Feature (RFC 7946 section 3.1)"
    }
  }

  /// Settles what concerns the geometry as a whole.
  mutating func finishWhole(_ found: GeometryType? = nil) {
    if let found { type = found }
    guard problem == nil, let type else { return }
    if hasZ, sawFlat { hasMixedDimensions = true }
    if type == .geometryCollection, hasZ { giveAllMembersZ() }
  }
}
