import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// Which rows are read of the features that an R-tree finds for a user's SQL.
@Suite struct IndexedLayerCursorTests {
  private func package() async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "points", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("n", .integer)]))
        for n in 0..<100 {
          let point = Geometry.point(x: Double(n % 10), y: Double(n / 10))
          try writer.create(
            Feature(geometry: point, attributes: ["n": .integer(Int64(n))]), in: "points")
        }
      }
    }
    return package
  }

  @Test(arguments: [
    ("count(*)", 1), ("sum(fid)", 1), ("max(rowid)", 1), ("sum(n)", 64),
    ("count(DISTINCT geom)", 64), ("sum(CASE WHEN fid > 70 THEN n END)", 64),
  ])
  func `rows are read where more than ids is asked for`(selected: String, reads: Int) async throws {
    let package = try await package()
    let lookedUp = Locked(0)
    let store = try await package.store()
    try await store.pools.reader().read { (session) throws(FieldpackError) in
      let connection = session.connection
      connection.trace { sql, _ in
        if sql.hasSuffix(#"WHERE "fid" = ?"#) { lookedUp.withLock { $0 += 1 } }
      }
    }
    let box = "ST_MakeEnvelope(-0.5, -0.5, 7.5, 7.5)"
    let sql = "SELECT \(selected) FROM points WHERE ST_Intersects(geom, \(box))"
    var rows: [[Value]] = []
    for try await batch in store.rows(sql: sql) { rows += batch.rows }
    let read = lookedUp.withLock { $0 }
    let plain = sql.replacing("FROM points", with: "FROM main.points")
    var wanted: [[Value]] = []
    for try await batch in store.rows(sql: plain) { wanted += batch.rows }
    #expect(rows == wanted)
    #expect(read == reads)
    await store.close()
  }

  @Test func `no row is made of an entry of the R-tree alone`() async throws {
    let package = try await package()
    try package.run(
      """
      INSERT INTO rtree_points_geom VALUES (12345, 3, 3, 3, 3);
      DELETE FROM rtree_points_geom WHERE id = 34
      """)
    // A file of others would have its R-tree tried, and not believed.
    let store = try await package.store(profile: .own)
    let found = "FROM points WHERE ST_Intersects(geom, ST_MakeEnvelope(2.5, 2.5, 4.5, 3.5))"
    func rows(_ selected: String, _ condition: String) async throws -> [[Value]] {
      var rows: [[Value]] = []
      for try await batch in store.rows(sql: "SELECT \(selected) \(found) AND \(condition)") {
        rows += batch.rows
      }
      return rows
    }
    for condition in ["fid <> 35", "fid <> 4", "fid > 90", "fid < 90"] {
      let wanted: [[Value]] =
        condition == "fid <> 35" || condition == "fid > 90" ? [] : [[.integer(35), .integer(34)]]
      #expect(try await rows("fid, n", condition) == wanted, "\(condition)")
      #expect(try await rows("n", condition) == wanted.map { [$0[1]] }, "\(condition)")
    }
    #expect(try await rows("ST_AsText(geom)", "fid < 90") == [["POINT (4 3)"]])
    #expect(try await rows("ST_AsText(geom)", "fid <> 4") == [["POINT (4 3)"]])
    let error = await thrown { _ = try await rows("geom", "fid <> 35") }
    #expect(error?.code == .corrupt)
    #expect(
      error?.message == """
        the spatial index is damaged (the R-tree rtree_points_geom has feature 12345, which its \
        layer has not)
        """)
    #expect(error?.advice == .rebuildIndex)
    await store.close()
  }
}
