import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// Tiles out of MBTiles files and folders, and back.
@Suite(.programs) struct TileFileTests {
  private static let png = TestPicture.png(color: (1, 2, 3))
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
  private static let webp = Array("RIFF    WEBPVP8 ".utf8)

  private let folder: TemporaryFolder
  private var target: String { folder.file("field.gpkg").path }

  init() throws { folder = try TemporaryFolder() }

  /// - Parameter tiles: addresses with rows from the bottom.
  private func mbTiles(
    _ name: String = "ortho.mbtiles", metadata: [(String, String)] = [],
    tiles: [(Int, Int, Int, [UInt8])], isView: Bool = false
  ) throws -> String {
    let path = folder.file(name).path
    let connection = try Connection(path: path, mode: .create)
    try connection.execute("CREATE TABLE metadata (name text, value text)")
    for (name, value) in metadata {
      try connection.execute("INSERT INTO metadata VALUES (?, ?)", .text(name), .text(value))
    }
    let address = "zoom_level integer, tile_column integer, tile_row integer"
    if isView {
      try connection.execute("CREATE TABLE map (\(address), tile_id text)")
      try connection.execute("CREATE TABLE images (tile_data blob, tile_id text)")
      try connection.execute(
        "CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data "
          + "FROM map JOIN images ON images.tile_id = map.tile_id")
    } else {
      try connection.execute("CREATE TABLE tiles (\(address), tile_data blob)")
    }
    for (index, tile) in tiles.enumerated() {
      let place = [tile.0, tile.1, tile.2].map { SQLiteValue.integer(Int64($0)) }
      if isView {
        try connection.execute(
          "INSERT INTO map VALUES (?, ?, ?, ?)", place[0], place[1], place[2], .text("\(index)"))
        try connection.execute(
          "INSERT INTO images VALUES (?, ?)", .blob(tile.3), .text("\(index)"))
      } else {
        try connection.execute(
          "INSERT INTO tiles VALUES (?, ?, ?, ?)", place[0], place[1], place[2], .blob(tile.3))
      }
    }
    return path
  }

  private func store<R: Sendable>(
    _ body: (GeoPackageStore) async throws -> R
  ) async throws -> R {
    let store = try await GeoPackageStore(path: target, id: "field")
    do {
      let result = try await body(store)
      await store.close()
      return result
    } catch {
      await store.close()
      throw error
    }
  }

  private func rows(_ path: String, _ sql: String) throws -> [String] {
    let statement = try Connection(path: path, mode: .readOnly).prepare(sql, caching: false)
    var rows: [String] = []
    while try statement.step() {
      rows.append(
        (0..<statement.columnCount).map { statement.string($0) ?? "NULL" }.joined(separator: "|"))
    }
    return rows
  }

