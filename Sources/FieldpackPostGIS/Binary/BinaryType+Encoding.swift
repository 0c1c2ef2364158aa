import FieldpackCore
import FieldpackGeometry

extension BinaryType {
  /// Appends the binary form of a stored value. `false`, with nothing appended, where the type cannot
  /// hold it.
  ///
  /// - Parameters:
  ///   - cell: no NULL.
  ///   - content: the bytes of a text or blob.
  func append(
    _ cell: RowCells.Cell, _ content: UnsafeRawBufferPointer, to bytes: inout [UInt8]
  ) -> Bool {
    switch (self, cell.kind) {
    case (.bool, .integer):
      guard cell.integer == 0 || cell.integer == 1 else { return false }
      bytes.append(cell.integer == 1 ? 1 : 0)
    case (.int2, .integer), (.int4, .integer), (.int8, .integer):
      return append(integer: cell.integer, to: &bytes)
    case (.int2, .real), (.int4, .real), (.int8, .real):
      guard let whole = Int64(exactly: cell.real) else { return false }
      return append(integer: whole, to: &bytes)
    case (.float8, .real), (.float8, .integer):
      if cell.kind == .integer, Double(exactly: cell.integer) == nil { return false }
      bytes.append(big: cell.real.bitPattern)
    case (.float4, .real), (.float4, .integer):
      let single = Float(cell.real)
      guard single.isFinite || !cell.real.isFinite else { return false }
      bytes.append(big: single.bitPattern)
    case (.numeric, .integer), (.numeric, .real):
      return append(text: Self.digits(cell), to: &bytes)
    case (.text, .integer), (.text, .real): return append(text: Self.digits(cell), to: &bytes)
    case (.json, .integer), (.json, .real), (.jsonb, .integer), (.jsonb, .real):
      return append(text: Self.digits(cell), to: &bytes)
    case (.bytea, .blob): unsafe bytes.append(contentsOf: content)
    case (.bytea, .text), (_, .blob): return false
    case (_, .text): return append(text: content.bindMemory(to: UInt8.self), to: &bytes)
    default: return false
    }
    return true
  }

  private func append(integer: Int64, to bytes: inout [UInt8]) -> Bool {
    switch self {
    case .int2:
      guard let number = Int16(exactly: integer) else { return false }
      bytes.append(big: number)
    case .int4:
      guard let number = Int32(exactly: integer) else { return false }
      bytes.append(big: number)
    default: bytes.append(big: integer)
    }
    return true
  }

  private static func digits(_ cell: RowCells.Cell) -> [UInt8] {
    var text: [UInt8] = []
    if cell.kind == .integer {
      NumberText.append(cell.integer, to: &text)
    } else {
      append(cell.real, to: &text)
    }
    return text
  }

  private func append(text: [UInt8], to bytes: inout [UInt8]) -> Bool {
    text.withUnsafeBufferPointer { append(text: $0, to: &bytes) }
  }

  private func append(
    text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
  ) -> Bool {
    switch self {
    case .text(let limit):
      guard Self.isText(text, limit) else { return false }
      unsafe bytes.append(contentsOf: text)
    case .json, .jsonb:
      guard Self.isText(text, nil), (try? JSONValueReader.read(text)) != nil else { return false }
      if self == .jsonb {
        // It stores texts and no escapes, and its texts have no NUL.
        guard !Self.holdsNUL(text) else { return false }
        bytes.append(1)
      }
      unsafe bytes.append(contentsOf: text)
    case .date:
      guard let day = Self.day(text) else { return false }
      bytes.append(big: day)
    case .timestamp, .timestamptz:
      guard let moment = BinaryTime(text) else { return false }
      bytes.append(big: moment.microseconds)
    case .numeric: return BinaryNumeric.append(text, to: &bytes)
    case .uuid: return Self.append(uuid: text, to: &bytes)
    case .array(let element, let oid):
      return BinaryArray.append(json: text, of: element, oid: oid, to: &bytes)
    case .bool:
      guard let flag = Self.flag(text) else { return false }
      bytes.append(flag ? 1 : 0)
    case .int2, .int4, .int8:
      guard let number = NumberParser.integer(text) else { return false }
      return append(integer: number, to: &bytes)
    case .float4, .float8:
      guard let number = NumberParser.double(text) else { return false }
      let cell = RowCells.Cell(.real, bits: number.bitPattern)
      return append(cell, UnsafeRawBufferPointer(start: nil, count: 0), to: &bytes)
    case .bytea: return false
    }
    return true
  }

  // MARK: Texts

  /// Whether PostgreSQL takes a text: UTF-8 without NUL, and not longer than the column's type says.
  static func isText(_ text: UnsafeBufferPointer<UInt8>, _ limit: Int?) -> Bool {
    var isPlain = true
    for byte in text where byte == 0 || byte >= 0x80 {
      guard byte != 0 else { return false }
      isPlain = false
      break
    }
    if isPlain { return text.count <= limit ?? .max }
    guard !text.contains(0), String(validating: text, as: UTF8.self) != nil else { return false }
    guard let limit, text.count > limit else { return true }
    // Every byte but a continuation byte begins a character.
    return text.count { $0 & 0xC0 != 0x80 } <= limit
  }

  /// Whether the escape `\u0000` stands in a JSON text.
  private static func holdsNUL(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.contains(UInt8(ascii: "\\")) else { return false }
    return String(decoding: text, as: UTF8.self).contains("\\u0000")
  }

  private static func flag(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "true", "1": true
    case "false", "0": false
    default: nil
    }
  }

  private static func day(_ text: UnsafeBufferPointer<UInt8>) -> Int32? {
    guard text.count == 10, let date = DateTimeParser.date(text) else { return nil }
    return Int32(date.dayNumber - BinaryTime.epochDay)
  }

  private static func append(
    uuid text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
  ) -> Bool {
    let start = bytes.count
    var high: UInt8?
    for byte in text where byte != UInt8(ascii: "-") {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: digit = 0xFF
      }
      guard digit != 0xFF, bytes.count - start < 16 else {
        bytes.removeLast(bytes.count - start)
        return false
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard high == nil, bytes.count - start == 16 else {
      bytes.removeLast(bytes.count - start)
      return false
    }
    return true
  }
}
