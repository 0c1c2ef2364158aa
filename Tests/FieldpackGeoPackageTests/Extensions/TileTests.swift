import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Tile pyramids.
@Suite(.programs) struct TileTests {
  static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 1]
  static let webp: [UInt8] = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8 ".utf8)
  static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

  /// Three by two tiles of 100 by 50 pixels, then a zoom level with thrice the detail, after a gap.
  static let odd = TilePyramid(
    "odd", srs: SRS("EPSG", 25833), bounds: Envelope(minX: 0, minY: 0, maxX: 600, maxY: 200),
    matrices: [
      TileMatrix(
        zoom: 3, width: 3, height: 2, tileWidth: 100, tileHeight: 50, pixelWidth: 2, pixelHeight: 2),
      TileMatrix(
        zoom: 4, width: 9, height: 6, tileWidth: 100, tileHeight: 50, pixelWidth: 2.0 / 3,
        pixelHeight: 2.0 / 3),
      TileMatrix(
        zoom: 7, width: 1, height: 1, tileWidth: 1000, tileHeight: 400, pixelWidth: 0.6,
        pixelHeight: 0.5),
    ], title: "An odd grid", description: "for tests")

  static func package(_ version: GeoPackageVersion = .v14) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createTilePyramid(.webMercator("map \"1\"", zooms: 0...3))
        try writer.createTilePyramid(odd)
        try writer.putTile(png, at: .init(zoom: 0, column: 0, row: 0), of: "map \"1\"")
        try writer.putTile(jpeg, at: .init(zoom: 3, column: 7, row: 5), of: "MAP \"1\"")
        try writer.putTile(webp, at: .init(zoom: 4, column: 8, row: 5), of: "odd")
        try writer.putTile(png, at: .init(zoom: 3, column: 2, row: 0), of: "odd")
        try writer.putTile(jpeg, at: .init(zoom: 3, column: 2, row: 0), of: "odd")
      }
    }
    return package
  }

  @Test func `are listed and read from any matrix`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let pyramids = try await store.tilePyramids()
      var odd = Self.odd
      odd.envelope = odd.bounds
      #expect(pyramids.map(\.name) == ["map \"1\"", "odd"])
      #expect(pyramids[1] == odd)
      #expect(pyramids[0].matrices.map(\.width) == [1, 2, 4, 8])
      #expect(pyramids[0].srs == SRS("EPSG", 3857))
      let tile = try await store.tile(at: .init(zoom: 3, column: 2, row: 0), of: "ODD")
      #expect(tile?.mediaType == "image/jpeg")
      #expect(tile?.bytes == Self.jpeg)
      let webp = try await store.tile(at: .init(zoom: 4, column: 8, row: 5), of: "odd")
      #expect(webp?.mediaType == "image/webp")
      #expect(try await store.tile(at: .init(zoom: 4, column: 0, row: 0), of: "odd") == nil)
      let addresses = try await store.read { (snapshot) throws(FieldpackError) in
        [
          try snapshot.tileAddresses(of: "odd").map(\.description),
          try snapshot.tileAddresses(of: "map \"1\"", zoom: 3).map(\.description),
        ]
      }
      #expect(addresses == [["3/2/0", "4/8/5"], ["3/7/5"]])
      let error = await thrown {
        _ = try await store.tile(at: .init(zoom: 0, column: 0, row: 0), of: "nix")
      }
      #expect(error?.message == "store 'survey' has no tiles 'nix' (it has: map \"1\", odd)")
    }
    #expect(
      try package.rows(
        "SELECT table_name, column_name, extension_name FROM gpkg_extensions ORDER BY 3") == [
          "odd|tile_data|gpkg_webp", "odd|tile_data|gpkg_zoom_other",
        ])
  }

  @Test func `know where they lie`() {
    let odd = Self.odd
    let corner = TileAddress(zoom: 3, column: 2, row: 1)
    #expect(odd.envelope(of: corner) == Envelope(minX: 400, minY: 0, maxX: 600, maxY: 100))
    #expect(odd.envelope(of: .init(zoom: 3, column: 3, row: 0)) == nil)
    #expect(odd.envelope(of: .init(zoom: 5, column: 0, row: 0)) == nil)
    #expect(odd.address(x: 600, y: 0, zoom: 3) == corner)
    #expect(odd.address(x: 400, y: 100, zoom: 3) == corner)
    #expect(odd.address(x: 0, y: 200, zoom: 4) == .init(zoom: 4, column: 0, row: 0))
    #expect(odd.address(x: -0.1, y: 0, zoom: 3) == nil)
    #expect(odd.address(x: .nan, y: 0, zoom: 3) == nil)
    let web = TilePyramid.webMercator("w", zooms: 0...20)
    #expect(
      web.address(x: 1_492_000, y: 6_894_000, zoom: 10) == .init(zoom: 10, column: 550, row: 335))
  }

  @Test func `are deleted, and removed without leftovers`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let deleted = try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(RelationTests.wells)
        try writer.create(Feature(geometry: .point(x: 1, y: 1)), in: "wells")
        let shown = try writer.createRelation(from: "wells", to: "odd", as: .tiles)
        try writer.link(1, to: 1, by: shown)
        try writer.link(1, to: 2, by: shown)
        try writer.addMetadata("", standard: "urn:x", about: .row(2, of: "odd"))
        return [
          try writer.deleteTile(at: .init(zoom: 3, column: 2, row: 0), of: "odd"),
          try writer.deleteTile(at: .init(zoom: 3, column: 2, row: 0), of: "odd"),
        ]
      }
      #expect(deleted == [true, false])
      #expect(try package.rows("SELECT related_id FROM wells_odd") == ["1"])
      #expect(try await store.metadata().documents == [])
      try await store.write { (writer) throws(FieldpackError) in
        for name in ["odd", "Map \"1\""] as [LayerID] { try writer.removeTilePyramid(name) }
      }
      #expect(try await store.tilePyramids() == [])
    }
    let left = try ["gpkg_tile_matrix", "gpkg_tile_matrix_set"].flatMap {
      try package.rows("SELECT table_name FROM \($0)")
    }
    #expect(left == [])
    #expect(try package.rows("SELECT table_name FROM gpkg_contents") == ["wells"])
    #expect(
      try package.rows("SELECT extension_name FROM gpkg_extensions") == ["gpkg_rtree_index"])
    #expect(try package.faults() == [])
  }

  @Test func `keep the time of their change when another is removed`() async throws {
    let package = try await Self.package()
    try package.run("UPDATE gpkg_contents SET last_change = '2000-01-01T00:00:00.000Z'")
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.putTile(Self.png, at: .init(zoom: 1, column: 0, row: 0), of: "Map \"1\"")
        try writer.putTile(Self.png, at: .init(zoom: 3, column: 0, row: 0), of: "odd")
        try writer.removeTilePyramid("ODD")
      }
    }
    #expect(
      try package.rows("SELECT table_name FROM gpkg_contents WHERE last_change > '2020'")
        == ["map \"1\""])
  }

  @Test func `go into tables that other programs made, and leave as views`() async throws {
    let package = try TestPackage()
    try package.run(
      """
      CREATE TABLE gpkg_tile_matrix_set (min_x, min_y, max_x, max_y, srs_id, table_name, more);
      CREATE TABLE gpkg_tile_matrix (zoom_level, table_name, tile_width, tile_height,
        matrix_width, matrix_height, pixel_x_size, pixel_y_size, more);
      CREATE VIEW seen AS SELECT 1 AS id, 0 AS zoom_level, 0 AS tile_column, 0 AS tile_row,
        x'89504e47' AS tile_data;
      INSERT INTO gpkg_contents (table_name, data_type, srs_id) VALUES ('seen', 'tiles', 4326);
      """)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createTilePyramid(Self.odd)
        try writer.removeTilePyramid("seen")
      }
      var odd = Self.odd
      odd.envelope = odd.bounds
      #expect(try await store.tilePyramids() == [odd])
    }
    #expect(try package.rows("SELECT name FROM sqlite_master WHERE type = 'view'") == [])
  }

  @Test func `are refused where they have no place, or are no picture`() async throws {
    let package = try await Self.package()
    let cases: [([UInt8], TileAddress, LayerID, FieldpackError.Code)] = [
      (Self.png, .init(zoom: 3, column: 3, row: 0), "odd", .invalidArgument),
      (Self.png, .init(zoom: 5, column: 0, row: 0), "odd", .invalidArgument),
      (Self.png, .init(zoom: 3, column: -1, row: 0), "odd", .invalidArgument),
      ([], .init(zoom: 3, column: 0, row: 0), "odd", .invalidData),
      (Array("GIF89a".utf8), .init(zoom: 3, column: 0, row: 0), "odd", .invalidData),
      (Self.png, .init(zoom: 3, column: 0, row: 0), "nix", .notFound),
    ]
    try await package.withStore { store in
      for (bytes, address, name, code) in cases {
        let error = await thrown {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.putTile(bytes, at: address, of: name)
          }
        }
        #expect(error?.code == code, "\(address) of \(name)")
      }
      var shrunk = Self.odd
      shrunk.name = "new"
      shrunk.matrices[1].width = 8
      var flat = Self.odd
      flat.name = "new"
      flat.matrices[2].pixelWidth = 0.7
      let empty = TilePyramid("new", srs: .wgs84, bounds: .empty, zooms: 0...1)
      let taken = TilePyramid.webMercator("odd", zooms: 0...1)
      for (pyramid, code) in [
        (shrunk, .invalidArgument), (flat, .invalidArgument), (empty, .invalidArgument),
        (taken, .cannotCreate),
      ] as [(TilePyramid, FieldpackError.Code)] {
        let error = await thrown {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.createTilePyramid(pyramid)
          }
        }
        #expect(error?.code == code)
      }
    }
    #expect(try package.rows("SELECT count(*) FROM gpkg_tile_matrix") == ["7"])
  }

  // MARK: Peers

  @Test(
    .enabled(if: !Programs.validators.isEmpty, Comment(rawValue: Programs.noValidator)),
    arguments: GeoPackageVersion.allCases)
  func `pass GDAL's validator`(version: GeoPackageVersion) async throws {
    try await GDALChecks.expectValid(try await Self.package(version), version)
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `are subdatasets in GDAL`() async throws {
    let package = try await Self.package(.v13)
    let lines = try await GDALChecks.python(
      """
      ds = gdal.OpenEx(path, gdal.OF_RASTER)
      for name, text in ds.GetSubDatasets(): print(text)
      web = gdal.OpenEx(path, gdal.OF_RASTER, open_options=['TABLE=map "1"'])
      print(web.RasterXSize, web.RasterYSize)
      """, package)
    #expect(lines == ["map \"1\" - map \"1\"", "odd - An odd grid", "2048 2048"])
  }

  // MARK: Real files

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    arguments: [
      (
        "tiles2",
        ["imagery EPSG:4326 tiles 4:2x2 [-180.0 45.0 -135.0 90.0] 4 image/jpeg:4"]
      ),
      (
        "uint16",
        [
          "uint16 EPSG:26711 2d-gridded-coverage 0:1x1 [440720.0 3735960.0 456080.0 3751320.0] "
            + "1 image/png:1"
        ]
      ),
      (
        "gdal_sample_v1.2_no_extensions",
        [
          "byte_png EPSG:26711 tiles 0:1x1 [440720.0 3735960.0 456080.0 3751320.0] 1 image/png:1",
          "byte_jpeg EPSG:26711 tiles 0:1x1 [440720.0 3735960.0 456080.0 3751320.0] "
            + "1 image/jpeg:1",
        ]
      ),
    ] as [(String, [String])])
  func `of other programs' files are read`(name: String, expected: [String]) async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg/\(name).gpkg"))
    let lines = try await package.withStore { store in
      var lines: [String] = []
      for pyramid in try await store.tilePyramids() {
        lines.append(try await Self.line(pyramid, store))
      }
      return lines
    }
    #expect(lines == expected)
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `of every kind in one file are read`() async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg/import_db.gpkg"))
    try await package.withStore { store in
      let pyramids = try await store.tilePyramids()
      #expect(pyramids.count == 13)
      #expect(
        pyramids.filter { $0.kind == .griddedCoverage }.map(\.name) == [
          "coverage_png", "coverage_tiff",
        ])
      for pyramid in pyramids {
        let line = try await Self.line(pyramid, store)
        #expect(!line.contains("nil"), "\(line)")
      }
      let webp = try #require(pyramids.first { $0.name == "webp_tiles" })
      #expect(
        try await store.tile(at: .init(zoom: 15, column: 0, row: 0), of: webp.name)?.mediaType
          == "image/webp")
    }
  }

  /// A pyramid in a line, with how many tiles there are of each kind.
  private static func line(
    _ pyramid: TilePyramid, _ store: GeoPackageStore
  ) async throws -> String {
    let addresses = try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.tileAddresses(of: pyramid.name)
    }
    var types: [String: Int] = [:]
    for address in addresses {
      let tile = try #require(try await store.tile(at: address, of: pyramid.name))
      types[tile.mediaType ?? "nil", default: 0] += 1
      #expect(pyramid.matrix(zoom: address.zoom)?.contains(address) == true)
    }
    let matrices = pyramid.matrices.map { "\($0.zoom):\($0.width)x\($0.height)" }
    let b = pyramid.bounds
    return
      ([
        "\(pyramid.name) \(pyramid.srs) \(pyramid.kind.rawValue)", matrices.joined(separator: ","),
        "[\(b.minX) \(b.minY) \(b.maxX) \(b.maxY)]", "\(addresses.count)",
      ] + types.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }).joined(separator: " ")
  }
}
