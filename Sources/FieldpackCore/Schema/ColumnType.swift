/// The declared type of an attribute column: the data types of GeoPackage clause 1.1.1.1.3, and
/// JSON as text that `gpkg_data_columns` marks `application/json`.
public enum ColumnType: Hashable, Sendable {
  case boolean
  case tinyInt
  case smallInt
  case mediumInt
  case integer
  case float
  case double
  /// Text, with a maximum number of characters.
  case text(maximumLength: Int? = nil)
  /// A blob, with a maximum number of bytes.
  case blob(maximumLength: Int? = nil)
  case date
  case dateTime
  case json
  /// A declared type that is not in the standard, kept word for word.
  case other(String)

  /// The type as `CREATE TABLE` declares it.
  public var sql: String {
    switch self {
    case .boolean: "BOOLEAN"
    case .tinyInt: "TINYINT"
    case .smallInt: "SMALLINT"
    case .mediumInt: "MEDIUMINT"
    case .integer: "INTEGER"
    case .float: "FLOAT"
    case .double: "REAL"
    case .text(nil), .json: "TEXT"
    case .text(let length?): "TEXT(\(length))"
    case .blob(nil): "BLOB"
    case .blob(let length?): "BLOB(\(length))"
    case .date: "DATE"
    case .dateTime: "DATETIME"
    case .other(let declared): declared
    }
  }

  /// The integers that a column of this type holds.
  package var integers: ClosedRange<Int64> {
    switch self {
    case .tinyInt: Int64(Int8.min)...Int64(Int8.max)
    case .smallInt: Int64(Int16.min)...Int64(Int16.max)
    case .mediumInt: Int64(Int32.min)...Int64(Int32.max)
    default: .min ... .max
    }
  }

  /// The type for the text of a declaration, in upper or lower case.
  public init(sql declared: String) {
    let upper = declared.uppercased().filter { $0 != " " }
    switch upper {
    case "BOOLEAN": self = .boolean
    case "TINYINT": self = .tinyInt
    case "SMALLINT": self = .smallInt
    case "MEDIUMINT": self = .mediumInt
    case "INT", "INTEGER": self = .integer
    case "FLOAT": self = .float
    case "DOUBLE", "REAL": self = .double
    case "TEXT": self = .text()
    case "BLOB": self = .blob()
    case "DATE": self = .date
    case "DATETIME": self = .dateTime
    default: self = Self.sized(upper) ?? .other(declared)
    }
  }

  /// Whether the text of a declaration is word for word one of the standard's types.
  package static func isStandard(_ declared: String) -> Bool {
    if case .other = ColumnType(sql: declared) { return false }
    return !declared.utf8.contains { $0 == 0x20 || (0x61...0x7A).contains($0) }
  }

  private static func sized(_ declared: String) -> ColumnType? {
    guard declared.hasSuffix(")"), let open = declared.firstIndex(of: "("),
      let length = Int(declared[declared.index(after: open)...].dropLast()), length >= 0
    else { return nil }
    switch declared[..<open] {
    case "TEXT": return .text(maximumLength: length)
    case "BLOB": return .blob(maximumLength: length)
    default: return nil
    }
  }

  /// The value of a column of this type for a stored value.
  ///
  /// A text that is not a date or an instant to the millisecond stays text, so no digits are lost.
  public func value(_ stored: Value) -> Value {
    switch (self, stored) {
    case (.boolean, .integer(0)): return .boolean(false)
    case (.boolean, .integer(1)): return .boolean(true)
    case (.date, .text(let text)): return CalendarDate(text).map(Value.date) ?? stored
    case (.dateTime, .text(var text)):
      let parsed = text.withUTF8 { DateTimeParser.dateTime($0) }
      guard let parsed, parsed.hasZone, parsed.fractionDigits <= 3 else { return stored }
      return .dateTime(parsed.instant)
    default: return stored
    }
  }
}
