/// Writes the fields of one protobuf message. What is `nil` or 0 is left out, as proto3 does.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ number: UInt64, _ value: Int64?) {
    guard let value, value != 0 else { return }
    varint(number << 3)
    varint(UInt64(bitPattern: value))
  }

  mutating func add(_ number: UInt64, _ text: String?) {
    guard let text, !text.isEmpty else { return }
    add(number, Array(text.utf8))
  }

  mutating func add(_ number: UInt64, _ content: [UInt8]) {
    varint(number << 3 | 2)
    varint(UInt64(content.count))
    bytes += content
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest > 0x7f {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
