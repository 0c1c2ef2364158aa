import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackMedia
import FieldpackTestSupport
import Foundation

@testable import FieldpackServer

#if Server
  /// The survey for the page with the map, served from a GeoPackage.
  final class MapSurvey: Sendable {
    let folder: TemporaryFolder
    let store: GeoPackageStore
    let server: FieldServer
    let address: String
    private let client: HTTPClient

    /// - Parameter pictures: whether the eastern half of the world has an orange picture.
    init(pictures: Bool = false) async throws {
      client = try HTTPClient()
      folder = try TemporaryFolder()
      let path = folder.file("field.gpkg").path
      store = try await MapSurveyFile.make(at: path)
      if pictures {
        try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
          try Self.addPicture(writer)
        }
      }
      var options = FieldServer.Options()
      options.title = "field"
      options.isWritable = true
      server = FieldServer(of: store, options: options)
      address = "http://\(try server.listen(on: ListenAddress(port: 0)))"
    }

    /// A world of two tiles in degrees, of which there is the eastern one.
    private static func addPicture(_ writer: GeoPackageWriter) throws(FieldpackError) {
      var pyramid = TilePyramid(
        "ortho", srs: .wgs84, bounds: Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90),
        zooms: 0...1, width: 2)
      pyramid.title = "Orange"
      pyramid.description = "© <a href='https://example.org'>Survey</a>"
      try writer.createTilePyramid(pyramid)
      var bitmap = Bitmap(PictureSize(width: 256, height: 256))
      for index in bitmap.bytes.indices { bitmap.bytes[index] = [240, 140, 20, 255][index % 4] }
      try writer.putTile(
        try PNGEncoder.bytes(of: bitmap), at: TileAddress(zoom: 0, column: 1, row: 0), of: "ortho")
    }

    func get(_ path: String, fields: HTTPFields = [:]) async throws -> TestServer.Answer {
      let response = try await client.send(HTTPRequest(.get, address + path, fields: fields))
      return .init(status: response.status, fields: response.fields, body: response.body)
    }

    func close() async {
      await server.close()
      await store.close()
    }
  }
#endif
