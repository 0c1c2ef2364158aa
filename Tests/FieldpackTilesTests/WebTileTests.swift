import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMedia
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTiles

@Suite(.programs) struct WebTileTests {
  /// Cut short: what is given unchanged is not decoded.
  private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 1]
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
  private static let webp: [UInt8] = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8 ".utf8)

  /// Two levels around Zermatt whose origin lies on no tile of web maps, whose tiles are no squares,
  /// and whose pixels are not halved.
  static let odd = TilePyramid(
    "odd", srs: SRS("EPSG", 3857),
    bounds: Envelope(
      minX: 850_123.4, minY: 5_780_000.6, maxX: 850_123.4 + 96_000, maxY: 5_780_000.6 + 64_000),
    matrices: [
      TileMatrix(
        zoom: 2, width: 2, height: 2, tileWidth: 120, tileHeight: 80, pixelWidth: 400,
        pixelHeight: 400),
      TileMatrix(
        zoom: 5, width: 8, height: 5, tileWidth: 100, tileHeight: 100, pixelWidth: 120,
        pixelHeight: 128),
    ])

  @Test func `a stored tile of the same grid is given unchanged`() async throws {
    let package = try await TilesPackage(.webMercator("map", zooms: 1...2)) {
      (address) throws(FieldpackError) in
      switch (address.zoom, address.column, address.row) {
      case (1, 0, 0): Self.png
      case (1, 1, 0): Self.jpeg
      case (2, 3, 1): Self.webp
      default: nil
      }
    }
    try await package.withStore { (store) async throws in
      for (address, bytes, type) in [
        (TileAddress(zoom: 1, column: 0, row: 0), Self.png, "image/png"),
        (TileAddress(zoom: 1, column: 1, row: 0), Self.jpeg, "image/jpeg"),
        (TileAddress(zoom: 2, column: 3, row: 1), Self.webp, "image/webp"),
      ] {
        #expect(
          try await store.webTile(address, of: "MAP")
            == Tile(address: address, mediaType: type, bytes: bytes))
      }
      #expect(try await store.webTile(.init(zoom: 1, column: 1, row: 1), of: "map") == nil)
      #expect(try await store.webTile(.init(zoom: 2, column: 0, row: 0), of: "map") == nil)
    }
  }

  @Test func `zooms without a level are made of the nearest level`() async throws {
    let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]]
    // GDAL, too, describes levels that have no tiles.
    let package = try await TilesPackage(.webMercator("map", zooms: 0...4)) {
      (address) throws(FieldpackError) in
      // The one at the lower right is a gap.
      address.zoom != 1 || address.column + address.row == 2
        ? nil : Self.plain(colors[address.row * 2 + address.column])
    }
    try await package.withStore { (store) async throws in
      let world = try await Self.pixels(store, .init(zoom: 0, column: 0, row: 0), "map")
      #expect(Self.pixel(world, 0, 0) == [255, 0, 0, 255])
      #expect(Self.pixel(world, 127, 127) == [255, 0, 0, 255])
      #expect(Self.pixel(world, 128, 127) == [0, 255, 0, 255])
      #expect(Self.pixel(world, 127, 128) == [0, 0, 255, 255])
      #expect(Self.pixel(world, 128, 128) == [0, 0, 0, 0])
      let near = try await Self.pixels(store, .init(zoom: 4, column: 8, row: 7), "map")
      #expect(Self.pixel(near, 0, 0) == [0, 255, 0, 255])
      #expect(Self.pixel(near, 255, 255) == [0, 255, 0, 255])
      #expect(try await store.webTile(.init(zoom: 4, column: 8, row: 8), of: "map") == nil)
    }
  }

  /// Each zoom of `odd`, at its edges and inside.
  static let addresses = [
    TileAddress(zoom: 9, column: 267, row: 181), TileAddress(zoom: 10, column: 534, row: 363),
    TileAddress(zoom: 11, column: 1070, row: 727), TileAddress(zoom: 13, column: 4283, row: 2909),
  ]

  @Test(.enabled(if: Programs.gdalwarp != nil, Comment(rawValue: Programs.noGDALWarp)))
  func `tiles of an odd grid with gaps are those of GDAL`() async throws {
    let package = try await TilesPackage(Self.odd) { (address) throws(FieldpackError) in
      guard (address.column + address.row) % 5 != 3 else { return nil }
      return try TilesPackage.smooth(address, of: Self.odd)
    }
    try await package.withStore { (store) async throws in
      for address in Self.addresses {
        let area = try #require(WebMercator.envelope(of: address))
        let matrix = try #require(Self.odd.matrix(matching: area.width / 256))
        let expected = try await Self.gdal(package, "odd", area, zoom: matrix.zoom, "average")
        let found = try await Self.pixels(store, address, "odd")
        try Self.expectNear(found, expected, "\(address)")
      }
    }
  }

  @Test(.enabled(if: Programs.gdalwarp != nil, Comment(rawValue: Programs.noGDALWarp)))
  func `tiles of another system are warped as by GDAL`() async throws {
    let pyramid = TilePyramid(
      "world", srs: .wgs84, bounds: Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90),
      zooms: 2...3, width: 2, tileSize: 32)
    let package = try await TilesPackage(pyramid) { (address) throws(FieldpackError) in
      guard (address.column, address.row) != (3, 1) else { return nil }
      return try TilesPackage.smooth(address, of: pyramid)
    }
    try await package.withStore { (store) async throws in
      for address in [TileAddress(zoom: 0, column: 0, row: 0), .init(zoom: 2, column: 1, row: 1)] {
        let area = try #require(WebMercator.envelope(of: address))
        let level = address.zoom + 1 == 1 ? 2 : 3
        let expected = try await Self.gdal(package, "world", area, zoom: level, "near")
        let found = try await Self.pixels(store, address, "world")
        try Self.expectNear(found, expected, "\(address)")
      }
    }
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    .enabled(if: Programs.gdalwarp != nil, Comment(rawValue: Programs.noGDALWarp)),
    .enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)))
  func `JPEG tiles of another program are decoded and warped`() async throws {
    let package = try TilesPackage(copying: SharedData.url("real/gpkg/tiles2.gpkg"))
    try await package.withStore { (store) async throws in
      let address = TileAddress(zoom: 4, column: 0, row: 4)
      let area = try #require(WebMercator.envelope(of: address))
      let expected = try await Self.gdal(package, "imagery", area, zoom: 4, "near")
      let found = try await Self.pixels(store, address, "imagery")
      // Decoders of JPEG smooth the colours, which are kept for four pixels together, differently.
      try Self.expectNear(found, expected, "\(address)", tolerance: 20)
    }
  }

  @Test func `the coverage is the area of the matrices or of the tiles`() async throws {
    let package = try await TilesPackage(.webMercator("map", zooms: 1...2)) {
      (address) throws(FieldpackError) in
      address.zoom == 1 && address.row == 0 || address == .init(zoom: 2, column: 3, row: 3)
        ? Self.png : nil
    }
    try await package.withStore { (store) async throws in
      let edge = 20_037_508
      for (zoom, area) in [
        (nil, [-edge, -edge, edge, edge]), (1, [-edge, 0, edge, edge]),
        (2, [edge / 2, -edge, edge, -edge / 2]),
      ] as [(Int?, [Int])] {
        let coverage = try await store.tileCoverage(of: "map", zoom: zoom)
        let found = try #require(coverage.envelope)
        #expect(
          [found.minX, found.minY, found.maxX, found.maxY].map { Int($0) } == area)
        guard case .polygon(let rings, _) = coverage else {
          Issue.record("\(coverage)")
          continue
        }
        #expect(rings.map(\.count) == [5])
      }
      #expect(try await store.tileCoverage(of: "map", zoom: 3) == .multiPolygon([], .xy))
    }
  }

  @Test func `what cannot be given is an error that says why`() async throws {
    let local = TilePyramid(
      "local", srs: .undefinedCartesian, bounds: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1),
      zooms: 0...0)
    let package = try await TilesPackage(local) { (_) throws(FieldpackError) in Self.png }
    try await package.withStore { (store) async throws in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createTilePyramid(.webMercator("map", zooms: 1...8))
        try writer.putTile(Self.jpeg, at: .init(zoom: 1, column: 0, row: 0), of: "map")
        try writer.createTilePyramid(.webMercator("fine", zooms: 8...8))
        for column in 0..<20 {
          for row in 0..<13 {
            try writer.putTile(Self.png, at: .init(zoom: 8, column: column, row: row), of: "fine")
          }
        }
      }
      func failure(
        _ layer: LayerID, _ zoom: Int, _ column: Int, _ row: Int
      ) async throws -> FieldpackError? {
        await #expect(throws: FieldpackError.self) {
          try await store.webTile(
            .init(zoom: zoom, column: column, row: row), of: layer, ffmpeg: FFmpeg(program: nil))
        }
      }
      var error = try await failure("none", 0, 0, 0)
      #expect(error?.code == .notFound)
      error = try await failure("map", 2, 4, 0)
      #expect(error?.code == .invalidArgument)
      #expect(
        error?.message
          == "web maps have no tile 2/4/0: zoom is 0 to 30, x and y are 0 to 2^zoom - 1")
      error = try await failure("map", 31, 0, 0)
      #expect(error?.code == .invalidArgument)
      error = try await failure("local", 0, 0, 0)
      #expect(error?.code == .unsupported)
      #expect(
        error?.message
          == "the tiles of 'local' have no reference system, so nobody can tell where they lie")
      error = try await failure("map", 0, 0, 0)
      #expect(error?.code == .invalidData)
      error = try await failure("fine", 0, 0, 0)
      #expect(error?.code == .unsupported)
      #expect(
        error?.message
          == "tile 0/0/0 of 'fine' would be made of more than 256 stored tiles; its zoom levels are 8"
      )
    }
  }

  // MARK: Pictures

  /// Of fewer pixels than its matrix tells.
  private static func plain(_ color: [UInt8]) -> [UInt8] {
    TestPicture.png(color: (color[0], color[1], color[2]))
  }

  private static func pixels(
    _ store: GeoPackageStore, _ address: TileAddress, _ layer: LayerID
  ) async throws -> [UInt8] {
    let tile = try #require(try await store.webTile(address, of: layer))
    #expect(tile.mediaType == "image/png" && tile.address == address)
    let bitmap = try PNGDecoder.bitmap(of: tile.bytes, name: "tile", limit: 1 << 20)
    #expect(bitmap.size == PictureSize(width: 256, height: 256))
    return bitmap.bytes
  }

  private static func pixel(_ pixels: [UInt8], _ x: Int, _ y: Int) -> [UInt8] {
    Array(pixels[4 * (y * 256 + x)..<4 * (y * 256 + x) + 4])
  }

  /// The same area out of the same level by GDAL: red, green, blue and alpha of each pixel.
  private static func gdal(
    _ package: TilesPackage, _ layer: String, _ area: Envelope, zoom: Int, _ method: String
  ) async throws -> [UInt8] {
    let path = package.folder.file("\(UUID().uuidString).raw").path
    let bounds = [area.minX, area.minY, area.maxX, area.maxY].map { "\($0)" }
    let result = try await Program.run(
      try #require(Programs.gdalwarp),
      [
        "-q", "-of", "ENVI", "-co", "INTERLEAVE=BIP", "-oo", "TABLE=\(layer)", "-oo",
        "ZOOM_LEVEL=\(zoom)", "-oo", "USE_TILE_EXTENT=YES", "-ovr", "NONE", "-r", method, "-et",
        "0", "-t_srs", "EPSG:3857", "-te",
      ] + bounds + ["-ts", "256", "256", package.path, path])
    try #require(result.status == 0, "\(result)")
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Where both are opaque the colours are the same but for rounding; where one is clear the other
  /// is, except at edges.
  private static func expectNear(
    _ found: [UInt8], _ expected: [UInt8], _ name: String, tolerance: Int = 2
  ) throws {
    try #require(found.count == expected.count)
    var (opaque, edges, wrong, worst, sum) = (0, 0, 0, 0, 0)
    for pixel in stride(from: 0, to: found.count, by: 4) {
      let (a, b) = (found[pixel + 3], expected[pixel + 3])
      switch (a, b) {
      case (255, 255):
        opaque += 1
        for channel in 0..<3 {
          let distance = abs(Int(found[pixel + channel]) - Int(expected[pixel + channel]))
          worst = max(worst, distance)
          sum += distance
        }
      case (0, 0): break
      default:
        // A pixel at an edge is partly clear, or belongs to the side that its middle is on.
        edges += 1
        if a == 255 && b == 0 || a == 0 && b == 255 { wrong += 1 }
      }
    }
    #expect(opaque > 500, "\(name)")
    #expect(worst <= tolerance && sum < 3 * opaque, "\(name): \(worst) \(sum)")
    #expect(edges < 2000 && wrong < 600, "\(name): \(edges) \(wrong)")
  }
}
