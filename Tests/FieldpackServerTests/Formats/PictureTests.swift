import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackMedia
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// Pyramids of pictures.
  @Suite struct PictureTests {
    private static let ortho = "/collections/ortho"

    /// A picture of one colour.
    private static func picture(_ gray: UInt8, width: Int = 256) throws -> [UInt8] {
      var bitmap = Bitmap(PictureSize(width: width, height: width))
      for index in bitmap.bytes.indices { bitmap.bytes[index] = index % 4 == 3 ? 255 : gray }
      return try PNGEncoder.bytes(of: bitmap)
    }

    /// A server with the western half of a world of two tiles in degrees, and one more zoom.
    private func server() async throws -> (TestServer, [UInt8]) {
      let server = try await TestServer()
      let picture = try Self.picture(90)
      let pyramid = TilePyramid(
        "ortho", srs: .wgs84,
        bounds: Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90), zooms: 0...1, width: 2)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.createTilePyramid(pyramid)
        try writer.putTile(
          picture, at: TileAddress(zoom: 0, column: 0, row: 0), of: "ortho")
      }
      return (server, picture)
    }

    @Test func `tiles come as they are stored`() async throws {
      let (server, picture) = try await server()
      let tile = try await server.get("\(Self.ortho)/map/tiles/ortho/0/0/0")
      #expect(tile.status == 200)
      #expect(tile.fields["Content-Type"] == "image/png")
      #expect(tile.body == picture)
      let tag = try #require(tile.fields["ETag"])
      let again = try await server.get(
        "\(Self.ortho)/map/tiles/ortho/0/0/0", fields: ["If-None-Match": tag])
      #expect(again.status == 304)
      #expect(try await server.get("\(Self.ortho)/map/tiles/ortho/0/0/1").status == 204)
      for path in ["ortho/0/0/2", "ortho/0/1/0", "ortho/2/0/0", "ortho/x/0/0", "other/0/0/0"] {
        #expect(try await server.get("\(Self.ortho)/map/tiles/\(path)").status == 404, "\(path)")
      }
      #expect(try await server.get("\(Self.ortho)/map/tiles/ortho/0/0/0?x=1").status == 400)
      await server.close()
    }

    @Test func `tiles of other grids come on that of web maps, too`() async throws {
      let (server, _) = try await server()
      let tile = try await server.get("\(Self.ortho)/map/tiles/WebMercatorQuad/1/0/0")
      #expect(tile.status == 200)
      #expect(tile.fields["Content-Type"] == "image/png")
      let bitmap = try PNGDecoder.bitmap(of: tile.body, name: "tile", limit: 1 << 20)
      #expect(bitmap.size == PictureSize(width: 256, height: 256))
      #expect(Array(bitmap.bytes[..<4]) == [90, 90, 90, 255])
      #expect(try await server.get("\(Self.ortho)/map/tiles/WebMercatorQuad/1/0/1").status == 204)
      #expect(try await server.get("\(Self.ortho)/map/tiles/WebMercatorQuad/1/0/2").status == 404)
      await server.close()
    }

    @Test func `pyramids are collections with links, extent and grid`() async throws {
      let (server, _) = try await server()
      let list = try await server.get("/collections").json["collections"]?.items ?? []
      #expect(list.compactMap { $0["id"]?.string } == ["wells", "ortho"])
      let json = try await server.get(Self.ortho).json
      let links = json["links"]?.items ?? []
      #expect(
        links.compactMap { $0["rel"]?.string }
          == ["self", "alternate", "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map"])
      let box = json["extent"]?["spatial"]?["bbox"]?.items.first?.items.compactMap(\.number)
      #expect(box == [-180, -90, 180, 90])
      #expect(links.last?["href"]?.string == "\(server.address)\(Self.ortho)/map/tiles")
      let tilesets = try await server.get("\(Self.ortho)/map/tiles").json["tilesets"]?.items ?? []
      #expect(
        tilesets.compactMap { $0["tileMatrixSetId"]?.string } == ["WebMercatorQuad", "ortho"])
      for tileset in tilesets {
        for link in tileset["links"]?.items ?? [] where link["templated"] == nil {
          let path = link["href"]?.string?.dropFirst(server.address.count) ?? ""
          #expect(try await server.get(String(path)).status == 200, "\(path)")
        }
      }
      let grid = try await server.get("/tileMatrixSets/ortho").json
      #expect(grid["crs"] == "http://www.opengis.net/def/crs/OGC/1.3/CRS84")
      let matrix = grid["tileMatrices"]?.items.first
      #expect(matrix?["matrixWidth"] == .integer(2) && matrix?["matrixHeight"] == .integer(1))
      #expect(matrix?["pointOfOrigin"]?.items.compactMap(\.number) == [-180, 90])
      // The scale of WorldCRS84Quad in annex D of the standard.
      let scale = try #require(matrix?["scaleDenominator"]?.number)
      #expect(abs(scale - 279541132.0143589) < 1e-3)
      for path in ["/collections/ortho", "\(Self.ortho)/map/tiles", "/tileMatrixSets/ortho"] {
        let page = try await server.get("\(path)?f=html")
        #expect(page.status == 200 && page.text.hasPrefix("<!DOCTYPE html>"), "\(path)")
      }
      #expect(try await server.get("\(Self.ortho)/items").status == 404)
      await server.close()
    }

    @Test func `the API document has pictures only where there are some`() async throws {
      let (server, _) = try await server()
      let paths = try await server.get("/api").json["paths"]
      #expect(paths?["/collections/{mapId}/map/tiles"] != nil)
      await server.close()
      let other = try await TestServer()
      #expect(try await other.get("/api").text.contains("mapId") == false)
      await other.close()
    }
  }
#endif
