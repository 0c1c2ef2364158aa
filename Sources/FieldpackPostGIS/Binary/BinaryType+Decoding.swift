import FieldpackCore
import FieldpackGeometry

extension BinaryType {
  /// Appends the value that `field` is the binary form of, as a column of `type` holds it: texts for
  /// dates, times, JSON, arrays and UUIDs.
  ///
  /// - Throws: `.invalidData` for bytes that are no value of the type.
  func append(
    field: UnsafeRawBufferPointer, as type: ColumnType, to cells: inout RowCells
  ) throws(FieldpackError) {
    switch self {
    case .bool:
      guard field.count == 1, let flag: UInt8 = field.big(at: 0), flag <= 1 else { throw mistake }
      cells.append(integer: Int64(flag))
    case .int2: cells.append(integer: Int64(try number(field, as: Int16.self)))
    case .int4: cells.append(integer: Int64(try number(field, as: Int32.self)))
    case .int8: cells.append(integer: try number(field, as: Int64.self))
    case .float4:
      cells.append(real: Double(Float(bitPattern: try number(field, as: UInt32.self))))
    case .float8: cells.append(real: Double(bitPattern: try number(field, as: UInt64.self)))
    case .numeric where type == .double || type == .float:
      try appendReal(numeric: field, to: &cells)
    case .text: cells.append(.text, field)
    case .json: cells.append(.text, field)
    case .bytea: cells.append(.blob, field)
    default:
      let start = cells.bytes.count
      try appendText(of: field, to: &cells.bytes)
      cells.append(.text, bytesFrom: start)
    }
  }

  /// Appends the text of a value: what a JSON array, a text or a document has of it.
  func appendText(
    of field: UnsafeRawBufferPointer, to bytes: inout [UInt8]
  ) throws(FieldpackError) {
    switch self {
    case .bool:
      guard field.count == 1, let flag: UInt8 = field.big(at: 0), flag <= 1 else { throw mistake }
      bytes.append(contentsOf: (flag == 1 ? "true" : "false").utf8)
    case .int2: NumberText.append(try number(field, as: Int16.self), to: &bytes)
    case .int4: NumberText.append(try number(field, as: Int32.self), to: &bytes)
    case .int8: NumberText.append(try number(field, as: Int64.self), to: &bytes)
    case .float4:
      // The shortest text of the single, and not that of the double of the same value.
      let single = Float(bitPattern: try number(field, as: UInt32.self))
      Self.append(Double("\(single)") ?? Double(single), to: &bytes)
    case .float8:
      Self.append(Double(bitPattern: try number(field, as: UInt64.self)), to: &bytes)
    case .numeric:
      guard BinaryNumeric.appendText(of: field, to: &bytes) else { throw mistake }
    case .date:
      BinaryTime.append(day: try number(field, as: Int32.self), to: &bytes)
    case .timestamp, .timestamptz:
      BinaryTime(microseconds: try number(field, as: Int64.self))
        .append(isUTC: self == .timestamptz, to: &bytes)
    case .uuid: try appendText(uuid: field, to: &bytes)
    case .jsonb:
      guard field.first == 1 else { throw mistake }
      unsafe bytes.append(contentsOf: field.dropFirst())
    case .array(let element, let oid):
      try BinaryArray.appendJSON(of: field, element: element, oid: oid, to: &bytes)
    case .bytea:
      bytes.append(contentsOf: "\\x".utf8)
      bytes.append(contentsOf: String(hex: Array(field)).utf8)
    case .text, .json: unsafe bytes.append(contentsOf: field)
    }
  }

  /// Appends a number as PostgreSQL writes it, also one that is not finite.
  static func append(_ real: Double, to bytes: inout [UInt8]) {
    guard !NumberText.append(real, to: &bytes) else { return }
    bytes.append(contentsOf: (real.isNaN ? "NaN" : real < 0 ? "-Infinity" : "Infinity").utf8)
  }

  private func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ field: UnsafeRawBufferPointer, as type: Number.Type
  ) throws(FieldpackError) -> Number {
    guard field.count == MemoryLayout<Number>.size, let number: Number = field.big(at: 0) else {
      throw mistake
    }
    return number
  }

  private func appendReal(
    numeric field: UnsafeRawBufferPointer, to cells: inout RowCells
  ) throws(FieldpackError) {
    var text: [UInt8] = []
    guard BinaryNumeric.appendText(of: field, to: &text) else { throw mistake }
    let real = text.withUnsafeBufferPointer { NumberParser.double($0) }
    if let real {
      cells.append(real: real)
    } else {
      text.withUnsafeBytes { cells.append(.text, $0) }
    }
  }

  private func appendText(
    uuid field: UnsafeRawBufferPointer, to bytes: inout [UInt8]
  ) throws(FieldpackError) {
    guard field.count == 16 else { throw mistake }
    let digits = Array("0123456789abcdef".utf8)
    for (index, byte) in field.enumerated() {
      if [4, 6, 8, 10].contains(index) { bytes.append(UInt8(ascii: "-")) }
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }

  var mistake: FieldpackError {
    FieldpackError(.invalidData, "the server sent bytes that are no value of type \(name)")
  }
}
