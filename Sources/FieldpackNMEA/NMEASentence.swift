import FieldpackCore

/// One NMEA 0183 sentence, cut into its fields; its checksum is right where it has one.
package struct NMEASentence {
  /// The three letters behind the talker: `GGA`; empty for sentences of a maker.
  let type: Substring.UTF8View
  private let bytes: UnsafeBufferPointer<UInt8>
  private let fields: [Range<Int>]

  /// Whether a line with this first byte is a sentence, with or without a tag block before it.
  static func begins(with byte: UInt8) -> Bool {
    byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") || byte == UInt8(ascii: "\\")
  }

  /// - Parameter line: without its end; lent for as long as the sentence is used.
  /// - Throws: `.invalidData` for what is no sentence, and for a wrong checksum.
  init(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) {
    let line = Self.withoutTagBlock(line)
    guard let first = line.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "!") else {
      throw FieldpackError(.invalidData, "not an NMEA sentence: it does not begin with '$'")
    }
    guard !line.contains(where: { $0 >= 0x80 || $0 < 0x20 && $0 != 0x09 }) else {
      throw FieldpackError(.invalidData, "an NMEA sentence is printable ASCII only")
    }
    let end = try Self.end(of: line)
    bytes = UnsafeBufferPointer(rebasing: line[1..<end])
    var fields: [Range<Int>] = []
    fields.reserveCapacity(20)
    var start = 0
    for index in bytes.indices where bytes[index] == UInt8(ascii: ",") {
      fields.append(start..<index)
      start = index + 1
    }
    fields.append(start..<bytes.count)
    self.fields = fields
    let name = String(decoding: bytes[fields[0]], as: UTF8.self)
    let isStandard = first == UInt8(ascii: "$") && name.utf8.count == 5 && !name.hasPrefix("P")
    type = (isStandard ? name.suffix(3) : name.suffix(0)).utf8
  }

  /// NMEA 4.10 puts `\s:station,c:1577836800*5F\` before a sentence.
  private static func withoutTagBlock(
    _ line: UnsafeBufferPointer<UInt8>
  ) -> UnsafeBufferPointer<UInt8> {
    var inner = trimmed(line)
    guard inner.first == UInt8(ascii: "\\") else { return inner }
    if let end = inner.dropFirst().firstIndex(of: UInt8(ascii: "\\")) {
      inner = UnsafeBufferPointer(rebasing: inner[(end + 1)...])
    }
    return inner
  }

  /// Where the fields end, once the checksum is found right.
  private static func end(of line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) -> Int {
    guard let star = line.lastIndex(of: UInt8(ascii: "*")) else { return line.count }
    let sum = line[1..<star].reduce(0, ^)
    let given = String(decoding: line[(star + 1)...], as: UTF8.self)
    guard given.utf8.count == 2, let expected = UInt8(given, radix: 16) else {
      throw FieldpackError(
        .invalidData, "the checksum '\(given.prefix(16))' is not two hexadecimal digits")
    }
    guard sum == expected else {
      let hex = String(sum, radix: 16, uppercase: true)
      throw FieldpackError(
        .invalidData,
        "the checksum is \(given), but that of the sentence is \(sum < 16 ? "0" : "")\(hex): it "
          + "was changed or cut on its way")
    }
    return star
  }

  /// - Throws: `.invalidData` for a sentence of fewer fields, its name included.
  func require(_ count: Int) throws(FieldpackError) {
    guard fields.count < count else { return }
    throw FieldpackError(
      .invalidData,
      "the sentence \(name) is cut: \(fields.count) of at least \(count) fields are there")
  }

  var name: String { String(decoding: bytes[fields[0]], as: UTF8.self) }

  /// The field behind so many commas; empty where the sentence has fewer.
  func field(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    guard index < fields.count else { return UnsafeBufferPointer(start: nil, count: 0) }
    return UnsafeBufferPointer(rebasing: bytes[fields[index]])
  }

  func text(_ index: Int) -> String? {
    let field = field(index)
    return field.isEmpty ? nil : String(decoding: field, as: UTF8.self)
  }

  func isLetter(_ letter: Character, _ index: Int) -> Bool {
    field(index).count == 1 && field(index).first == letter.asciiValue
  }

  /// A decimal without exponent; `nil` for an empty field.
  func number(_ index: Int) throws(FieldpackError) -> Double? {
    let field = field(index)
    guard !field.isEmpty else { return nil }
    guard let value = Self.decimal(field) else { throw unreadable(index, "a number") }
    return value
  }

  static func decimal(_ field: UnsafeBufferPointer<UInt8>) -> Double? {
    field.contains { $0 | 0x20 == UInt8(ascii: "e") } ? nil : NumberParser.double(field)
  }

  func integer(_ index: Int) throws(FieldpackError) -> Int? {
    let field = field(index)
    guard !field.isEmpty else { return nil }
    guard let value = NumberParser.integer(field) else { throw unreadable(index, "a number") }
    return Int(value)
  }

  /// Degrees from true north, 0 up to 360.
  func bearing(_ index: Int) throws(FieldpackError) -> Double? {
    guard let value = try number(index) else { return nil }
    guard 0...360 ~= value else { throw unreadable(index, "a bearing from 0 to 360") }
    return value == 360 ? 0 : value
  }

  func unreadable(_ index: Int, _ wanted: String) -> FieldpackError {
    let text = String(decoding: field(index).prefix(40), as: UTF8.self)
    return FieldpackError(
      .invalidData, "field \(index) of \(name) is '\(text)' and not \(wanted)")
  }
}

