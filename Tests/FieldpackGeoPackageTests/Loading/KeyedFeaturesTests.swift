import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Features found by the values of a column, with SQLite as the judge.
@Suite struct KeyedFeaturesTests {
  private static let values: [Value] = [
    .integer(1), .integer(0), .integer(9_007_199_254_740_993), .integer(.max), .real(1),
    .real(-0.0), .real(2.5), .real(9_007_199_254_740_992), .real(1e300), .real(.infinity),
    .real(.nan), .text("1"), .text("1.0"), .text(" 2.5 "), .text("1e300"), .text("a"), .text("A"),
    .text("a "),
    .text("Ä"), .text("ä"), .text(""), .text("x\0y"), .blob([97]), .blob([]), .null,
  ]

  private static let table = LayerTable(
    layer: Layer(schema: Schema(layer: "t"), kind: .attributes), table: "t", idSQL: "id")

  private static func cells(_ value: Value) -> RowCells {
    var cells = RowCells()
    switch value {
    case .integer(let number): cells.append(integer: number)
    case .real(let number): cells.append(real: number)
    case .text(let text): Array(text.utf8).withUnsafeBytes { cells.append(.text, $0) }
    case .blob(let bytes): bytes.withUnsafeBytes { cells.append(.blob, $0) }
    default: cells.appendNull()
    }
    return cells
  }

  @Test(arguments: [
    "TEXT", "TEXT COLLATE nocase", "TEXT COLLATE RTRIM", "INTEGER", "REAL", "NUMERIC", "BLOB", "",
  ])
  func `finds what SQLite finds equal in the column`(declaration: String) throws {
    let connection = try Connection(inMemory: .bulk)
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, c \(declaration) UNIQUE)")
    let file = try GeoPackageSession(connection, store: "s")
    let insert = "INSERT INTO t VALUES (?, ?) ON CONFLICT (c) DO UPDATE SET c = c RETURNING id"
    // Values that are stored before, and then all values as rows bring them.
    for first in 0..<3 {
      try connection.execute("DELETE FROM t")
      for (index, value) in Self.values.enumerated() where index % 3 == first {
        _ = try connection.scalar(insert, .integer(Int64(index)), SQLiteValue(value))
      }
      var features = try KeyedFeatures(by: "c", of: Self.table, in: file)
      for (index, value) in Self.values.enumerated() {
        let new = Int64(100 + index)
        let found = try features.id(for: Self.cells(value), 0, orNew: new)
        let stored = try connection.scalar(insert, .integer(new), SQLiteValue(value))
        #expect(stored == .integer(found), "\(value)")
      }
    }
  }

  @Test func `features that share a value are refused`() async throws {
    let connection = try Connection(inMemory: .bulk)
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT COLLATE NOCASE)")
    try connection.execute("INSERT INTO t (c) VALUES (NULL), (NULL), ('a')")
    let file = try GeoPackageSession(connection, store: "s")
    _ = try KeyedFeatures(by: "c", of: Self.table, in: file)
    try connection.execute("INSERT INTO t (c) VALUES ('A')")
    let error = await thrown { _ = try KeyedFeatures(by: "c", of: Self.table, in: file) }
    #expect(error?.code == .constraint)
    #expect(
      error?.message
        == "layer 't' has features with one value in column 'c', so the column cannot tell which of "
        + "them a row replaces")
  }
}
