import FieldpackCore
import FieldpackGeometry
import FieldpackSQL
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// How the connections of a store are opened.
@Suite struct StorePoolsTests {
  /// A file with one layer of one square.
  private func package(_ layer: LayerID) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: layer, geometry: GeometryColumn(type: .polygon)))
        try writer.create(Feature(geometry: polygon(0, 0, 1, 0, 1, 1, 0, 0)), in: layer)
      }
    }
    return package
  }

  @Test func `a layer of another file is joined as a foreign one`() async throws {
    let (mine, other) = (try await package("a"), try await package("b"))
    let own = try await GeoPackageStore(path: mine.path, id: "mine", profile: .own)
    let theirs = try await GeoPackageStore(path: other.path, id: "theirs")
    var layer = DerivedLayer("pairs", of: .layer("a"))
    let cases: [(GeoPackageStore?, [[Int64]])] = [(nil, [[1], [0]]), (theirs, [[0], [1]])]
    for (store, profile) in cases {
      layer.join = SpatialJoin(store == nil ? "a" : "b")
      layer.join?.store = store
      let joined = try await own.deriving(layer)
      #expect(try await joined.count(Query()) == 1)
      let settings = try await joined.read { (reading) throws(FieldpackError) in
        let mapped = try reading.file.rows("PRAGMA mmap_size").first?.first?.integerValue ?? 0
        let checks = try reading.file.rows("PRAGMA cell_size_check").first?.first?.integerValue
        return [[mapped > 0 ? 1 : 0], [checks ?? -1]] as [[Int64]]
      }
      #expect(settings == profile)
      await joined.close()
    }
    await theirs.close()
    await own.close()
  }

  @Test(arguments: [0, 100])
  func `cancelling ends the reading of a catalogue`(milliseconds: Int) async throws {
    let package = try await package("a")
    try package.run(
      """
      ALTER TABLE gpkg_contents RENAME TO other;
      CREATE VIEW gpkg_contents AS
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT i AS table_name, 'features' AS data_type, NULL AS identifier, NULL AS description,
          NULL AS srs_id, 0 AS min_x, 0 AS min_y, 0 AS max_x, 0 AS max_y, i AS rowid FROM n
        WHERE i < 0;
      """)
    let path = package.path
    let task = Task { _ = try await GeoPackageStore(path: path, id: "survey", profile: .own) }
    try await Task.sleep(for: .milliseconds(milliseconds))
    task.cancel()
    let error = await thrown { try await task.value }
    #expect(error?.code == .interrupted)
  }
}