extension NMEASentence {
  /// Milliseconds since midnight of `hhmmss[.sss]`; `nil` for an empty field.
  func timeOfDay(_ index: Int) throws(FieldpackError) -> Int? {
    let field = field(index)
    guard !field.isEmpty else { return nil }
    let whole = field.prefix { $0 != UInt8(ascii: ".") }
    guard whole.count == 6, let digits = Self.digits(whole) else {
      throw unreadable(index, "a time hhmmss")
    }
    let (hour, minute, second) = (digits / 10_000, digits / 100 % 100, digits % 100)
    // Second 60 is a leap second.
    guard hour <= 23, minute <= 59, second <= 60 else { throw unreadable(index, "a time hhmmss") }
    var milliseconds = 0
    for (digit, byte) in field.dropFirst(7).enumerated() {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else {
        throw unreadable(index, "a time hhmmss")
      }
      if digit < 3 { milliseconds += Int(byte - UInt8(ascii: "0")) * [100, 10, 1][digit] }
    }
    return (hour * 3600 + minute * 60 + second) * 1000 + milliseconds
  }

  /// The day number of `ddmmyy`; years from 80 are of the last century, before GPS there is none.
  func date(_ index: Int) throws(FieldpackError) -> Int? {
    let field = field(index)
    guard !field.isEmpty else { return nil }
    guard field.count == 6, let digits = Self.digits(field[...]) else {
      throw unreadable(index, "a date ddmmyy")
    }
    let year = digits % 100
    guard
      let date = CalendarDate(
        year: year + (year >= 80 ? 1900 : 2000), month: digits / 100 % 100, day: digits / 10_000)
    else { throw unreadable(index, "a date ddmmyy") }
    return date.dayNumber
  }

  /// Degrees of `dddmm.mmmm` and its hemisphere in the next field; `nil` where both are empty.
  func degrees(
    _ index: Int, limit: Double, positive: Character, negative: Character
  ) throws(FieldpackError) -> Double? {
    let field = field(index)
    if field.isEmpty, self.field(index + 1).isEmpty { return nil }
    let whole = field.prefix { $0 != UInt8(ascii: ".") }
    guard whole.count >= 3, whole.count <= 5, let digits = Self.digits(whole),
      let minutes = Self.decimal(
        UnsafeBufferPointer(rebasing: field.dropFirst(whole.count - 2)))
    else { throw unreadable(index, "degrees and minutes") }
    let degrees = Double(digits / 100)
    guard minutes < 60 else { throw unreadable(index, "degrees with minutes below 60") }
    let magnitude = degrees + minutes / 60
    guard magnitude <= limit else { throw unreadable(index, "degrees up to \(Int(limit))") }
    if isLetter(positive, index + 1) { return magnitude }
    if isLetter(negative, index + 1) { return -magnitude }
    throw unreadable(index + 1, "\(positive) or \(negative)")
  }

  package static func digits(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    var value = 0
    guard !bytes.isEmpty, bytes.count <= 18 else { return nil }
    for byte in bytes {
      let digit = byte &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value * 10 + Int(digit)
    }
    return value
  }
}
