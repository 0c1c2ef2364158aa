import FieldpackCore

/// PostgreSQL's arrays in their binary form (`array_send` in src/backend/utils/adt/arrayfuncs.c), as
/// JSON arrays. Arrays of several dimensions are arrays of arrays.
enum BinaryArray {
  /// `MAXDIM`.
  private static let mostDimensions = 6

  // MARK: From JSON

  /// Appends the binary form; `false`, with nothing appended, where the text is no JSON array whose
  /// elements the type holds, or its rows have different lengths.
  static func append(
    json text: UnsafeBufferPointer<UInt8>, of element: BinaryType, oid: UInt32,
    to bytes: inout [UInt8]
  ) -> Bool {
    guard let value = try? JSONValueReader.read(text), case .array = value else { return false }
    var lengths: [Int] = []
    var rest = value
    while case .array(let items) = rest, element.mayHold(rest, depth: lengths.count) {
      lengths.append(items.count)
      guard let first = items.first else { break }
      rest = first
    }
    guard lengths.count <= mostDimensions else { return false }
    var leaves: [JSONValue] = []
    guard gather(value, lengths[...], into: &leaves) else { return false }
    let start = bytes.count
    bytes.append(big: Int32(leaves.isEmpty ? 0 : lengths.count))
    bytes.append(big: Int32(leaves.contains(.null) ? 1 : 0))
    bytes.append(big: oid)
    for length in leaves.isEmpty ? [] : lengths {
      bytes.append(big: Int32(clamping: length))
      bytes.append(big: Int32(1))
    }
    for leaf in leaves {
      guard append(leaf, of: element, to: &bytes) else {
        bytes.removeLast(bytes.count - start)
        return false
      }
    }
    return true
  }

  private static func gather(
    _ value: JSONValue, _ lengths: ArraySlice<Int>, into leaves: inout [JSONValue]
  ) -> Bool {
    guard let length = lengths.first else {
      leaves.append(value)
      return true
    }
    guard case .array(let items) = value, items.count == length else { return false }
    for item in items {
      guard gather(item, lengths.dropFirst(), into: &leaves) else { return false }
    }
    return true
  }

  private static func append(
    _ leaf: JSONValue, of element: BinaryType, to bytes: inout [UInt8]
  ) -> Bool {
    let start = bytes.count
    bytes.append(big: Int32(-1))
    var text: [UInt8] = []
    let cell: RowCells.Cell
    switch leaf {
    case .null: return true
    case _ where element == .json || element == .jsonb:
      leaf.append(to: &text)
      cell = RowCells.Cell(.text)
    case .boolean(let flag): cell = RowCells.Cell(.integer, bits: flag ? 1 : 0)
    case .integer(let number): cell = RowCells.Cell(.integer, bits: UInt64(bitPattern: number))
    case .real(let number): cell = RowCells.Cell(.real, bits: number.bitPattern)
    case .text(let string):
      text = Array(string.utf8)
      cell = RowCells.Cell(.text)
    case .array, .object: return false
    }
    guard text.withUnsafeBytes({ element.append(cell, $0, to: &bytes) }) else { return false }
    bytes.replace(big: Int32(bytes.count - start - 4), at: start)
    return true
  }

  // MARK: To JSON

  /// Appends a JSON array.
  static func appendJSON(
    of field: UnsafeRawBufferPointer, element: BinaryType, oid: UInt32, to bytes: inout [UInt8]
  ) throws(FieldpackError) {
    var reader = Reader(field: field, element: element)
    guard let dimensions: Int32 = field.big(at: 0), (0...6).contains(dimensions),
      let found: UInt32 = field.big(at: 8), found == oid
    else { throw reader.mistake }
    reader.offset = 12
    var (lengths, count) = ([Int](), 1)
    for _ in 0..<dimensions {
      // Each element has four bytes at least, so that no length is believed beyond the bytes.
      guard let length: Int32 = field.big(at: reader.offset), length >= 0,
        count * max(1, Int(length)) <= field.count / 4
      else { throw reader.mistake }
      count *= max(1, Int(length))
      lengths.append(Int(length))
      reader.offset += 8
    }
    if lengths.isEmpty {
      bytes.append(contentsOf: "[]".utf8)
    } else {
      try reader.append(lengths[...], to: &bytes)
    }
    guard reader.offset == field.count else { throw reader.mistake }
  }

  private struct Reader {
    let field: UnsafeRawBufferPointer
    let element: BinaryType
    var offset = 0

    var mistake: FieldpackError {
      FieldpackError(
        .invalidData, "the server sent bytes that are no array of type \(element.name)")
    }

    mutating func append(
      _ lengths: ArraySlice<Int>, to bytes: inout [UInt8]
    ) throws(FieldpackError) {
      guard let length = lengths.first else { return try appendElement(to: &bytes) }
      bytes.append(UInt8(ascii: "["))
      for index in 0..<length {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try append(lengths.dropFirst(), to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    }

    private mutating func appendElement(to bytes: inout [UInt8]) throws(FieldpackError) {
      guard let length: Int32 = field.big(at: offset) else { throw mistake }
      offset += 4
      guard length >= 0 else {
        guard length == -1 else { throw mistake }
        bytes.append(contentsOf: "null".utf8)
        return
      }
      guard Int(length) <= field.count - offset else { throw mistake }
      let content = UnsafeRawBufferPointer(rebasing: field[offset..<offset + Int(length)])
      offset += Int(length)
      var text: [UInt8] = []
      try element.appendText(of: content, to: &text)
      if element.isWrittenPlain, text != Array("NaN".utf8), text.last != UInt8(ascii: "y") {
        bytes += text
      } else {
        text.withUnsafeBufferPointer { JSONText.append($0, escaping: .required, to: &bytes) }
      }
    }
  }
}

extension BinaryType {
  /// Whether values stand in JSON without quotes.
  fileprivate var isWrittenPlain: Bool {
    switch self {
    case .bool, .int2, .int4, .int8, .float4, .float8, .numeric, .json, .jsonb: true
    default: false
    }
  }

  /// Whether an array of JSON is an array of the type, and not one of its elements.
  fileprivate func mayHold(_ value: JSONValue, depth: Int) -> Bool {
    depth == 0 || (self != .json && self != .jsonb)
  }
}
