import FieldpackCore

/// A column of a table: what its values have been so far, and how they go into rows.
struct DBFColumn {
  let field: DBFHeader.Field
  /// The name in the layer.
  var name: String
  /// The narrowest type that holds all values so far.
  private(set) var type: ColumnType
  /// The column in the row, -1 where the row has none.
  var rowColumn = -1
  /// The type that the row's column has.
  var asked = ColumnType.text()

  init(_ field: DBFHeader.Field, name: String) {
    (self.field, self.name) = (field, name)
    type =
      switch field.kind {
      case .number(let hasDecimals): hasDecimals ? .double : .integer
      case .logical: .boolean
      case .date: .date
      case .integer32: .integer
      case .real64: .double
      case .text, .moment: .text()
      }
  }

  // MARK: Values

  /// Reads the value of a row and sets it in the open row of `rows`.
  mutating func read(
    _ row: UnsafeRawBufferPointer, _ encoding: inout DBFEncoding, into rows: inout RowBuffer
  ) {
    let bytes = UnsafeRawBufferPointer(rebasing: row[field.bytes])
    let text = bytes.bindMemory(to: UInt8.self)
    switch field.kind {
    case .text: setText(text, &encoding, in: &rows)
    case .number: setNumber(text.trimmed, in: &rows)
    case .logical: setLogical(text, in: &rows)
    case .date: setDate(text, in: &rows)
    case .integer32: set(Int64(bytes.little(0, as: Int32.self)), in: &rows)
    case .real64: set(bytes.double(0), in: &rows)
    case .moment: setMoment(bytes, in: &rows)
    }
  }

  /// The integer of a row; `nil` where there is none.
  func integer(_ row: UnsafeRawBufferPointer) -> Int64? {
    let bytes = UnsafeRawBufferPointer(rebasing: row[field.bytes])
    if case .integer32 = field.kind { return Int64(bytes.little(0, as: Int32.self)) }
    let text = bytes.bindMemory(to: UInt8.self).trimmed
    if let value = NumberParser.integer(text) { return value }
    // Tables of reals have integers as 12.000.
    guard let real = NumberParser.double(text), abs(real) < 0x1p53 else { return nil }
    return Int64(exactly: real)
  }

  private mutating func setText(
    _ text: UnsafeBufferPointer<UInt8>, _ encoding: inout DBFEncoding, in rows: inout RowBuffer
  ) {
    let text = text.untilPadding
    guard !text.isEmpty, rowColumn >= 0 else { return }
    rows.setText(rowColumn) { encoding.append(text, to: &$0) }
  }

  /// An empty field is NULL, and so is one of asterisks, which stand for a number too wide.
  private mutating func setNumber(
    _ text: UnsafeBufferPointer<UInt8>, in rows: inout RowBuffer
  ) {
    guard let first = text.first, first != UInt8(ascii: "*") else { return }
    if case .double = type {
      if let value = NumberParser.double(text) { return setReal(value, text, in: &rows) }
    } else if let value = NumberParser.integer(text) {
      return setInteger(value, text, in: &rows)
    } else if let value = NumberParser.double(text) {
      if case .integer = type { type = .double }
      return setReal(value, text, in: &rows)
    }
    type = .text()
    setAsText(text, in: &rows)
  }

  private func setInteger(
    _ value: Int64, _ text: UnsafeBufferPointer<UInt8>, in rows: inout RowBuffer
  ) {
    if isText { setAsText(text, in: &rows) } else { set(value, in: &rows) }
  }

  private func setReal(
    _ value: Double, _ text: UnsafeBufferPointer<UInt8>, in rows: inout RowBuffer
  ) {
    if isText { setAsText(text, in: &rows) } else { set(value, in: &rows) }
  }

  private var isText: Bool {
    if case .text = asked { true } else { false }
  }

  /// `?`, a blank and anything else that is neither true nor false is NULL.
  private func setLogical(_ text: UnsafeBufferPointer<UInt8>, in rows: inout RowBuffer) {
    let text = text.trimmed
    switch text.first.map({ Character(Unicode.Scalar($0)) }) {
    case "T", "t", "Y", "y", "1": set(1, as: "true", in: &rows)
    case "F", "f", "N", "n", "0": set(0, as: "false", in: &rows)
    default: break
    }
  }

