import FieldpackCore

/// A field of a protobuf message: its number and what it holds.
struct ProtobufField: Hashable {
  enum Content: Hashable {
    case varint(UInt64)
    /// A text, bytes, or a message.
    case bytes(ArraySlice<UInt8>)
    /// Numbers of a fixed size and groups, which no message of a backend has.
    case other
  }

  var number: Int
  var content: Content

  /// The type of a number that is written as a varint.
  func integer() throws(FieldpackError) -> Int64 {
    guard case .varint(let value) = content else { throw mistake("is no number") }
    return Int64(bitPattern: value)
  }

  func bytes() throws(FieldpackError) -> ArraySlice<UInt8> {
    guard case .bytes(let bytes) = content else { throw mistake("is no text") }
    return bytes
  }

  func text() throws(FieldpackError) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw mistake("is no UTF-8")
    }
    return text
  }

  private func mistake(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "field \(number) of the message \(what)")
  }
}

/// Reads the fields of one protobuf message, one after the other, whatever they are.
struct ProtobufReader {
  /// How deep groups, which are skipped, may be nested.
  static let maximumDepth = 32

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next field; `nil` at the end.
  ///
  /// - Throws: `.invalidData` for bytes that are no protobuf.
  mutating func next() throws(FieldpackError) -> ProtobufField? {
    guard !rest.isEmpty else { return nil }
    let (number, type) = try key()
    switch type {
    case 0: return ProtobufField(number: number, content: .varint(try varint()))
    case 2: return ProtobufField(number: number, content: .bytes(try take(length())))
    default:
      try skip(number, type)
      return ProtobufField(number: number, content: .other)
    }
  }

  private mutating func key() throws(FieldpackError) -> (number: Int, type: UInt8) {
    let key = try varint()
    guard key >> 3 > 0, key >> 3 < 1 << 29 else { throw Self.mistake("a field has no number") }
    return (Int(key >> 3), UInt8(key & 7))
  }

  /// Skips a field that is not read: a group with all that is in it.
  private mutating func skip(_ number: Int, _ type: UInt8) throws(FieldpackError) {
    var groups: [Int] = []
    var (number, type) = (number, type)
    while true {
      switch type {
      case 0: _ = try varint()
      case 1: _ = try take(8)
      case 2: _ = try take(length())
      case 5: _ = try take(4)
      case 3:
        guard groups.count < Self.maximumDepth else { throw Self.mistake("nested too deep") }
        groups.append(number)
      case 4:
        guard groups.popLast() == number else {
          throw Self.mistake("a group ends that is not open")
        }
      default: throw Self.mistake("a field of unknown type \(type)")
      }
      if groups.isEmpty { return }
      (number, type) = try key()
    }
  }

  private mutating func length() throws(FieldpackError) -> Int {
    let length = try varint()
    guard length <= UInt64(rest.count) else {
      throw Self.mistake("a field is longer than the rest")
    }
    return Int(length)
  }

  private mutating func take(_ count: Int) throws(FieldpackError) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw Self.mistake("it ends in a field") }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  private mutating func varint() throws(FieldpackError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { throw Self.mistake("it ends in a number") }
      // Only one bit of the tenth byte has a place in 64.
      guard shift < 63 || byte < 2 else { throw Self.mistake("a number has more than 64 bits") }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw Self.mistake("a number has more than 10 bytes")
  }

  private static func mistake(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "the message is no protobuf: \(what)")
  }
}
