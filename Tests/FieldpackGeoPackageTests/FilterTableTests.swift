import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
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
}
