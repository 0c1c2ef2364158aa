import FieldpackCore

/// Takes the features out of a GeoJSON collection that comes in pieces.
///
/// It only finds where each feature begins and ends; what is in it is read later. All other members
/// of the collection are kept, up to 1 MiB.
struct FeatureSplitter {
  static let maximumFeature = 64 << 20
  private static let maximumRest = 1 << 20

  /// The members of the collection beside its features, as an object.
  private(set) var rest: [UInt8] = []
  /// Whether the collection has ended.
  private(set) var isFinished = false
  private var feature: [UInt8] = []
  private var depth = 0
  private var isInText = false
  private var isEscaped = false
  private var isInFeatures = false
  /// The last text at the top, which names the member whose value follows.
  private var name: [UInt8] = []
  private var isName = false

  /// Gives the bytes of each feature that ends in the piece.
  mutating func push(
    _ bytes: [UInt8], _ body: ([UInt8]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    for byte in bytes { try take(byte, body) }
  }

  private mutating func take(
    _ byte: UInt8, _ body: ([UInt8]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    if isInFeatures, depth >= 3 || byte == UInt8(ascii: "{") {
      try takeFeature(byte, body)
      return
    }
    if isFinished {
      guard byte <= 0x20 else { throw Self.broken("something follows the collection") }
      return
    }
    if isInText {
      takeText(byte)
      try keep(byte)
      return
    }
    switch byte {
    case UInt8(ascii: "\""):
      isInText = true
      isName = depth == 1
      if isName { name.removeAll(keepingCapacity: true) }
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard depth > 0 || byte == UInt8(ascii: "{") else { throw Self.broken("no object begins") }
      depth += 1
      if depth == 2, byte == UInt8(ascii: "["), name.elementsEqual("features".utf8) {
        isInFeatures = true
      }
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      depth -= 1
      guard depth >= 0 else { throw Self.broken("a bracket too many ends") }
      if depth == 1 { isInFeatures = false }
      isFinished = depth == 0
    default: break
    }
    // Between features stand only commas and white space.
    if isInFeatures, byte != UInt8(ascii: "[") { return }
    try keep(byte)
  }

  private mutating func takeText(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInText = false
      return
    }
    if isName { name.append(byte) }
  }

  private mutating func takeFeature(
    _ byte: UInt8, _ body: ([UInt8]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    feature.append(byte)
    guard feature.count <= Self.maximumFeature else {
      throw Self.broken("a feature is longer than \(Self.maximumFeature >> 20) MiB")
    }
    if isInText {
      takeText(byte)
      return
    }
    switch byte {
    case UInt8(ascii: "\""):
      isInText = true
      isName = false
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
    default: break
    }
    guard depth == 2, !isInText else { return }
    let whole = feature
    feature.removeAll(keepingCapacity: true)
    try body(whole)
  }

  private mutating func keep(_ byte: UInt8) throws(FieldpackError) {
    rest.append(byte)
    guard rest.count <= Self.maximumRest else {
      throw Self.broken("the collection has more than 1 MiB beside its features")
    }
  }

  private static func broken(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "the GeoJSON is broken: \(what)")
  }

  /// Says that the answer has ended.
  func finish() throws(FieldpackError) -> JSONValue {
    guard isFinished else { throw Self.broken("it ends too early") }
    do throws(JSONMistake) {
      return try JSONValueReader.read(String(decoding: rest, as: UTF8.self))
    } catch { throw Self.broken(error.message) }
  }
}
