import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackServices
import FieldpackTestSupport
import Foundation

@testable import FieldpackServer

/// A server for old apps: a store of wells, a form, and a folder of bundles.
final class AppServer: Sendable {
  let folder: TemporaryFolder
  let store: GeoPackageStore
  let server: FieldServer
  let bridge: Bridge
  let address: String
  private let client: HTTPClient

  static let config = """
    {"stores": [{"id": "field", "name": "Field", "store_type": "gpkg", "version": "1",
        "uri": "field.gpkg"}],
      "forms": [{"id": 7, "form_key": "potholes", "form_label": "Potholes", "version": 1,
        "fields": [{"id": 1, "field_key": "severity", "field_label": "Severity", "type": "string",
          "is_required": true}]}]}
    """

  init(isWritable: Bool = true, withBundles: Bool = true) async throws {
    client = try HTTPClient()
    folder = try TemporaryFolder()
    let path = folder.file("field.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, version: .v14, store: "field")
    try writer.create(
      Schema(
        layer: "wells", geometry: GeometryColumn(type: .point),
        columns: [ColumnDefinition("name", .text())]))
    _ = try writer.commit()
    store = try await GeoPackageStore(path: path, id: "field")
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for number in 0..<3 {
        try writer.create(
          Feature(
            geometry: .point(x: Double(number), y: 50),
            attributes: ["name": .text("well \(number)")]), in: "wells")
      }
    }
    let config = try folder.write(Self.config, to: "survey.scfg")
    try FileManager.default.createDirectory(
      at: folder.file("bundles"), withIntermediateDirectories: true)
    let data = DataService()
    let forms = try await FormStore.open(folder: folder.file("stores").path)
    let configs = ConfigService([config.path], data: data, forms: forms)
    try await configs.start()
    try await data.register(
      forms.readOnly, as: StoreConfig(id: FormStore.id, type: "gpkg", uri: FormStore.uri))
    try await data.start(FormStore.id)
    var bridge = Bridge(data: data)
    (bridge.configs, bridge.forms, bridge.device) = (configs, forms, "D1")
    self.bridge = bridge
    var options = FieldServer.Options()
    options.isWritable = isWritable
    options.bridge = bridge
    if withBundles { options.bundles = folder.file("bundles").path }
    server = FieldServer(of: store, options: options)
    address = "http://\(try server.listen(on: ListenAddress(port: 0)))"
  }

  struct Answer {
    var status: Int
    var fields: HTTPFields
    var text: String

    var json: JSONValue { get throws { try JSONValueReader.read(text) } }
  }

  /// Asks without following to where an answer leads.
  func ask(
    _ path: String, _ method: String = "GET", fields: HTTPFields = [:], body: String? = nil
  ) async throws -> Answer {
    let url = path.hasPrefix("http") ? path : address + path
    let response = try await client.send(
      HTTPRequest(
        .init(rawValue: method), url, fields: fields,
        body: body.map { .bytes(Array($0.utf8)) } ?? .none))
    return Answer(
      status: response.status, fields: response.fields,
      text: String(decoding: response.body, as: UTF8.self))
  }

  /// Makes archives, as a program of Python says that calls `archive(name, files)`.
  func zip(_ program: String) async throws {
    let script = """
      import stat, sys, zipfile
      def entry(name, mode=None, system=3):
          info = zipfile.ZipInfo(name)
          info.compress_type = zipfile.ZIP_DEFLATED
          info.create_system = system
          if mode is not None: info.external_attr = mode << 16
          return info
      def archive(name, files):
          with zipfile.ZipFile(sys.argv[1] + '/' + name, 'w', zipfile.ZIP_DEFLATED) as zip:
              for name, content in files:
                  zip.writestr(name if isinstance(name, zipfile.ZipInfo) else entry(name), content)
      page = '<!DOCTYPE html><html><head><title>App</title></head><body></body></html>'
      \(program)
      """
    let result = try await Program.run(
      "python3", ["-W", "ignore", "-c", script, folder.file("bundles").path])
    guard result.status == 0 else { throw FieldpackError(.invalidData, "\(result)") }
  }

  /// The bundles by name, with why others are not served.
  func bundles() async throws -> [String: String] {
    guard case .array(let list)? = try await ask("/bundles").json["bundles"] else { return [:] }
    var bundles: [String: String] = [:]
    for entry in list {
      bundles[entry["name"]?.string ?? ""] = entry["refused"]?.string ?? "served"
    }
    return bundles
  }

  func close() async {
    await server.close()
    await store.close()
    await bridge.data.close()
    await bridge.forms?.close()
  }
}
