import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// The shared table of conditions through SQL, with and without an R-tree.
@Suite struct FilterTableTests {
  static let schema = Schema(
    layer: "places", geometry: GeometryColumn(),
    columns: FilterTable.columns.map { ColumnDefinition($0.name, ColumnType(sql: $0.type)) })

  private static func package(isIndexed: Bool) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(schema)
      }
    }
    try package.withConnection { connection in
      let names = ["fid", "geom"] + FilterTable.columns.map(\.name)
      let marks = names.map { _ in "?" }.joined(separator: ", ")
      let insert = try connection.prepare(
        "INSERT INTO places (\(names.map { quoted($0) }.joined(separator: ", "))) VALUES (\(marks))"
      )
      for row in FilterTable.rows {
        try insert.bind([.integer(row.id), blob(row.shape)] + row.cells.map(stored))
        try insert.run()
      }
    }
    if !isIndexed { try package.dropIndex("places") }
    return package
  }

  private static func blob(_ shape: FilterShape?) throws -> SQLiteValue {
    guard let wkb = shape?.wkb else { return .null }
    var blob: [UInt8] = []
    _ = try GeoPackageBinary.append(wkb: wkb.span.bytes, srsID: 4326, to: &blob)
    return .blob(blob)
  }

  private static func stored(_ cell: FilterTable.Cell) -> SQLiteValue {
    switch cell {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let value): .text(value)
    case .blob(let value): .blob(value)
    }
  }

  @Test(arguments: [true, false])
  func `finds the rows of the shared table`(isIndexed: Bool) async throws {
    let package = try await Self.package(isIndexed: isIndexed)
    try await package.withStore { store in
      for example in FilterTable.cases {
        let filter = try Filter(cql2: example.text)
        let query = Query("places", where: filter)
        #expect(try await store.ids(query) == example.ids, "\(example)")
        #expect(try await store.count(query) == example.ids.count, "\(example)")
      }
    }
  }

  @Test(arguments: [true, false])
  func `finds the rows of each negation`(isIndexed: Bool) async throws {
    let package = try await Self.package(isIndexed: isIndexed)
    try await package.withStore { store in
      for example in FilterTable.cases {
        let negation = Filter.not(try Filter(cql2: example.text))
        let expected = try await store.evaluatedIDs("places", negation)
        #expect(try await store.ids(Query("places", where: negation)) == expected, "\(example)")
      }
    }
  }

  @Test func `takes thousands of conditions`() async throws {
    let package = try await Self.package(isIndexed: true)
    let store = try await package.store()
    let ids = (0..<5000).map { index in
      Filter.compare(.column("fid"), .equal, .literal(.integer(Int64(index * 3))))
    }
    #expect(try await store.ids(Query("places", where: .or(ids))) == [3, 6, 9])
    let list = (0..<20_000).map { Operand.literal(.integer(Int64($0 * 2))) }
    #expect(
      try await store.ids(Query("places", where: .isIn(.column("fid"), list))) == [2, 4, 6, 8])
    await store.close()
  }

  @Test func `compares and sorts texts by code point in UTF-16 files`() async throws {
    let package = try TestPackage()
    let copy = package.folder.file("utf16.gpkg").path
    let connection = try Connection(path: copy, mode: .create, profile: .bulk)
    try connection.execute("PRAGMA encoding = 'UTF-16le'")
    let texts = ["a", "Z", "é", "ÿ", "Ā", "ｚ", "🗺", ""]
    try connection.executeScript(
      """
      CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT, identifier TEXT,
        description TEXT, last_change TEXT, min_x REAL, min_y REAL, max_x REAL, max_y REAL,
        srs_id INTEGER);
      INSERT INTO gpkg_contents (table_name, data_type) VALUES ('texts', 'attributes');
      CREATE TABLE texts (fid INTEGER PRIMARY KEY, t TEXT);
      """)
    for text in texts { try connection.execute("INSERT INTO texts (t) VALUES (?)", .text(text)) }
    let store = try await GeoPackageStore(path: copy, id: "texts")
    let sorted = texts.sorted { $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars) }
    let found = try await store.features(Query("texts").order(by: [Order("t")]))
    #expect(found.map { $0.attributes["t"] } == sorted.map(Value.text))
    for text in texts {
      for comparison in Comparison.allCases {
        let filter = Filter.compare(.column("t"), comparison, .literal(.text(text)))
        let expected = try await store.evaluatedIDs("texts", filter)
        #expect(try await store.ids(Query("texts", where: filter)) == expected, "\(filter)")
      }
      let pattern = Filter.like(.column("t"), pattern: "_")
      let expected = try await store.evaluatedIDs("texts", pattern)
      #expect(try await store.ids(Query("texts", where: pattern)) == expected)
    }
    await store.close()
  }
}
