import CXML2
import FieldpackCore
import FieldpackGeometry

/// Writes the values of a row as GPX 1.1's schema wants them.
struct GPXValueText {
  private var moments = MomentReader()

  /// Appends a column as the text of `element`; `false`, and nothing is appended, where the value
  /// is not of the element's type.
  mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int,
    as element: GPXWritePlan.Element, to bytes: inout [UInt8]
  ) -> Bool {
    switch element {
    case .name, .cmt, .desc, .src, .sym, .type:
      return Self.appendText(row, column, .text(), to: &bytes)
    case .fix: return Self.appendFix(row, column, to: &bytes)
    case .time: return appendTime(row, column, to: &bytes)
    case .sat, .number: return Self.appendInteger(row, column, 0...Int64.max, to: &bytes)
    case .dgpsid: return Self.appendInteger(row, column, 0...1023, to: &bytes)
    case .magvar:
      guard let value = Self.number(row, column), value >= 0, value < 360 else { return false }
      return Self.append(decimal: value, to: &bytes)
    case .ele, .geoidheight, .hdop, .vdop, .pdop, .ageofdgpsdata:
      guard let value = Self.number(row, column) else { return false }
      return Self.append(decimal: value, to: &bytes)
    }
  }

  /// Appends an `xsd:decimal`, which has no exponent; `false` for what needs one.
  ///
  /// Less than 1e-7 is rounded to 20 decimals: validators hold 24 digits.
  static func append(decimal value: Double, to bytes: inout [UInt8]) -> Bool {
    guard abs(value) < decimalLimit else { return false }
    bytes.appendRun(upTo: NumberText.room) { append(decimal: value, to: &$0) }
    return true
  }

  /// Numbers from here on need an exponent.
  static let decimalLimit = 1e21

  /// - Precondition: the number is below ``decimalLimit``.
  @inline(__always)
  static func append(decimal value: Double, to text: inout TextRun) {
    if value == 0 || abs(value) > 1e-7 {
      text.append(value)
    } else {
      text.append(value, decimals: 20)
    }
  }

  /// The moment of Unix seconds; `nil` outside of the years 0 to 9999.
  static func instant(unixSeconds: Double) -> Instant? {
    let milliseconds = (unixSeconds * 1000).rounded()
    guard abs(milliseconds) < 1e15 else { return nil }
    let instant = Instant(milliseconds: Int64(milliseconds))
    return InstantText.canWrite(instant) ? instant : nil
  }

  private static func number(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int
  ) -> Double? {
    switch row.kind(at: column) {
    case .integer, .real: row.real(at: column)
    case .text: withText(row, column) { NumberParser.double(trimmed($0)) }
    default: nil
    }
  }

  private static func appendInteger(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, _ range: ClosedRange<Int64>,
    to bytes: inout [UInt8]
  ) -> Bool {
    let value: Int64? =
      switch row.kind(at: column) {
      case .integer: row.integer(at: column)
      case .real: Int64(exactly: row.real(at: column))
      case .text: withText(row, column) { NumberParser.integer(trimmed($0)) }
      default: nil
      }
    guard let value, range.contains(value) else { return false }
    NumberText.append(value, to: &bytes)
    return true
  }

  private static func appendFix(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, to bytes: inout [UInt8]
  ) -> Bool {
    let value = row.text(at: column)
    guard ["none", "2d", "3d", "dgps", "pps"].contains(value) else { return false }
    bytes.append(contentsOf: value.utf8)
    return true
  }

  /// A time without a zone is UTC, as in every GPX; digits beyond the millisecond are kept.
  private mutating func appendTime(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, to bytes: inout [UInt8]
  ) -> Bool {
    guard row.kind(at: column) == .text else { return false }
    return Self.withText(row, column) { text in
      let text = trimmed(text)
      if let moment = moments.read(text), moment.isWholeSeconds {
        bytes.append(contentsOf: text)
        return true
      }
      guard let parsed = DateTimeParser.dateTime(text), InstantText.canWrite(parsed.instant) else {
        return false
      }
      InstantText.append(parsed.instant, isShort: true, to: &bytes)
      if parsed.fractionDigits > 3 {
        // The parser allows a fraction in one place alone, behind `YYYY-MM-DDThh:mm:ss.`.
        while let last = bytes.last, last != UInt8(ascii: ":") { bytes.removeLast() }
        bytes.append(contentsOf: text[17..<19])
        bytes.append(UInt8(ascii: "."))
        bytes.append(contentsOf: text[20..<20 + parsed.fractionDigits])
        bytes.append(UInt8(ascii: "Z"))
      }
      return true
    }
  }

  /// Appends any value as character data; `false` for NULL.
  @discardableResult
  static func appendText(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, _ type: ColumnType,
    inAttribute: Bool = false, to bytes: inout [UInt8]
  ) -> Bool {
    if row.kind(at: column) == .text {
      withText(row, column) { XMLText.append(mending: $0, inAttribute: inAttribute, to: &bytes) }
      return true
    }
    guard let text = plainText(row, column, type) else { return false }
    // Numbers, words and Base64 have nothing to escape.
    bytes.append(contentsOf: text)
    return true
  }

  /// Any value as UTF-8, not escaped; `nil` for NULL.
  static func plainText(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, _ type: ColumnType
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    switch row.kind(at: column) {
    case .null: return nil
    case .integer:
      let value = row.integer(at: column)
      if type == .boolean, value == 0 || value == 1 { return Array("\(value == 1)".utf8) }
      NumberText.append(value, to: &bytes)
    case .real:
      let value = row.real(at: column)
      if !NumberText.append(value, to: &bytes) {
        return Array((value.isNaN ? "NaN" : value < 0 ? "-INF" : "INF").utf8)
      }
    case .text:
      bytes = withText(row, column) { Array($0) }
      // Decoding repairs what is not UTF-8.
      if !bytes.allSatisfy({ $0 < 0x80 }) {
        bytes = Array(String(decoding: bytes, as: UTF8.self).utf8)
      }
    case .blob:
      bytes = row.withBytes(at: column) { span in
        span.withUnsafeBytes { Array(Base64.encode($0).utf8) }
      }
    }
    return bytes
  }

  /// Whether the schema takes the text of a column for an `xsd:anyURI`.
  static func isURI(_ row: borrowing some FeatureRow & ~Copyable, _ column: Int) -> Bool {
    guard row.kind(at: column) == .text else { return false }
    // libxml2's validator looks away from these characters, and asks its URI parser for the rest.
    let text = row.text(at: column).utf8.map { byte -> CChar in
      let isOpaque = byte < 32 || byte >= 127 || "<>\"{}|\\^`'".utf8.contains(byte)
      return isOpaque ? CChar(UInt8(ascii: "_")) : CChar(byte)
    }
    guard let uri = xmlParseURI(text + [0]) else { return false }
    xmlFreeURI(uri)
    return true
  }

  static func withText<R>(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int,
    _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R {
    row.withBytes(at: column) { span in
      span.withUnsafeBytes { body($0.assumingMemoryBound(to: UInt8.self)) }
    }
  }
}