  private func set(_ value: Int64, as word: StaticString, in rows: inout RowBuffer) {
    guard isText else { return set(value, in: &rows) }
    setAsText(
      UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount), in: &rows)
  }

  /// Blanks and zeros are NULL; what is no date makes the column text.
  private mutating func setDate(_ text: UnsafeBufferPointer<UInt8>, in rows: inout RowBuffer) {
    let text = text.trimmed
    guard text.contains(where: { $0 != UInt8(ascii: "0") }) else { return }
    let digits = text.map { Int($0) - 48 }
    guard digits.count == 8, digits.allSatisfy({ 0...9 ~= $0 }) else {
      type = .text()
      return setAsText(text, in: &rows)
    }
    let (year, month, day) = (
      digits[..<4].reduce(0) { 10 * $0 + $1 }, 10 * digits[4] + digits[5],
      10 * digits[6] + digits[7]
    )
    guard CalendarDate(year: year, month: month, day: day) != nil else {
      type = .text()
      return setAsText(text, in: &rows)
    }
    guard rowColumn >= 0, asked == .date || isText else { return }
    rows.setText(rowColumn) { bytes in
      for (index, byte) in text.enumerated() {
        if index == 4 || index == 6 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(byte)
      }
    }
  }

  /// The Julian day and the milliseconds of the day, without a zone.
  private func setMoment(_ bytes: UnsafeRawBufferPointer, in rows: inout RowBuffer) {
    let (day, time) = (Int(bytes.little(0, as: Int32.self)), Int(bytes.little(4, as: Int32.self)))
    guard day > 0, (0..<86_400_000).contains(time), isText else { return }
    let seconds = [time / 3_600_000, time / 60_000 % 60, time / 1000 % 60].map { number in
      number < 10 ? "0\(number)" : "\(number)"
    }
    // The Julian day of 1970-01-01.
    let text = "\(CalendarDate(dayNumber: day - 2_440_588))T\(seconds.joined(separator: ":"))"
    Array(text.utf8).withUnsafeBufferPointer { setAsText($0, in: &rows) }
  }

  // MARK: Into the row

  private func setAsText(_ text: UnsafeBufferPointer<UInt8>, in rows: inout RowBuffer) {
    guard rowColumn >= 0, isText else { return }
    rows.set(rowColumn, text)
  }

  private func set(_ value: Int64, in rows: inout RowBuffer) {
    guard rowColumn >= 0 else { return }
    switch asked {
    case .float, .double: rows.set(rowColumn, Double(value))
    case .date, .dateTime, .blob, .json, .other: break
    case .boolean where value & 1 != value: break
    case .text: setAsText(Array("\(value)".utf8), in: &rows)
    default: if asked.integers.contains(value) { rows.set(rowColumn, value) }
    }
  }

  private func set(_ value: Double, in rows: inout RowBuffer) {
    guard rowColumn >= 0 else { return }
    switch asked {
    case .float, .double: rows.set(rowColumn, value)
    case .text: setAsText(Array("\(value)".utf8), in: &rows)
    default: break
    }
  }

  private func setAsText(_ text: [UInt8], in rows: inout RowBuffer) {
    text.withUnsafeBufferPointer { setAsText($0, in: &rows) }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The bytes without blanks and zero bytes at either end.
  fileprivate var trimmed: UnsafeBufferPointer<UInt8> {
    var (start, end) = (0, count)
    while start < end, self[start] == 0x20 || self[start] == 0 { start += 1 }
    while end > start, self[end - 1] == 0x20 || self[end - 1] == 0 { end -= 1 }
    return UnsafeBufferPointer(rebasing: self[start..<end])
  }

  /// The bytes before the first zero byte, without blanks at the end.
  fileprivate var untilPadding: UnsafeBufferPointer<UInt8> {
    var end = count
    while end > 0, self[end - 1] == 0x20 || self[end - 1] == 0 { end -= 1 }
    let text = UnsafeBufferPointer(rebasing: self[..<end])
    guard let zero = text.firstIndex(of: 0) else { return text }
    end = zero
    while end > 0, self[end - 1] == 0x20 { end -= 1 }
    return UnsafeBufferPointer(rebasing: self[..<end])
  }
}
