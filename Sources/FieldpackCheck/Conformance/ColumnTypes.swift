import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Types and values of columns: requirement 5.
enum ColumnTypes {
  static func examine(
    _ column: ConformanceCheck.TableColumn, of table: String, in check: ConformanceCheck
  ) throws(FieldpackError) {
    let type = column.type
    guard !ColumnType.isStandard(type) else { return }
    // A computed column of a view has no type.
    if type.isEmpty, check.table(table)?.isView == true { return }
    try check.report(
      .error, .core(5), table: table, column: column.name,
      type.isEmpty ? "it has no type" : "its type '\(type)' is none of the standard's")
  }

  /// What is wrong with a value of a column; `nil` where it is correct.
  static func fault(of value: LentValue, in type: ColumnType) -> String? {
    switch (type, value.kind) {
    case (_, .null), (.other, _): nil
    case (.boolean, .integer):
      value.integer == 0 || value.integer == 1 ? nil : "\(value.integer) is neither 0 nor 1"
    case (.tinyInt, .integer), (.smallInt, .integer), (.mediumInt, .integer):
      outside(value.integer, type.integers)
    case (.integer, .integer), (.float, .real), (.double, .real), (.float, .integer),
      (.double, .integer), (.json, .text), (.text(nil), .text), (.blob(nil), .blob):
      nil
    case (.text(let limit?), .text): tooLong(length(of: value), limit, "characters")
    case (.blob(let limit?), .blob):
      tooLong(value.withBytes { $0.byteCount }, limit, "bytes")
    case (.date, .text): isDate(value) ? nil : "the text is not like 2024-05-06"
    case (.dateTime, .text):
      isMoment(value) ? nil : "the text is not like 2024-05-06T07:08:09.012Z"
    default: "the value is \(name(value.kind)), not \(type.sql)"
    }
  }

  private static func outside(_ value: Int64, _ range: ClosedRange<Int64>) -> String? {
    range.contains(value)
      ? nil : "\(value) is not from \(range.lowerBound) to \(range.upperBound)"
  }

  private static func tooLong(_ length: Int, _ limit: Int, _ unit: String) -> String? {
    length <= limit ? nil : "it is \(length) \(unit) long, and at most \(limit) are declared"
  }

  /// The number of code points, as SQLite's length() counts.
  private static func length(of value: LentValue) -> Int {
    value.withBytes { span in
      span.withUnsafeBytes { bytes in bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } }
    }
  }

  private static func isDate(_ value: LentValue) -> Bool {
    withText(value) { $0.count == 10 && DateTimeParser.date($0) != nil }
  }

  private static func isMoment(_ value: LentValue) -> Bool {
    withText(value) { text in
      guard let parsed = DateTimeParser.dateTime(text) else { return false }
      return parsed.hasZone && text.count > 10 && text[10] == UInt8(ascii: "T")
        && text[text.count - 1] == UInt8(ascii: "Z")
    }
  }

  private static func withText(
    _ value: LentValue, _ body: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    value.withBytes { span in
      span.withUnsafeBytes { body($0.assumingMemoryBound(to: UInt8.self)) }
    }
  }

  static func name(_ kind: StorageClass) -> String {
    switch kind {
    case .integer: "an integer"
    case .real: "a real number"
    case .text: "a text"
    case .blob: "a blob"
    case .null: "NULL"
    }
  }
}
