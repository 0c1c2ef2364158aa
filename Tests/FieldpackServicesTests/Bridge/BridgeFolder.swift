import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackTestSupport
import Foundation

@testable import FieldpackServices

/// An app with stores, a form, a backend with its broker, and a receiver of positions; and what its pages
/// were told.
final class BridgeFolder: Sendable {
  let folder: TemporaryFolder
  let server: LoopbackServer
  let broker: FakeBroker
  let data: DataService
  let forms: FormStore
  let bridge: Bridge
  private let lines = Locked<[String]>([])

  static let sights =
    #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"dom","properties":"#
    + #"{"name":"Dom"},"geometry":{"type":"Point","coordinates":[13.401,52.519]}}]}"#

  init() async throws {
    folder = try TemporaryFolder()
    server = try LoopbackServer { request in
      switch request.target {
      case "/api/authenticate":
        String(decoding: request.body, as: UTF8.self).contains("wrong")
          ? .text(401, #"{"result":null,"error":"no"}"#)
          : .text(200, #"{"result":{"token":"j.w.t"},"error":null}"#)
      case "/api/ping": .text(200, #"{"result":"pong","error":null}"#)
      case "/api/echo":
        .text(
          200,
          #"{"token":"\#(request["Authorization"] ?? "")","#
            + #""body":\#(String(decoding: request.body, as: UTF8.self))}"#)
      case "/api/page": .text(200, "<html>")
      default: .text(404, "")
      }
    }
    broker = FakeBroker { topic, message in
      topic == "/config" ? [message.reply(#"{"stores":[],"forms":[]}"#)] : []
    }
    try await Self.makeWells(folder.file("wells.gpkg").path)
    _ = try folder.write(Self.sights, to: "sights.geojson")
    let config = try folder.write(Self.config(server.address), to: "survey.scfg")
    var context = StoreContext()
    context.cache = .folder(folder.file("cache").path)
    data = DataService(context: context)
    forms = try await FormStore.open(folder: folder.file("stores").path)
    let configs = ConfigService([config.path], data: data, forms: forms)
    try await configs.start()
    try await data.register(
      forms.readOnly, as: StoreConfig(id: FormStore.id, type: "gpkg", uri: FormStore.uri))
    try await data.start(FormStore.id)
    var bridge = Bridge(data: data)
    (bridge.configs, bridge.forms, bridge.device) = (configs, forms, "D1")
    let remote = RemoteConfig(
      uri: server.address, broker: .init(isEncrypted: false, host: "localhost"))
    let authentication = AuthenticationService(remote, folder: folder.file("tokens").path)
    bridge.authentication = authentication
    bridge.backend = try BackendService(
      remote, broker: broker, signedIn: authentication, configs: configs,
      reachability: FakeNetwork(.wan), folder: folder.file("remote").path, device: "D1")
    bridge.location = try await LocationService.open(
      folder: folder.file("stores").path, settings: .init(interval: nil)
    ) { _ in
      ScriptedSource(
        [[.fix(Fix(longitude: 13.4, latitude: 52.123456789, elevation: 34))]], isComplete: true)
    }
    self.bridge = bridge
  }

  private static func makeWells(_ path: String) async throws {
    let writer = try GeoPackageBulkWriter(creating: path, version: .v14, store: "wells")
    try writer.create(
      Schema(
        layer: "wells", geometry: GeometryColumn(type: .point),
        columns: [ColumnDefinition("name", .text()), ColumnDefinition("depth", .double)]))
    try writer.create(Schema(layer: "notes", columns: [ColumnDefinition("note", .text())]))
    _ = try writer.commit()
    let store = try await GeoPackageStore(path: path, id: "wells")
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for number in 0..<150 {
        let feature = Feature(
          geometry: .point(x: Double(number) / 10, y: 50),
          attributes: ["name": .text("well \(number)"), "depth": .real(Double(number))])
        try writer.create(feature, in: "wells")
      }
      try writer.create(Feature(attributes: ["note": "dry"]), in: "notes")
    }
    await store.close()
  }

  private static func config(_ address: String) -> String {
    #"""
    {"stores": [
      {"id": "wells", "name": "Wells", "store_type": "gpkg", "version": "1", "uri": "wells.gpkg"},
      {"id": "sights", "name": "Sights", "store_type": "geojson", "version": "1",
       "uri": "sights.geojson"}],
     "forms": [{"id": 7, "form_key": "potholes", "form_label": "Potholes", "version": 1, "fields": [
       {"id": 1, "field_key": "severity", "field_label": "Severity", "type": "select",
        "is_required": true, "constraints": {"options": ["low", "deep"]}}]}],
     "remote": {"http_protocol": "http", "http_host": "127.0.0.1",
       "http_port": \#(address.split(separator: ":").last!), "mqtt_host": "localhost"}}
    """#
  }

  /// A message with the address of the backend.
  func message(_ text: some StringProtocol) -> String {
    String(text).replacing("http://backend", with: server.address)
  }

  /// Does what a line of a transcript says.
  func perform(_ line: String, _ session: BridgeSession) async throws {
    switch line.prefix(2) {
    case "> ": await session.receive(message(line.dropFirst(2)))
    case "! ":
      let words = line.dropFirst(2).split(separator: " ", maxSplits: 2)
      if words[0] == "notify" {
        broker.give(nil, String(words[2]), to: String(words[1]))
      } else {
        try await bridge.backend?.start()
        await broker.untilSent(2)
      }
    default: await session.finish()
    }
  }

  func session(writes: Bool = true) -> BridgeSession {
    BridgeSession(of: bridge, rights: .init(writes: writes)) { [lines, server] reply in
      let port = server.address.split(separator: ":").last ?? ""
      let text = reply.text.replacing(server.address, with: "http://backend")
        .replacing("\"http_port\":\(port)", with: "\"http_port\":1")
        .replacing(#/"created_at":"[^"]*"/#, with: "\"created_at\":\"now\"")
        .replacing("\"os\":\"macos\"", with: "\"os\":\"linux\"")
      lines.withLock { $0.append(text) }
    }
  }

  /// What was told since the last call, once it is so many replies. A second too many is waited, so that
  /// a reply that fails to come fails the test.
  func told(_ count: Int) async throws -> [String] {
    for _ in 0..<4000 where lines.withLock({ $0.count }) < count {
      try await Task.sleep(for: .milliseconds(5))
    }
    return lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }

  func close() async {
    await bridge.location?.close()
    await bridge.backend?.stop()
    await data.close()
    await forms.close()
  }
}
