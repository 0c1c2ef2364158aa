import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// A GeoPackage 1.0 of SpatialConnect's: big-endian blobs, no R-tree, extents of zeros. The counts
/// were measured with GDAL.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct HaitiTests {
  private static let path =
    SharedData.url("spatialconnect/ios-sdk/haiti4mobile_syncable.gpkg").path

  private func store() async throws -> GeoPackageStore {
    try await GeoPackageStore(path: Self.path, id: "haiti")
  }

  @Test func `lists its layers with their true extents`() async throws {
    let store = try await store()
    let layers = try await store.layers().filter { $0.kind == .features }
    #expect(
      layers.map { "\($0.id) \($0.featureCount ?? -1) \($0.schema.geometry?.name ?? "")" } == [
        "point_features 1 the_geom", "polygon_features 1000 the_geom",
        "linear_features 1000 the_geom",
      ])
    let near = { (a: Double, b: Double) in abs(a - b) < 1e-6 }
    let expected = [
      nil, Envelope(minX: -72.952989, minY: 18.180936, maxX: -72.000096, maxY: 18.999468),
      Envelope(minX: -72.417541, minY: 18.222281, maxX: -72.0, maxY: 19.0),
    ]
    for (layer, expected) in zip(layers, expected) {
      guard let found = layer.envelope, let expected else {
        #expect(layer.envelope == nil && expected == nil, "\(layer.id)")
        continue
      }
      #expect(
        near(found.minX, expected.minX) && near(found.minY, expected.minY)
          && near(found.maxX, expected.maxX) && near(found.maxY, expected.maxY), "\(layer.id)")
    }
    #expect(try await store.features(Query("point_features")).map(\.geometry) == [nil])
    await store.close()
  }

  @Test func `its change logs take every change`() async throws {
    let package = try TestPackage(copying: URL(fileURLWithPath: Self.path))
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        let id = try writer.create(Feature(attributes: ["fcode": "new"]), in: "point_features")
        try writer.update(id, in: "point_features", set: ["fcode": "changed"])
        try writer.delete(id, in: "point_features")
      }
    }
    let logged = try package.rows(
      "SELECT fcode, audit_op FROM point_features_audit ORDER BY rowid DESC LIMIT 3")
    #expect(logged == ["NULL|3", "changed|2", "new|1"])
    #expect(try package.rows("SELECT count(*) FROM point_features_audit") == ["1004"])
  }

  @Test func `its change logs are upgraded once, and go on`() async throws {
    let package = try TestPackage(copying: URL(fileURLWithPath: Self.path))
    var schemas: [[String]] = []
    for isFirst in [true, false] {
      try await package.withStore { store in
        try await store.write { (writer) throws(FieldpackError) in
          #expect(try writer.layersWithOlderLogs().contains("point_features") == isFirst)
          try writer.enableLog(of: "point_features")
        }
      }
      schemas.append(try package.rows("SELECT type, name, sql FROM sqlite_master ORDER BY name"))
    }
    #expect(schemas[0] == schemas[1])
    #expect(try package.rows("SELECT count(*) FROM point_features_audit") == ["1001"])
    let columns = try package.rows(
      "SELECT lower(name) FROM pragma_table_info('point_features_audit')")
    #expect(Set(columns).count == columns.count)
    #expect(Set(columns).isSuperset(of: ["audit_id", "edit_id", "author", "device", "synced"]))
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        let id = try writer.create(Feature(attributes: ["fcode": "new"]), in: "point_features")
        try writer.update(id, in: "point_features", set: ["fcode": "changed"])
        try writer.delete(id, in: "point_features")
      }
    }
    try package.withSession { file in
      let log = try #require(try EditLog(of: "point_features", in: file))
      #expect(try log.pending(limit: 10).map(\.operation) == [.insert, .update, .delete])
      #expect(try log.pending(limit: 10).map(\.number) == [1002, 1003, 1004])
    }
    #expect(try package.faults() == [])
  }

  private static let north = Envelope(minX: -73, minY: 18.5, maxX: -72.3, maxY: 19)
  private static let middle = Envelope(minX: -72.5, minY: 18.4, maxX: -72.2, maxY: 18.7)
  private static let fcode = Operand.column("fcode")

  private static func fcode(_ comparison: Comparison, _ text: Value) -> Filter {
    .compare(fcode, comparison, .literal(text))
  }

  // With open borders, as the measure was, 206 and 779 lie within; two features and one end on the
  // border.
  static let counts: [(LayerID, Filter, Int)] = [
    ("linear_features", .envelope(.within, north), 208),
    ("linear_features", .envelope(.intersects, north), 245),
    ("polygon_features", .envelope(.within, north), 538),
    ("polygon_features", .envelope(.intersects, north), 548),
    ("linear_features", .envelope(.within, middle), 671),
    ("linear_features", .envelope(.intersects, middle), 689),
    ("polygon_features", .envelope(.within, middle), 780),
    ("polygon_features", .envelope(.intersects, middle), 782),
    ("linear_features", .envelope(.disjoint, middle), 311),
    ("linear_features", fcode(.equal, "AP030"), 986),
    ("linear_features", fcode(.notEqual, "AP030"), 14),
    ("linear_features", .isIn(fcode, [.literal("AT030"), .literal("BB041")]), 14),
    ("linear_features", .like(fcode, pattern: "A%"), 997),
    ("linear_features", .between(.column("fid"), .literal(10), .literal(20)), 11),
    ("linear_features", !.between(.column("fid"), .literal(10), .literal(990)), 19),
    ("linear_features", !.isNull(.column("nfi")), 997),
    ("linear_features", .envelope(.intersects, north) && fcode(.equal, "AP030"), 240),
    ("linear_features", .envelope(.within, north) && fcode(.equal, "AT030"), 1),
  ]

  @Test func `counts as measured`() async throws {
    let store = try await store()
    for (layer, filter, expected) in Self.counts {
      #expect(try await store.count(Query(layer, where: filter)) == expected, "\(filter)")
      #expect(try await store.ids(Query(layer, where: filter)).count == expected, "\(filter)")
    }
    await store.close()
  }

  @Test func `counts alike with an R-tree`() async throws {
    let package = try TestPackage(
      copying: SharedData.url(
        "spatialconnect/ios-sdk/haiti4mobile_syncable.gpkg"))
    try package.withSession { file in
      let connection = file.connection
      try connection.execute("BEGIN")
      for table in try file.catalogue().layers where table.schema.geometry != nil {
        let tree = RTreeSQL(table)
        try LayerCreation(file: file).createRTree(tree, .upTo13, withTriggers: true)
        try connection.execute(
          "INSERT INTO \(quoted(tree.name)) SELECT fid, ST_MinX(the_geom), ST_MaxX(the_geom), "
            + "ST_MinY(the_geom), ST_MaxY(the_geom) FROM \(quoted(tree.table)) "
            + "WHERE the_geom NOT NULL")
      }
      try connection.execute("COMMIT")
    }
    let store = try await package.store()
    #expect(try await store.layers().first?.hasSpatialIndex == true)
    for (layer, filter, expected) in Self.counts {
      #expect(try await store.count(Query(layer, where: filter)) == expected, "\(filter)")
    }
    await store.close()
  }
}
