import FieldpackCore
import FieldpackGeometry
import FieldpackSQL
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// `gpkg_spatial_ref_sys` with the columns of the CRS WKT extension.
@Suite(.programs) struct ReferenceSystemTests {
  private static let solid = SRS("EPSG", 4979)
  private static let dynamic = SRS("EPSG", 9000)

  private static func layer(_ name: LayerID, _ srs: SRS, epoch: Double? = nil) -> Schema {
    var geometry = GeometryColumn(type: .point, srs: srs, z: .optional)
    geometry.epoch = epoch
    return Schema(layer: name, geometry: geometry)
  }

  static func package(
    _ version: GeoPackageVersion = .v14, epochs: [Double?] = []
  ) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(layer("plain", SRS("EPSG", 25833)))
        try writer.createLayer(layer("solid", solid))
        for (index, epoch) in epochs.enumerated() {
          try writer.createLayer(layer(LayerID("dynamic \(index)"), dynamic, epoch: epoch))
        }
        for name in try writer.layers().map(\.id) {
          try writer.create(
            Feature(geometry: .point(Position(x: 13, y: 52, z: 40), .xyz)), in: name)
        }
      }
    }
    return package
  }

  @Test func `get WKT 2 where WKT 1 cannot say a system`() async throws {
    let package = try await Self.package()
    #expect(
      try package.rows(
        "SELECT srs_id, definition = 'undefined', substr(definition_12_063, 1, 7) "
          + "FROM gpkg_spatial_ref_sys ORDER BY 1") == [
          "-1|1|undefin", "0|1|undefin", "4326|0|GEOGCRS", "4979|1|GEOGCRS", "25833|0|PROJCRS",
        ])
    #expect(
      try package.rows(
        "SELECT * FROM gpkg_extensions WHERE extension_name LIKE 'gpkg_crs%'") == [
          "gpkg_spatial_ref_sys|definition_12_063|gpkg_crs_wkt|"
            + "http://www.geopackage.org/spec120/#extension_crs_wkt|read-write"
        ])
    #expect(
      try package.rows(
        "SELECT \"notnull\", dflt_value FROM pragma_table_info('gpkg_spatial_ref_sys') "
          + "WHERE name = 'definition_12_063'") == ["1|NULL"])
    #expect(try package.faults() == [])
    let systems = try await package.withStore { try await $0.systems() }
    #expect(systems.first { $0.srs == Self.solid }?.wkt2?.hasPrefix("GEOGCRS[\"WGS 84\"") == true)
    #expect(systems.first { $0.srs == Self.solid }?.definition == "undefined")
  }

  @Test func `are those of the last rows where a table without its key has an id twice`()
    async throws
  {
    let package = try TestPackage()
    try package.run(
      """
      CREATE TABLE copy AS SELECT * FROM gpkg_spatial_ref_sys;
      INSERT INTO copy SELECT 'Later', 4326, 'EPSG', 25833, definition, description
        FROM copy WHERE srs_id = 4326;
      DROP TABLE gpkg_spatial_ref_sys;
      ALTER TABLE copy RENAME TO gpkg_spatial_ref_sys;
      """)
    let systems = try await package.withStore { try await $0.systems() }
    #expect(systems.map(\.srs.code) == [-1, 0, 25833])
    #expect(systems.last?.name == "Later")
  }

  @Test func `leave a file alone that needs no WKT 2`() async throws {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.layer("plain", SRS("EPSG", 25833)))
      }
    }
    #expect(
      try package.rows("SELECT count(*) FROM pragma_table_info('gpkg_spatial_ref_sys')") == ["6"])
  }

  @Test func `keep a system once for each epoch`() async throws {
    let package = try await Self.package(epochs: [2020.5, nil, 2024, 2020.5])
    let schemas = try await package.withStore { try await $0.schemas() }
    #expect(schemas.map { $0.geometry?.epoch } == [nil, nil, 2020.5, nil, 2024, 2020.5])
    #expect(Set(schemas.dropFirst(2).map { $0.geometry?.srs }) == [Self.dynamic])
    #expect(
      try package.rows(
        "SELECT organization_coordsys_id, epoch FROM gpkg_spatial_ref_sys "
          + "WHERE organization_coordsys_id = 9000 ORDER BY srs_id")
        == ["9000|2020.5", "9000|NULL", "9000|2024.0"])
    #expect(
      try package.rows(
        "SELECT column_name, extension_name FROM gpkg_extensions "
          + "WHERE extension_name LIKE 'gpkg_crs%'")
        == ["definition_12_063|gpkg_crs_wkt_1_1", "epoch|gpkg_crs_wkt_1_1"])
    #expect(try package.faults() == [])
  }

  @Test func `are added to tables with columns of their own`() async throws {
    let package = try TestPackage()
    try package.run(
      """
      ALTER TABLE gpkg_spatial_ref_sys ADD COLUMN mine TEXT DEFAULT 'x';
      CREATE TRIGGER watch AFTER INSERT ON gpkg_spatial_ref_sys BEGIN SELECT 1; END;
      """)
    var profile = OpeningProfile.foreign
    profile.runsTriggers = true
    try await package.withStore(profile) { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.layer("solid", Self.solid))
      }
    }
    #expect(
      try package.rows(
        "SELECT mine, definition_12_063 <> 'undefined' FROM gpkg_spatial_ref_sys WHERE srs_id > 0")
        == ["x|1", "x|1"])
    #expect(
      try package.rows("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name = 'watch'")
        == ["watch"])
  }

  @Test func `that SQL functions asked for are read again when they change`() async throws {
    let package = try TestPackage()
    try await package.withStore { store in
      func x(_ id: Int) async throws -> Value? {
        let sql = "SELECT round(ST_X(ST_Transform(ST_Point(500000, 0, \(id)), 4326)), 6)"
        for try await batch in store.rows(sql: sql) { return batch.rows.first?.first }
        return nil
      }
      #expect(try await x(32633) == 15.0)
      // The file's own number for zone 31 is EPSG's for zone 33.
      let define =
        "INSERT INTO gpkg_spatial_ref_sys VALUES ('own', 32633, 'EPSG', 32631, 'undefined', NULL)"
      let found = try await store.run(
        sql: """
          SELECT round(ST_X(ST_Transform(ST_Point(500000, 0, 32633), 4326)), 6);
          \(define);
          SELECT round(ST_X(ST_Transform(ST_Point(500000, 0, 32633), 4326)), 6)
          """)
      #expect(found.map(\.rows) == [[[15.0]], [], [[3.0]]])
      #expect(try await x(32633) == 3.0)
    }
  }

  @Test func `find a number below the greatest, or say that there is none`() async throws {
    let package = try TestPackage()
    try package.run(
      """
      INSERT INTO gpkg_spatial_ref_sys VALUES
        ('far', 9223372036854775807, 'ME', 1, 'undefined', NULL),
        ('taken', 25833, 'ME', 2, 'undefined', NULL), ('more', 25832, 'ME', 3, 'undefined', NULL);
      """)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.layer("one", SRS("EPSG", 25833)))
      }
      #expect(
        try package.rows("SELECT srs_id FROM gpkg_contents WHERE table_name = 'one'") == ["100000"])
      try package.run(
        "INSERT INTO gpkg_spatial_ref_sys VALUES ('last', 2147483647, 'ME', 4, 'undefined', NULL)")
      let error = await thrown {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.createLayer(Self.layer("two", SRS("EPSG", 25832)))
        }
      }
      #expect(error?.code == .invalidData)
    }
  }

  @Test func `that no authority knows are defined by WKT 2 alone`() async throws {
    let package = try TestPackage()
    let wkt = """
      PROJCRS["Mine",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",\
      ELLIPSOID["WGS 84",6378137,298.257223563]]],CONVERSION["c",\
      METHOD["Transverse Mercator",ID["EPSG",9807]],\
      PARAMETER["Latitude of natural origin",0,ANGLEUNIT["degree",0.0174532925199433]],\
      PARAMETER["Longitude of natural origin",15,ANGLEUNIT["degree",0.0174532925199433]],\
      PARAMETER["Scale factor at natural origin",1,SCALEUNIT["unity",1]],\
      PARAMETER["False easting",0,LENGTHUNIT["metre",1]],\
      PARAMETER["False northing",0,LENGTHUNIT["metre",1]]],CS[Cartesian,2],\
      AXIS["(E)",east],AXIS["(N)",north],LENGTHUNIT["metre",1]]
      """
    let mine = SRS("ME", 7)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.define(StoredSRS(mine, name: "Mine", wkt2: wkt))
        try writer.createLayer(Self.layer("mine", mine))
        try writer.create(Feature(geometry: .point(x: 0, y: 0)), in: "mine")
      }
      let moved = try await store.features(Query("mine").transformed(to: .wgs84))
      let x = try #require(moved.first?.geometry?.envelope).minX
      #expect(abs(x - 15) < 1e-9)
      var rows: [[Value]] = []
      let sql = "SELECT round(ST_X(ST_Transform(geom, 4326)), 9) FROM mine"
      for try await batch in store.rows(sql: sql) { rows += batch.rows }
      #expect(rows == [[15.0]])
    }
    #expect(
      try package.rows("SELECT definition FROM gpkg_spatial_ref_sys WHERE organization = 'ME'")
        == ["undefined"])
  }

  // MARK: Peers

  @Test(
    .enabled(if: !Programs.validators.isEmpty, Comment(rawValue: Programs.noValidator)),
    arguments: GeoPackageVersion.allCases)
  func `pass GDAL's validator`(version: GeoPackageVersion) async throws {
    try await GDALChecks.expectValid(try await Self.package(version), version)
    try await GDALChecks.expectValid(
      try await Self.package(version, epochs: [2020.5, 2024]), version)
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `are reference systems in GDAL`() async throws {
    let package = try await Self.package(.v13, epochs: [2020.5])
    let lines = try await GDALChecks.python(
      """
      ds = ogr.Open(path)
      for i in range(ds.GetLayerCount()):
          s = ds.GetLayer(i).GetSpatialRef()
          print(s.GetName(), s.GetAuthorityCode(None), s.GetAxesCount(), s.GetCoordinateEpoch())
      """, package)
    #expect(
      lines == ["ETRS89 / UTM zone 33N 25833 2 0.0", "WGS 84 4979 3 0.0", "ITRF2014 9000 2 2020.5"])
  }

  // MARK: Real files

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `of another program's file are read and added to`() async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg/uint16.gpkg"))
    try await package.withStore { store in
      let systems = try await store.systems()
      #expect(systems.first { $0.srs == SRS("EPSG", 26711) }?.wkt2?.hasPrefix("PROJCRS[") == true)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.layer("new", SRS("EPSG", 25833)))
      }
    }
    #expect(
      try package.rows(
        "SELECT substr(definition_12_063, 1, 7) FROM gpkg_spatial_ref_sys WHERE srs_id = 25833")
        == ["PROJCRS"])
  }
}
