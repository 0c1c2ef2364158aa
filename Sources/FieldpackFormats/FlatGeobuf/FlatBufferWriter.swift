/// Writes a FlatBuffer from its root to its leaves: each offset leads to what is written later.
struct FlatBufferWriter {
  /// A field of a table.
  indirect enum Field {
    case byte(UInt8)
    case short(UInt16)
    case int(Int32)
    case long(UInt64)
    case doubles([Double])
    case text(String)
    case table([(Int, Field)])
    case tables([[(Int, Field)]])

    /// The bytes in the table; those of an offset where the value lies elsewhere.
    fileprivate var size: Int {
      switch self {
      case .byte: 1
      case .short: 2
      case .int, .doubles, .text, .table, .tables: 4
      case .long: 8
      }
    }
  }

  private(set) var bytes: [UInt8] = []

  /// The bytes of a root table behind their size.
  static func sized(_ fields: [(Int, Field)]) -> [UInt8] {
    var writer = FlatBufferWriter()
    writer.append(UInt32(0))
    let root = writer.reserve()
    writer.write(fields, from: root)
    writer.pad(to: 8)
    writer.set(UInt32(writer.bytes.count - 4), at: 0)
    return writer.bytes
  }

  private mutating func append<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func pad(to alignment: Int, plus more: Int = 0) {
    while (bytes.count + more) % alignment != 0 { bytes.append(0) }
  }

  private mutating func set<T: FixedWidthInteger>(_ value: T, at place: Int) {
    withUnsafeBytes(of: value.littleEndian) {
      for (index, byte) in $0.enumerated() { bytes[place + index] = byte }
    }
  }

  /// Leaves room for an offset.
  private mutating func reserve() -> Int {
    append(UInt32(0))
    return bytes.count - 4
  }

  /// Lets an offset lead to the next byte.
  private mutating func land(_ place: Int) { set(UInt32(bytes.count - place), at: place) }

  /// Writes a table to which `place` leads. Its widest fields come first, so that all are aligned.
  private mutating func write(_ fields: [(Int, Field)], from place: Int) {
    let wide = fields.sorted { ($1.1.size, $0.0) < ($0.1.size, $1.0) }
    let count = (fields.map(\.0).max() ?? -1) + 1
    let tableSize = wide.reduce(4) { $0 + $1.1.size }
    pad(to: 8, plus: 4 + 2 * count + 4)
    let start = bytes.count
    append(UInt16(4 + 2 * count))
    append(UInt16(tableSize))
    var offset = 4
    var offsets = [UInt16](repeating: 0, count: count)
    for (number, field) in wide {
      offsets[number] = UInt16(offset)
      offset += field.size
    }
    for offset in offsets { append(offset) }
    land(place)
    append(Int32(bytes.count - start))
    var later: [(Int, Field)] = []
    for (_, field) in wide {
      switch field {
      case .byte(let value): append(value)
      case .short(let value): append(value)
      case .int(let value): append(value)
      case .long(let value): append(value)
      default: later.append((reserve(), field))
      }
    }
    for (place, field) in later { write(field, from: place) }
  }

  private mutating func write(_ field: Field, from place: Int) {
    switch field {
    case .doubles(let values):
      pad(to: 8, plus: 4)
      land(place)
      append(UInt32(values.count))
      for value in values { append(value.bitPattern) }
    case .text(let text):
      pad(to: 4)
      land(place)
      append(UInt32(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
      bytes.append(0)
    case .table(let fields): write(fields, from: place)
    case .tables(let tables):
      pad(to: 4)
      land(place)
      append(UInt32(tables.count))
      let places = tables.map { _ in reserve() }
      for (place, fields) in zip(places, tables) { write(fields, from: place) }
    default: break
    }
  }
}
