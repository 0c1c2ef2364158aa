import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation

@testable import FieldpackWFS

/// MapServer as a program behind a small server, over a GeoPackage in a folder of its own.
final class MapServerPeer: Sendable {
  let folder: TemporaryFolder
  let server: LoopbackServer

  /// - Parameter layers: schemas with the features, which have integer ids.
  init(_ layers: [(Schema, [Feature])]) async throws {
    folder = try TemporaryFolder()
    let package = folder.file("survey.gpkg").path
    try PeerLayers.write(layers, to: package)
    let map = try folder.write(Self.map(layers.map(\.0), package), to: "survey.map").path
    let configuration = try folder.write(
      "CONFIG\n ENV\n  MS_MAP_PATTERN \".\"\n END\nEND\n", to: "mapserver.conf")
    let path = configuration.path
    server = try LoopbackServer { request in Self.answer(request, map, path) }
  }

  /// The address, with a parameter of its own that every request has to keep.
  var address: String { server.address + "/cgi?map=survey" }

  func store(_ version: WFSVersion) throws -> WFSStore {
    try WFSStore(
      WFSService(
        store: "survey", version: version, address: address,
        connection: WFSConnection(client: HTTPClient(), logger: .silent, fields: [:]),
        pageSize: 100))
  }

  func truth() async throws -> GeoPackageStore {
    try await GeoPackageStore(path: folder.file("survey.gpkg").path, id: "survey")
  }

  // MARK: Requests

  private static func answer(
    _ request: LoopbackServer.Request, _ map: String, _ configuration: String
  ) -> LoopbackServer.Reply {
    let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    let host = (request["Host"] ?? "").split(separator: ":").map(String.init)
    var environment = [
      "MAPSERVER_CONFIG_FILE": configuration, "MS_MAPFILE": map,
      "REQUEST_METHOD": request.method,
      "QUERY_STRING": String(query).replacing("map=survey&", with: ""),
      "SERVER_NAME": host[0], "SERVER_PORT": host[1], "SCRIPT_NAME": "/cgi",
    ]
    if !request.body.isEmpty {
      environment["CONTENT_LENGTH"] = String(request.body.count)
      environment["CONTENT_TYPE"] = "text/xml"
    }
    let input = request.body.isEmpty ? nil : Data(request.body)
    guard let output = run(environment, input) else { return .nothing }
    return reply(Array(output))
  }

  /// Runs the program on the thread of the connection.
  private static func run(_ environment: [String: String], _ input: Data?) -> Data? {
    guard let program = Programs.mapserv else { return nil }
    let result = Locked<Result<Data, any Error>?>(nil)
    Task.detached {
      do {
        let run = try await Program.run(program, [], input: input, environment: environment)
        result.change { $0 = .success(run.outputBytes) }
      } catch { result.change { $0 = .failure(error) } }
    }
    return try? result.wait { $0 }.get()
  }

  /// Takes the header of the answer, which ends with an empty line, from its body.
  private static func reply(_ output: [UInt8]) -> LoopbackServer.Reply {
    let text = String(decoding: output, as: UTF8.self)
    let end = text.firstRange(of: "\r\n\r\n") ?? text.firstRange(of: "\n\n")
    guard let end else { return .nothing }
    var status = 200
    var fields: [[String]] = []
    for line in text[..<end.lowerBound].split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { continue }
      let value = parts[1].trimmedOfSpace
      if parts[0] == "Status" {
        status = Int(value.prefix(3)) ?? 500
      } else {
        fields.append([parts[0], value])
      }
    }
    return .response(status, fields: fields, body: Array(text[end.upperBound...].utf8))
  }

  // MARK: The map

  private static func map(_ schemas: [Schema], _ package: String) -> String {
    let layers = schemas.map { schema in
      let type =
        switch schema.geometry?.type {
        case .point: "POINT"
        case .lineString: "LINE"
        default: "POLYGON"
        }
      let code = schema.geometry?.srs.code ?? 4326
      return """
        LAYER
          NAME "\(schema.layer)"
          TYPE \(type)
          STATUS ON
          CONNECTIONTYPE OGR
          CONNECTION "\(package)"
          DATA "SELECT fid AS gid, * FROM \(schema.layer)"
          PROJECTION "init=epsg:\(code)" END
          METADATA
            "wfs_title" "The \(schema.layer)"
            "wfs_srs" "EPSG:\(code)"
            "gml_featureid" "gid"
            "gml_include_items" "\(schema.columns.map(\.name).joined(separator: ","))"
            "gml_types" "auto"
          END
        END
        """
    }
    return """
      MAP
        NAME "survey"
        EXTENT -180 -90 180 90
        # A system with a code would be that of all layers.
        PROJECTION "proj=longlat" "datum=WGS84" "no_defs" END
        WEB METADATA
          "wfs_title" "survey"
          "wfs_enable_request" "*"
          "wfs_getfeature_formatlist" "geojson"
        END END
        OUTPUTFORMAT
          NAME "geojson"
          DRIVER "OGR/GEOJSON"
          MIMETYPE "application/json; subtype=geojson"
          FORMATOPTION "STORAGE=stream"
          FORMATOPTION "FORM=SIMPLE"
        END
      \(layers.joined(separator: "\n"))
      END
      """
  }
}
