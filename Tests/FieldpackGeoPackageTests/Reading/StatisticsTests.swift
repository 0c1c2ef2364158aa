import FieldpackGeometry
import FieldpackSQLite
import Testing

@testable import FieldpackCore
@testable import FieldpackGeoPackage

/// Statistics of layers of a GeoPackage, read by one or several readers.
@Suite struct StatisticsTests {
  private static let layer: LayerID = "a\"b; DROP"

  private func package(_ rows: String) async throws -> TestPackage {
    let schema = Schema(
      layer: Self.layer, geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("n", .integer), ColumnDefinition("name", .text())])
    let package = try TestPackage(.v14, [schema])
    if !rows.isEmpty {
      try package.run("INSERT INTO \(quoted(Self.layer.rawValue))(fid, n, name) \(rows)")
    }
    return package
  }

  private static let many =
    "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 30000) "
    + "SELECT i, i % 100, 'name ' || i FROM s"

  @Test func `several readers give what one gives`() async throws {
    let package = try await package(Self.many)
    var found: [[LayerStatistics]] = []
    for readers in [1, 3] {
      found.append(
        try await PieceReaders.$mostReaders.withValue(readers) {
          try await package.withStore { try await $0.statistics(of: Query(Self.layer)) }
        })
    }
    #expect(found[0] == found[1])
    let columns = found[0].flatMap(\.columns)
    #expect(found[0].map(\.count) == [30_000])
    #expect(columns.map(\.mean) == [49.5, nil])
    #expect(columns.map(\.distinctIsEstimated) == [false, true])
    #expect(columns.map(\.least) == [0, "name 1"])
    #expect(columns.map(\.greatest) == [99, "name 9999"])
  }

  @Test func `a condition chooses the rows, and a layer without rows is there`() async throws {
    let package = try await package("VALUES (1, 5, 'a'), (2, 'five', x'00FF'), (3, NULL, 'b')")
    let all = try await package.withStore { try await $0.statistics(of: Query(Self.layer)) }
    #expect(all[0].columns[0].kinds == [.integer: 1, .text: 1])
    #expect(all[0].columns[1].kinds == [.text: 2, .blob: 1])
    #expect(all[0].columns[1].blobLengths == 2...2)
    #expect(all[0].geometry?.nullCount == 3)
    let none = try await package.withStore {
      try await $0.statistics(of: Query(Self.layer, where: Column<Int64>("n") == 99))
    }
    #expect(
      none == [
        LayerStatistics(
          layer: Self.layer, count: 0, geometry: GeometryStatistics(column: "geom"),
          columns: [.init(column: "n", type: .integer), .init(column: "name", type: .text())])
      ])
  }
}
