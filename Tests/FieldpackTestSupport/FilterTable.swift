/// One table of conditions with the ids that each must find, for every evaluator.
///
/// The rows hold every storage class, NULL, NaN, empty geometry, values that do not fit their
/// column's type, and one moment in several spellings. The layer `places` has the id column `fid`
/// and the geometry column `geom` in EPSG:4326.
public enum FilterTable {
  /// A value as SQLite stores it.
  public enum Cell: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
  }

  public struct Row: Sendable {
    public let id: Int64
    public let shape: FilterShape?
    /// In the order of ``FilterTable/columns``.
    public let cells: [Cell]
  }

  public struct Case: Sendable, CustomStringConvertible {
    public let text: String
    public let ids: [Int64]
    /// The condition tests geometries exactly, for which a library is needed.
    public let isExact: Bool

    public var description: String { text }
  }

  /// Names with types as declared in SQL.
  public static let columns: [(name: String, type: String)] = [
    ("name", "TEXT"), ("visits", "INTEGER"), ("depth", "REAL"), ("open", "BOOLEAN"),
    ("day", "DATE"), ("seen", "DATETIME"), ("note", "TEXT"), ("data", "BLOB"),
    ("a\"b; DROP TABLE x", "INTEGER"), ("größe", "DOUBLE"), ("select", "TEXT"), ("😀", "TEXT"),
    ("tags", "TEXT"),
  ]

  public static let rows: [Row] = [
    row(
      1, .point(13.4, 52.5), .text("Porto"), .integer(12), .real(3.5), .integer(1),
      .text("2020-02-29"), .text("2020-03-01T12:00:00Z"), .text("2020-03-01T12:00:00Z"),
      .blob([0, 255]), .integer(1), .real(1.5), .text("from"), .text("👍"),
      tags: "[\"a\", 1, true, null, [2, 3], {\"k\": 1.0}]"),
    row(
      2, .point(10, 50), .text("port"), .integer(-5), .real(-0.0), .integer(0),
      .text("2019-12-31"), .text("2020-03-01T12:00:00.000Z"), .text("it's"),
      .blob([]), .integer(2), .real(2.5), .text("where"), .text("e\u{301}"),
      tags: "[\"a\",\"b\",\"2020-02-29\", \"\\u00e9\\n\"]"),
    row(3, nil, tags: "[]"),
    row(
      4, .emptyPoint, .text(""), .integer(0), .real(.nan), .null, .text("2020-03-01"),
      .text("2020-03-01T12:00:00.001Z"), .text("C:\\"), .null, .integer(4), .null, .null,
      .text("\u{e9}"), tags: "{\"a\": 1}"),
    row(
      5, .line([(0, 0), (10, 10)]), .text("Portö"), .integer(9_007_199_254_740_993),
      .real(9_007_199_254_740_992), .integer(1), .text("2021-01-01"),
      .text("2020-03-01T14:00:00+02:00"), .text("a%b"), tags: "a, b"),
    row(
      6, .rectangle(20, 20, 30, 30), .text("100%_\\x"), .integer(.min), .real(1e300), .integer(0),
      .text("0000-01-01"), .text("2020-03-01 12:00"), .text("axb"), tags: "[1e0, 9e999, 2"),
    row(
      7, .point(30, 30), .blob([0x50]), .text("many"), .text("deep"), .text("yes"),
      .text("unknown"), .text("2020-03-01"), .blob([1]), tags: "[9007199254740993, 0.5]"),
    row(
      8, .point(179.5, -17), .text("Suva"), .real(12.5), .real(12), .integer(2), .null,
      .text("2020-03-01T11:59:59.999999Z"), .text("line\nbreak")),
    row(9, .point(-179.5, -17), .text("Apia"), .integer(.max), .real(-.infinity)),
  ]

  private static func row(
    _ id: Int64, _ shape: FilterShape?, _ cells: Cell..., tags: String? = nil
  ) -> Row {
    let missing = columns.count - 1 - cells.count
    return Row(
      id: id, shape: shape,
      cells: cells + Array(repeating: .null, count: missing) + [tags.map { .text($0) } ?? .null])
  }

  public static let cases: [Case] =
    comparisons + logic + ranges + texts + moments + names + envelopesAndRelations
    + arithmetic + folding + periods + arrays + operands

  static func plain(_ text: String, _ ids: Int64...) -> Case {
    Case(text: text, ids: ids, isExact: false)
  }

  static func exact(_ text: String, _ ids: Int64...) -> Case {
    Case(text: text, ids: ids, isExact: true)
  }
}
