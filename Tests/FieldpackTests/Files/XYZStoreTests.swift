import FieldpackCheck
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackMedia
import FieldpackTestSupport
import FieldpackTiles
import Foundation
import Testing

@testable import Fieldpack

/// Tiles of a server that are kept, and the grid that shows their addresses.
struct XYZStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("streets.gpkg").path }

  init() throws { folder = try TemporaryFolder() }

  /// The moment that the store believes it is, in milliseconds.
  private let time = Locked<Int64>(1_700_000_000_000)

  private static func tile(_ color: UInt8) throws -> [UInt8] {
    var bitmap = Bitmap(PictureSize(width: 256, height: 256))
    for index in bitmap.bytes.indices { bitmap.bytes[index] = index % 4 == 3 ? 255 : color }
    return try PNGEncoder.bytes(of: bitmap)
  }

  private func config(_ uri: String, _ options: ConfigValue.Content? = nil) throws -> StoreConfig {
    let text = """
      {"stores": [{"id": "streets", "store_type": "xyz", "version": "1", "uri": "\(uri)"\
      \(options.map { ", \"options\": \($0.json)" } ?? "")}]}
      """
    let file = try folder.write(text, to: "c.scfg")
    return try #require(try WorkspaceConfig([file.path]).stores.first)
  }

  private func fetcher(_ address: String, room: Int = 1 << 20) throws -> TileFetcher {
    let template = try XYZTemplate(try config(address))
    return TileFetcher(
      store: "streets", template: template, client: try HTTPClient(),
      cache: TileCache(
        path: path, store: "streets", source: template.digest, room: room, logger: .silent),
      logger: .silent, now: { [time] in Instant(milliseconds: time.withLock { $0 }) })
  }

  private func pass(days: Double) { time.withLock { $0 += Int64(days * 86_400_000) } }

  private func failure(
    _ fetcher: TileFetcher, _ address: TileAddress
  ) async -> FieldpackError? {
    do throws(FieldpackError) {
      _ = try await fetcher.tile(at: address)
      return nil
    } catch { return error }
  }

  private let place = TileAddress(zoom: 3, column: 2, row: 1)

  @Test func `a tile is fetched once, and its file is a sound GeoPackage`() async throws {
    let tile = try Self.tile(7)
    let server = try LoopbackServer { _ in .response(200, body: tile) }
    let fetcher = try fetcher(server.address + "/{z}/{x}/{-y}.png")
    let found = try await fetcher.tile(at: place)
    #expect(found == Tile(address: place, mediaType: "image/png", bytes: tile))
    #expect(try await fetcher.tile(at: place) == found)
    #expect(server.requests.map(\.target) == ["/3/2/6.png"])
    #expect(server.requests.map { $0["User-Agent"] } == [HTTPConfiguration().userAgent])
    await fetcher.close()
    #expect(try GeoPackageChecker(path: path, store: "x").run().groups.isEmpty)
    let store = try await GeoPackageStore(path: path, id: "kept")
    #expect(try await store.webTile(place, of: "tiles") == found)
    await store.close()
  }

  @Test func `the user of the uri goes to the server`() async throws {
    let server = try LoopbackServer { _ in .text(404, "") }
    let address = server.address.replacing("http://", with: "http://me:word@")
    let fetcher = try fetcher(address + "/{z}/{x}/{y}.png")
    #expect(try await fetcher.tile(at: place) == nil)
    #expect(server.requests.map(\.target) == ["/3/2/1.png"])
    #expect(server.requests.map { $0["Authorization"] } == ["Basic bWU6d29yZA=="])
    await fetcher.close()
  }

  @Test func `tiles are there after a restart without a network`() async throws {
    let tile = try Self.tile(8)
    var address = ""
    do {
      let server = try LoopbackServer { _ in .response(200, body: tile) }
      address = server.address + "/{z}/{x}/{y}.png"
      let fetcher = try fetcher(address)
      _ = try await fetcher.tile(at: place)
      await fetcher.close()
      withExtendedLifetime(server) {}
    }
    pass(days: 400)
    let again = try fetcher(address)
    #expect(try await again.tile(at: place)?.bytes == tile)
    let other = await failure(again, TileAddress(zoom: 0, column: 0, row: 0))
    #expect(other?.code == .unavailable)
    await again.close()
  }

  @Test func `an old tile is asked for by its tag`() async throws {
    let tile = try Self.tile(9)
    let server = try LoopbackServer { request in
      request["If-None-Match"] == #""a""#
        ? .response(304, body: [])
        : .response(
          200, fields: [["ETag", #""a""#], ["Cache-Control", "public, max-age=172800"]], body: tile)
    }
    let fetcher = try fetcher(server.address + "/{z}/{x}/{y}")
    for days in [0, 1.9, 0.2, 0.7, 0.4] {
      pass(days: days)
      #expect(try await fetcher.tile(at: place)?.bytes == tile)
    }
    #expect(server.requests.map { $0["If-None-Match"] } == [nil, #""a""#, #""a""#])
    await fetcher.close()
  }

  @Test func `what the server does not have is asked for once a day`() async throws {
    let server = try LoopbackServer { _ in .text(404, "no") }
    let fetcher = try fetcher(server.address + "/{z}/{x}/{y}")
    #expect(try await fetcher.tile(at: place) == nil)
    #expect(try await fetcher.tile(at: place) == nil)
    #expect(server.requests.count == 1)
    pass(days: 1)
    #expect(try await fetcher.tile(at: place) == nil)
    #expect(server.requests.count == 2)
    await fetcher.close()
  }

  @Test func `what is no tile is refused, and a kept tile stays`() async throws {
    let tile = try Self.tile(1)
    let answer = Locked(LoopbackServer.Reply.text(200, "<html>Please log in</html>"))
    let server = try LoopbackServer { _ in answer.withLock { $0 } }
    let fetcher = try fetcher(server.address + "/{z}/{x}/{y}")
    var error = await failure(fetcher, place)
    #expect(error?.code == .invalidData)
    #expect(
      error?.message
        == "tile 3/2/1: the server answers with no picture, not with a PNG, JPEG or WebP")
    answer.withLock {
      $0 = .response(200, body: TestPicture.png(width: 4, height: 3, color: (1, 2, 3)))
    }
    error = await failure(fetcher, place)
    #expect(error?.code == .unsupported)
    #expect(error?.message == "tile 3/2/1 is 4 x 3 pixels large, not 256 x 256")
    answer.withLock { $0 = .response(200, body: [UInt8](repeating: 0, count: 5 << 20 + 1)) }
    error = await failure(fetcher, place)
    #expect(error?.httpFailure == .tooLong)
    answer.withLock { $0 = .response(302, fields: [["Location", "http://localhost/"]], body: []) }
    error = await failure(fetcher, place)
    #expect(error?.httpFailure == .redirect)
    answer.withLock { $0 = .response(200, body: tile) }
    #expect(try await fetcher.tile(at: place)?.bytes == tile)
    answer.withLock { $0 = .text(200, "<html>") }
    pass(days: 2)
    #expect(try await fetcher.tile(at: place)?.bytes == tile)
    withExtendedLifetime(server) {}
    await fetcher.close()
  }

  @Test func `a server that asks to wait is left alone until then`() async throws {
    let tile = try Self.tile(2)
    let isBusy = Locked(true)
    let server = try LoopbackServer { _ in
      isBusy.withLock { $0 }
        ? .text(429, "slow down", fields: [["Retry-After", "60"]]) : .response(200, body: tile)
    }
    let fetcher = try fetcher(server.address + "/{z}/{x}/{y}")
    #expect(await failure(fetcher, place)?.httpFailure == .status(429, asked: .seconds(60)))
    isBusy.withLock { $0 = false }
    let error = await failure(fetcher, place)
    #expect(error?.code == .unavailable)
    #expect(
      error?.message == "tile 3/2/1: the server asks to wait until 2023-11-14T22:14:20.000Z")
    #expect(server.requests.count == 1)
    time.withLock { $0 += 60_000 }
    #expect(try await fetcher.tile(at: place)?.bytes == tile)
    await fetcher.close()
  }

  @Test func `two tiles are asked for at a time, and none twice`() async throws {
    let tile = try Self.tile(3)
    let (running, most) = (Locked(0), Locked(0))
    let server = try LoopbackServer { _ in
      let now = running.withLock { count in
        count += 1
        return count
      }
      most.withLock { $0 = max($0, now) }
      usleep(20_000)
      running.withLock { $0 -= 1 }
      return .response(200, body: tile)
    }
    let fetcher = try fetcher(server.address + "/{z}/{x}/{y}")
    let found = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<12 {
        group.addTask {
          let address = TileAddress(zoom: 3, column: number % 6, row: 0)
          return try await fetcher.tile(at: address)?.bytes == tile
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(found == 12)
    #expect(most.withLock { $0 } == 2)
    #expect(
      server.requests.map(\.target).sorted() == (0..<6).map { "/3/\($0)/0" })
    await fetcher.close()
  }

  @Test func `the oldest tiles go where there is no room`() async throws {
    let tile = try Self.tile(4)
    let server = try LoopbackServer { _ in .response(200, body: tile) }
    let fetcher = try fetcher(server.address + "/{z}/{x}/{y}", room: 3 * (tile.count + 100))
    for column in 0..<5 {
      time.withLock { $0 += 1000 }
      _ = try await fetcher.tile(at: TileAddress(zoom: 3, column: column, row: 0))
    }
    withExtendedLifetime(server) {}
    await fetcher.close()
    let store = try await GeoPackageStore(path: path, id: "kept")
    let kept = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.tileAddresses(of: "tiles")
    }
    #expect(kept.map(\.column) == [2, 3, 4])
    #expect(try await store.count(Query("fetches")) == 3)
    await store.close()
  }

  @Test func `tiles of another address do not count`() async throws {
    let tile = try Self.tile(5)
    let server = try LoopbackServer { _ in .response(200, body: tile) }
    for name in ["a", "b"] {
      let fetcher = try fetcher(server.address + "/\(name)/{z}/{x}/{y}")
      _ = try await fetcher.tile(at: place)
      await fetcher.close()
    }
    #expect(server.requests.map(\.target) == ["/a/3/2/1", "/b/3/2/1"])
  }

  // MARK: Stores

  @Test func `a config names the store, which has tiles and no features`() async throws {
    let tile = try Self.tile(6)
    let server = try LoopbackServer { _ in .response(200, body: tile) }
    let config = try config(
      server.address + "/{z}/{x}/{y}", .object(of: ["minZoom": 1, "maxZoom": "4"]))
    let store = try await StoreRegistry.standard.open(config)
    let raster = try #require(store as? any RasterStore)
    let pyramids = try await raster.tilePyramids()
    #expect(pyramids.map(\.name) == ["streets"])
    #expect(pyramids[0].matrices.map(\.zoom) == [1, 2, 3, 4])
    #expect(try await raster.webTile(place, of: "STREETS")?.bytes == tile)
    #expect(
      try await raster.webTile(TileAddress(zoom: 5, column: 0, row: 0), of: "streets") == nil)
    await #expect(throws: FieldpackError.self) {
      try await raster.webTile(TileAddress(zoom: 1, column: 2, row: 0), of: "streets")
    }
    withExtendedLifetime(server) {}
    #expect(FileManager.default.fileExists(atPath: folder.file("c.stores/streets.gpkg").path))
    #expect(try await store.schemas().isEmpty)
    #expect(try await store.count(Query()) == 0)
    #expect(try await store.prepare(Query()).count() == 0)
    await #expect(throws: FieldpackError.self) { try await store.count(Query("streets")) }
    await store.close()
    await #expect(throws: FieldpackError.self) { try await raster.webTile(place, of: "streets") }
  }

  @Test(arguments: [
    ("streets.mbtiles", "the uri of store 'streets' begins with http or https, or is 'grid:'"),
    (
      "https://example.org/{z}/{x}.png",
      "the uri of store 'streets' has the places {z}, {x}, and {y} or {-y} for rows from the bottom"
    ),
    (
      "https://{s}.example.org/{z}/{x}/{y}.png",
      "the uri of store 'streets' has a place that is not known (known: {z}, {x}, {y}, {-y})"
    ),
  ])
  func `an address that cannot be is refused`(uri: String, message: String) async throws {
    let config = try config(uri)
    let error = await #expect(throws: FieldpackError.self) {
      try await StoreRegistry.standard.open(config)
    }
    #expect(error?.code == .configuration)
    #expect(error?.message == message)
  }

  @Test func `the grid shows the address of each tile`() async throws {
    let store = try await StoreRegistry.standard.open(try config("grid:"))
    let raster = try #require(store as? any RasterStore)
    let tile = try #require(
      try await raster.webTile(TileAddress(zoom: 12, column: 345, row: 6), of: "streets"))
    let bitmap = try PNGDecoder.bitmap(of: tile.bytes, name: "grid", limit: 1 << 16)
    #expect(bitmap.size == PictureSize(width: 256, height: 256))
    // One sign for each dot of the digits.
    let lines = (0..<5).map { row in
      String(
        (0..<35).map { column -> Character in
          let pixel = ((8 + 4 * row) * 256 + 8 + 4 * column) * 4
          return bitmap.bytes[pixel + 3] == 255 ? "#" : " "
        })
    }
    #expect(
      lines == [
        " #  ###   # ### # # ###   # ###    ",
        "##    #   #   # # # #     # #      ",
        " #  ###  #  ### ### ###  #  ###    ",
        " #  #   #     #   #   # #   # #    ",
        "### ### #   ###   # ### #   ###    ",
      ])
    #expect((0..<256).allSatisfy { bitmap.bytes[4 * $0 + 3] == 255 })
    await store.close()
  }
}