  @Test(arguments: [false, true])
  func `MBTiles become a pyramid and come out as they were`(isView: Bool) async throws {
    let tiles = [(0, 0, 0, Self.png), (2, 3, 0, Self.png), (2, 0, 3, Self.png)]
    let source = try mbTiles(
      metadata: [
        ("name", "Ortho"), ("format", "png"), ("description", "From the air"),
        ("attribution", "by us"),
      ], tiles: tiles, isView: isView)
    let report = try await TileImport().run(source, into: target)
    #expect(report.layer == "ortho" && report.count == 3 && report.zooms == 0...2)
    #expect(report.notes == [])
    try await store { (store) async throws in
      var pyramid = TilePyramid.webMercator("ortho", zooms: 0...2)
      pyramid.title = "Ortho"
      pyramid.description = "From the air\nby us"
      pyramid.envelope = pyramid.bounds
      #expect(try await store.tilePyramids() == [pyramid])
      #expect(
        try await store.webTile(.init(zoom: 2, column: 3, row: 3), of: "ortho")?.bytes == Self.png)
      #expect(try await store.webTile(.init(zoom: 2, column: 3, row: 0), of: "ortho") == nil)
      let output = folder.file("again.mbtiles").path
      let report = try await TileExport().run("ORTHO", of: store, to: output)
      #expect(report.layer == "ortho" && report.count == 3 && report.notes == [])
      let sql =
        "SELECT zoom_level, tile_column, tile_row, hex(tile_data) FROM tiles ORDER BY 1, 2, 3"
      #expect(try rows(output, sql) == rows(source, sql))
      #expect(
        try rows(output, "SELECT name, value FROM metadata") == [
          "name|Ortho", "format|png", "type|overlay", "version|1",
          "description|From the air\nby us", "bounds|-180,-85.051129,180,85.051129", "minzoom|0",
          "maxzoom|2",
        ])
      #expect(try rows(output, "PRAGMA application_id") == ["\(0x4D50_4258)"])
      let error = await #expect(throws: FieldpackError.self) {
        try await Workspace.open(source: output)
      }
      #expect(error?.message == "\(output) is an MBTiles file: it holds tiles and no features")
      #expect(error?.advice == .importIntoGeoPackage)
    }
    let check = try await FileCheck().run(target)
    #expect(check.findings.isEmpty, "\(check.findings)")
  }

  @Test func `a folder becomes a pyramid and comes out as it was`() async throws {
    let source = folder.file("tiles").path
    let files: [(String, [UInt8])] = [
      ("0/0/0.png", Self.png), ("1/1/0.jpg", Self.jpeg), ("1/0/1.webp", Self.webp),
    ]
    let others = [
      "readme.txt", "1/1/x.png", "1/1/2.png", "1/01/0.png", "1/0/0.gif", "1/0/1.png", "31/0/0.png",
    ]
    for (name, bytes) in files + others.map({ ($0, Self.png) }) {
      try Self.write(bytes, to: "\(source)/\(name)")
    }
    try FileManager.default.createSymbolicLink(
      atPath: "\(source)/1/0/0.png", withDestinationPath: "../../0/0/0.png")
    let report = try await TileImport(layer: "map").run(source + "/", into: target)
    #expect(report.layer == "map" && report.zooms == 0...1)
    #expect(
      report.notes.map(\.text) == [
        "8 names in \(source)/ passed over, no tile: 1/0/0.gif, 1/0/0.png, 1/0/1.webp, …"
      ])
    #expect(report.count == 3)
    let output = folder.file("out").path
    // What a killed process has left.
    try Self.write(Self.png, to: folder.file(".out.fieldpack-0123456789abcdef/0/0/0.png").path)
    try await store { (store) async throws in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createTilePyramid(.webMercator("empty", zooms: 0...0))
      }
      let error = await #expect(throws: FieldpackError.self) {
        try await TileExport().run("empty", of: store, to: output + "/")
      }
      #expect(error?.message == "'empty' has no tiles to write")
      #expect(try names().filter { $0.contains("out") } == [])
      _ = try await TileExport().run("map", of: store, to: output + "/")
      let taken = await #expect(throws: FieldpackError.self) {
        try await TileExport().run("map", of: store, to: output + "/")
      }
      #expect(taken?.code == .cannotCreate)
      #expect(taken?.message == "\(output) exists, and is not replaced by a folder")
      let mixed = try await TileExport().run(
        "map", of: store, to: folder.file("mixed.mbtiles").path)
      #expect(mixed.notes.count == 1)
    }
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: output).filter { $0.contains(".") }
        .sorted() == ["0/0/0.png", "1/0/1.png", "1/1/0.jpg"])
    #expect(try Data(contentsOf: folder.file("out/1/1/0.jpg")) == Data(Self.jpeg))
    #expect(try names().filter { $0.hasPrefix(".") } == [])
  }

  @Test func `a folder of a tile map service counts its rows from the bottom`() async throws {
    let source = folder.file("tms").path
    try Self.write(Self.png, to: "\(source)/1/0/0.png")
    try Self.write(
      Array("<TileMap><TileSets profile=\"mercator\"/></TileMap>".utf8),
      to: "\(source)/tilemapresource.xml")
    _ = try await TileImport().run(source, into: target)
    try await store { (store) async throws in
      let addresses = try await store.read { (snapshot) throws(FieldpackError) in
        try snapshot.tileAddresses(of: "tms")
      }
      #expect(addresses == [TileAddress(zoom: 1, column: 0, row: 1)])
    }
  }

  @Test func `what cannot be imported leaves no file`() async throws {
    let cases: [(String, FieldpackError.Code, String)] = [
      (
        try mbTiles("v.mbtiles", metadata: [("format", "pbf")], tiles: [(0, 0, 0, [0x1F, 0x8B])]),
        .unsupported,
        "v.mbtiles holds vector tiles (pbf), which are not imported, only pictures: PNG, JPEG, WebP"
      ),
      (
        try mbTiles("w.mbtiles", tiles: [(0, 0, 0, Self.png), (1, 0, 0, [0x1F, 0x8B, 8])]),
        .unsupported,
        "w.mbtiles holds vector tiles (pbf), which are not imported, only pictures: PNG, JPEG, WebP"
      ),
      (
        try mbTiles("far.mbtiles", tiles: [(1, 2, 0, Self.png)]), .invalidData,
        "far.mbtiles has tiles of zoom 1 whose addresses lie outside of the grid"
      ),
      (
        try mbTiles("low.mbtiles", tiles: [(1, 0, Int.min, Self.png)]), .invalidData,
        "low.mbtiles has tiles of zoom 1 whose addresses lie outside of the grid"
      ),
      (try mbTiles("none.mbtiles", tiles: []), .invalidData, "none.mbtiles has no tiles"),
      (
        try mbTiles("text.mbtiles", tiles: [(0, 0, 0, Array("<html>".utf8))]), .invalidData,
        "tile 0/0/0 of 'text' is no picture, not PNG, JPEG or WebP"
      ),
    ]
    for (source, code, message) in cases {
      let error = await #expect(throws: FieldpackError.self) {
        try await TileImport().run(source, into: target)
      }
      #expect(error?.code == code)
      #expect(error?.message.hasSuffix(message) == true, "\(error?.message ?? "")")
    }
    #expect(try names().filter { !$0.hasSuffix(".mbtiles") } == [])
  }

  @Test func `a pyramid that exists is kept or replaced`() async throws {
    let first = try mbTiles(tiles: [(0, 0, 0, Self.png)])
    let second = try mbTiles("b.mbtiles", tiles: [(1, 0, 0, Self.jpeg)])
    _ = try await TileImport().run(first, into: target)
    var importing = TileImport(layer: "Ortho")
    let error = await #expect(throws: FieldpackError.self) {
      try await importing.run(second, into: target)
    }
    #expect(error?.code == .cannotCreate)
    importing.replaces = true
    _ = try await importing.run(second, into: target)
    try await store { (store) async throws in
      #expect(try await store.tilePyramids().map(\.name) == ["Ortho"])
      #expect(
        try await store.webTile(.init(zoom: 1, column: 0, row: 1), of: "ortho")?.bytes == Self.jpeg)
    }
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `GDAL reads the same pixels`() async throws {
    let source = try mbTiles(
      metadata: [("name", "a"), ("format", "png"), ("bounds", "-180,-85.0511,180,85.0511")],
      tiles: [
        (1, 0, 0, try Self.picture(1)), (1, 1, 0, try Self.picture(2)),
        (1, 0, 1, try Self.picture(3)),
      ])
    _ = try await TileImport().run(source, into: target)
    let again = folder.file("again.mbtiles").path
    try await store { (store) async throws in
      _ = try await TileExport().run("ortho", of: store, to: again)
    }
    let script = """
      import hashlib, sys
      from osgeo import gdal
      gdal.UseExceptions()
      for path in sys.argv[1:]:
        ds = gdal.Open(path)
        print(ds.RasterXSize, ds.RasterYSize, hashlib.md5(ds.ReadRaster()).hexdigest())
      """
    let result = try await Program.run(
      try #require(Programs.gdalPython), ["-c", script, source, target, again])
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3 && Set(lines).count == 1, "\(result)")
    #expect(lines.first?.hasPrefix("512 512 ") == true, "\(result)")
  }

  // MARK: Files

  private static func picture(_ number: Int) throws -> [UInt8] {
    let size = PictureSize(width: 256, height: 256)
    let pixels = (0..<256 * 256).flatMap { pixel -> [UInt8] in
      let (x, y) = (pixel % 256, pixel / 256)
      return [UInt8(x * number % 256), UInt8((x + y) % 256), UInt8(y), 255]
    }
    return try PNGEncoder.bytes(of: Bitmap(size, bytes: pixels))
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }
}
