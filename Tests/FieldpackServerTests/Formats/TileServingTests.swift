import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackMedia
import FieldpackTestSupport
import FieldpackTiles
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Tiles by other addresses, of all layers, of pictures, and those that are kept.
  @Suite(.programs) struct TileServingTests {
    private static let wells = "/collections/wells/tiles"

    /// A server with a second layer, a square from 0, 0 to 10, 10.
    private func server() async throws -> TestServer {
      let server = try await TestServer()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "zones", geometry: GeometryColumn(type: .polygon),
            columns: [ColumnDefinition("use", .text())]))
        try writer.create(
          Feature(
            geometry: Geometry(Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10)),
            attributes: ["use": "field"]), in: "zones")
      }
      return server
    }

    @Test func `x stands before y where the address ends with mvt`() async throws {
      let server = try await server()
      for (ogc, web) in [("0/0/0", "0/0/0"), ("1/0/1", "1/1/0"), ("5/15/17", "5/17/15")] {
        let tile = try await server.get("\(Self.wells)/WebMercatorQuad/\(ogc)")
        let other = try await server.get("\(Self.wells)/\(web).mvt")
        #expect(tile.status == 200 && other.status == 200, "\(ogc)")
        #expect(tile.body == other.body)
        #expect(other.fields["Content-Type"] == "application/vnd.mapbox-vector-tile")
      }
      for path in ["1/0/2.mvt", "x/0/0.mvt", "0/0/0.png", "0/0.mvt", "23/0/0.mvt", "0/0/0"] {
        #expect(try await server.get("\(Self.wells)/\(path)").status == 404, "\(path)")
        #expect(try await server.get("/tiles/\(path)").status == 404, "\(path)")
      }
      #expect(try await server.get("\(Self.wells)/2/0/3.mvt").status == 204)
      #expect(try await server.get("\(Self.wells)/0/0/0.mvt?x=1").status == 400)
      #expect(try await server.get("/tiles/0/0/0.mvt?x=1").status == 400)
      #expect(try await server.get("/tiles/0/0/0.mvt", "DELETE").status == 405)
      #expect(try await server.get("/tiles", "OPTIONS").fields["Allow"] == "GET, HEAD, OPTIONS")
      await server.close()
    }

    @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
    func `GDAL finds all layers in one tile`() async throws {
      let server = try await server()
      let file = server.folder.file("0.mvt")
      let tile = try await server.get("/tiles/0/0/0.mvt?properties=name,use")
      try Data(tile.body).write(to: file)
      let script = """
        from osgeo import gdal, ogr
        import sys
        gdal.UseExceptions()
        source = gdal.OpenEx(sys.argv[1], gdal.OF_VECTOR)
        for layer in sorted(source.GetLayer(i).GetName() for i in range(source.GetLayerCount())):
          one = source.GetLayerByName(layer)
          names = [one.GetLayerDefn().GetFieldDefn(i).GetName()
            for i in range(one.GetLayerDefn().GetFieldCount())]
          print(layer, one.GetFeatureCount(), *sorted(set(names) - {"mvt_id"}))
        """
      let result = try await Program.run(Programs.gdalPython ?? "", ["-c", script, file.path])
      #expect(result.output == "wells 19 name\nzones 1 use\n", "\(result)")
      await server.close()
    }

    @Test func `TileJSON tells the layers of all tiles`() async throws {
      let server = try await server()
      let json = try await server.get("/tiles").json
      #expect(json["tiles"] == [.text(server.address + "/tiles/{z}/{x}/{y}.mvt")])
      #expect(json["vector_layers"]?.items.compactMap { $0["id"]?.string } == ["wells", "zones"])
      #expect(json["bounds"]?.items.compactMap(\.number) == [0, 0, 18, 10])
      await server.close()
    }

    // MARK: Kept tiles

    private static func key(_ column: Int) -> KeptTiles.Key {
      .init(
        layers: ["wells"], address: TileAddress(zoom: 9, column: column, row: 0), counter: "1")
    }

    @Test func `kept tiles have a number of bytes, and the oldest go`() {
      let tiles = KeptTiles(mostBytes: 10_000)
      let tile = KeptTiles.Tile(type: "x", bytes: [UInt8](repeating: 1, count: 700))
      for column in 0..<10 { tiles.keep(tile, for: Self.key(column), in: 1) }
      #expect(tiles.size == 10_000)
      // The first was asked for since, so that the second to the fourth go.
      #expect(tiles[Self.key(0)] == tile)
      tiles.keep(tile, for: Self.key(10), in: 1)
      #expect(tiles.size == 8_000)
      #expect((0...10).filter { tiles[Self.key($0)] != nil } == [0, 4, 5, 6, 7, 8, 9, 10])
      let large = KeptTiles.Tile(type: "x", bytes: [UInt8](repeating: 1, count: 3_000))
      tiles.keep(large, for: Self.key(11), in: 1)
      #expect(tiles[Self.key(11)] == nil)
    }

    @Test func `tiles of an earlier state of their layers go`() {
      let tiles = KeptTiles()
      let tile = KeptTiles.Tile(type: "x", bytes: [1])
      var (old, other) = (Self.key(0), Self.key(1))
      other.layers = ["zones"]
      for key in [old, other, Self.key(2)] { tiles.keep(tile, for: key, in: 1) }
      old.counter = "2"
      tiles.keep(tile, for: old, in: 2)
      #expect(tiles[old] == tile && tiles[other] == tile)
      #expect(tiles[Self.key(0)] == nil && tiles[Self.key(2)] == nil)
      #expect(tiles.size == 602)
      for layers in tiles.layers { tiles.forget(layers, before: "2", in: 3) }
      #expect(tiles[old] == tile && tiles.size == 301)
    }

    @Test func `a tile that comes late for an earlier state throws out none of the newer one`() {
      let tiles = KeptTiles()
      let tile = KeptTiles.Tile(type: "x", bytes: [1])
      let (slow, quick) = (tiles.takeTurn(), tiles.takeTurn())
      let late = Self.key(0)
      var new = late
      new.counter = "2"
      tiles.keep(tile, for: new, in: quick)
      tiles.keep(tile, for: late, in: slow)
      tiles.forget(late.layers, before: late.counter, in: slow)
      #expect(tiles[new] == tile && tiles[late] == nil)
    }

    @Test func `a tile is kept in the forms that clients ask for`() async throws {
      let server = try await server()
      let published = PublishedStore(server.store, .init(title: "field")) { .zero }
      let router = ServerRouter(published, publicBase: nil, hosts: nil, logger: .silent)
      func tile(_ fields: HTTPFields) async throws -> (bytes: [UInt8], coding: String?) {
        let path = ["collections", "wells", "tiles", "0", "0", "0.mvt"]
        let answer = await router.answer(ServerRequest("GET", path, fields: fields))
        guard case .bytes(let bytes) = answer.body else { throw TestFailure() }
        return (bytes, answer.fields["Content-Encoding"])
      }
      let packed = try await tile(["Accept-Encoding": "gzip"])
      #expect(packed.coding == "gzip" && published.tiles.size == packed.bytes.count + 300)
      #expect(try await tile(["Accept-Encoding": "gzip"]) == packed)
      let plain = try await tile([:])
      #expect(plain.coding == nil && plain.bytes.count >= ContentCoding.shortest)
      #expect(published.tiles.size == packed.bytes.count + plain.bytes.count + 300)
      #expect(try await tile([:]) == plain)
      #expect(try await tile(["Accept-Encoding": "gzip"]) == packed)
      published.close()
      await server.close()
    }

    @Test func `a tile is made once until its layer changes`() async throws {
      let server = try await server()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.logEdits(of: "wells")
        _ = try writer.logEdits(of: "zones")
      }
      let published = PublishedStore(server.store, .init(title: "field")) { .zero }
      let router = ServerRouter(
        published, publicBase: nil, hosts: nil, logger: .silent)
      func tag(_ path: [String]) async -> String? {
        await router.answer(ServerRequest("GET", path)).fields["ETag"]
      }
      let wells = ["collections", "wells", "tiles", "0", "0", "0.mvt"]
      let zones = ["collections", "zones", "tiles", "0", "0", "0.mvt"]
      let all = ["tiles", "0", "0", "0.mvt"]
      let before = [await tag(wells), await tag(zones), await tag(all)]
      let size = published.tiles.size
      #expect([await tag(wells), await tag(zones), await tag(all)] == before)
      #expect(published.tiles.size == size && size > 0)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(3, in: "wells", set: ["name": "another"])
      }
      #expect(await tag(wells) != before[0])
      #expect(await tag(zones) == before[1])
      #expect(await tag(all) != before[2])
      // Only the name is longer, once in each of the two tiles.
      #expect(published.tiles.size > size && published.tiles.size < size + 100)
      let tile = await router.answer(ServerRequest("GET", wells))
      guard case .bytes(let bytes) = tile.body else { throw TestFailure() }
      #expect(String(decoding: bytes, as: UTF8.self).contains("another"))
      published.close()
      await server.close()
    }
  }
#endif
