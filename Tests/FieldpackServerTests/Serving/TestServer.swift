import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation

@testable import FieldpackServer

/// A served file of wells, whose points lie on a line from 0, 0 to 19, 19; the last has none.
final class TestServer: Sendable {
  let folder: TemporaryFolder
  let store: GeoPackageStore
  let server: FieldServer
  let address: String
  private let client: HTTPClient

  init(
    wells: Int = 20, isWritable: Bool = false, publicURL: String? = nil,
    requiresIfMatch: Bool = false, hasPublicCaptures: Bool = false,
    profile: OpeningProfile = .foreign, busyTimeout: Duration = .seconds(5),
    positions: PositionOptions = PositionOptions(), webhooks: [Webhook] = [],
    others: [LayerID] = [], connections: Int = 6,
    configure: (inout FieldServer.Options, TemporaryFolder) throws -> Void = { _, _ in },
    preparing: @escaping @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void = { _ in }
  ) async throws {
    var configuration = HTTPConfiguration()
    configuration.connectionsPerHost = connections
    client = try HTTPClient(configuration)
    folder = try TemporaryFolder()
    let path = folder.file("field.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, version: .v14, store: "field")
    try writer.create(
      Schema(
        layer: "wells", geometry: GeometryColumn(type: .point),
        columns: [
          ColumnDefinition("name", .text()), ColumnDefinition("depth", .double),
          ColumnDefinition("seen", .dateTime),
        ]))
    for layer in others {
      try writer.create(Schema(layer: layer, columns: [ColumnDefinition("name", .text())]))
    }
    _ = try writer.commit()
    // As `fieldpack serve` opens it.
    var profile = profile
    profile.mapsReads = true
    store = try await GeoPackageStore(
      path: path, id: "field", profile: profile, busyTimeout: busyTimeout)
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for index in 0..<wells {
        let place = Double(index)
        var feature = Feature(
          geometry: index == wells - 1 ? nil : .point(x: place, y: place / 2),
          attributes: ["name": .text("well \(index)")])
        feature.attributes["depth"] = index % 5 == 0 ? .null : .real(Double(index % 7))
        feature.attributes["seen"] = .dateTime(Instant(milliseconds: Int64(index) * 86_400_000))
        try writer.create(feature, in: "wells")
      }
      try preparing(writer)
    }
    var options = FieldServer.Options()
    options.title = "field"
    options.isWritable = isWritable
    options.requiresIfMatch = requiresIfMatch
    options.hasPublicCaptures = hasPublicCaptures
    options.publicURL = publicURL
    options.positions = positions
    options.webhooks = webhooks
    options.stateFolder = folder.file("state").path
    try configure(&options, folder)
    server = FieldServer(of: store, options: options)
    let listening = try server.listen(on: ListenAddress(port: 0))
    address = "http://\(listening)"
  }

  struct Answer {
    var status: Int
    var fields: HTTPFields
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { get throws { try JSONValueReader.read(text) } }
  }

  func get(
    _ path: String, _ method: String = "GET", fields: HTTPFields = [:], body: String? = nil
  ) async throws -> Answer {
    let request = HTTPRequest(
      .init(rawValue: method), address + path, fields: fields,
      body: body.map { .bytes(Array($0.utf8)) } ?? .none)
    let response = try await client.send(request)
    return Answer(status: response.status, fields: response.fields, body: response.body)
  }

  func post(
    _ path: String, _ type: String, _ text: String, fields: HTTPFields = [:]
  ) async throws -> Answer {
    var fields = fields
    fields["Content-Type"] = type
    let response = try await client.send(
      HTTPRequest(.post, address + path, fields: fields, body: .bytes(Array(text.utf8))))
    return Answer(status: response.status, fields: response.fields, body: response.body)
  }

  /// The ids of the features of a page.
  func ids(_ path: String) async throws -> [Int64] {
    let answer = try await get(path)
    guard answer.status == 200, case .array(let features)? = try answer.json["features"] else {
      throw FieldpackError(.invalidData, "\(answer.status): \(answer.text)")
    }
    return features.compactMap { feature in
      if case .integer(let id)? = feature["id"] { id } else { nil }
    }
  }

  func close() async {
    await server.close()
    await store.close()
  }
}
