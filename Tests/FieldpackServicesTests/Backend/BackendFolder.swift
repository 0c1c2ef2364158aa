import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation

@testable import FieldpackServices

/// A device with a config of its own, whose backend is a ``FakeBroker``.
struct BackendFolder {
  let folder: TemporaryFolder
  let data: DataService
  let configs: ConfigService
  let clock = TestClock()
  let network: FakeNetwork

  init(_ path: NetworkPath = .wan) async throws {
    folder = try TemporaryFolder()
    network = FakeNetwork(path)
    let stores = try StoreFolder()
    data = DataService(context: stores.context)
    configs = ConfigService([try folder.write(#"{"stores": []}"#, to: "own.scfg").path], data: data)
    try await configs.start()
  }

  var kept: URL { folder.file("remote/\(RemoteConfigFile.name)") }
  var keptText: String? { try? String(contentsOf: kept, encoding: .utf8) }

  func keep(_ text: String) throws {
    try FileManager.default.createDirectory(
      at: folder.file("remote"), withIntermediateDirectories: true)
    try text.write(to: kept, atomically: true, encoding: .utf8)
  }

  func backend(
    _ broker: FakeBroker, signedIn: SignedInFake = SignedInFake("j.w.t"),
    authentication: RemoteConfig.Authentication = .server
  ) throws -> BackendService {
    let remote = RemoteConfig(
      uri: "http://localhost:8085", broker: .init(isEncrypted: false, host: "localhost"),
      authentication: authentication)
    return try BackendService(
      remote, broker: broker, signedIn: signedIn, configs: configs, reachability: network,
      folder: folder.file("remote").path, device: "D1", clock: clock.clock)
  }

  /// A config with a store of that id and a form.
  static func config(_ store: String, more: String = "") -> String {
    #"{"stores": [\#(self.store(store))], "forms": [\#(form)]\#(more)}"#
  }

  static func store(_ id: String) -> String {
    #"{"id": "\#(id)", "store_type": "gpkg", "uri": "\#(id).gpkg", "style": null}"#
  }

  static let form =
    #"{"id": 1, "form_key": "visit", "form_label": "F", "version": 1, "fields": "#
    + #"[{"id": 1, "field_key": "k", "field_label": "K", "type": "string"}]}"#

  /// The stores and forms that are there.
  var known: [String] {
    get async {
      data.workspace.members.map(\.id.rawValue) + (await configs.forms.map(\.key))
    }
  }
}

extension BackendEvent {
  /// In few words.
  var line: String {
    switch self {
    case .offline: "offline"
    case .connected: "connected"
    case .disconnected(let error): "disconnected: \(error.message)"
    case .registered: "registered"
    case .configReceived(let origin): "config of \(origin)"
    case .configChanged(let action, let subject): "\(action) \(subject)"
    case .notification(let notification): "notification \(notification.title)"
    case .failed(let error): "failed: \(error.message)"
    }
  }
}

/// Waits for events of a backend, from the first on.
final class BackendEvents {
  private var iterator: EventBatches<BackendEvent>.Iterator
  private(set) var lines: [String] = []

  init(_ backend: BackendService) { iterator = backend.events(from: 0).makeAsyncIterator() }

  /// Waits until there are so many, and gives them all.
  func until(_ count: Int, isolation: isolated (any Actor)? = #isolation) async -> [String] {
    while lines.count < count, let batch = await iterator.next(isolation: isolation) {
      if case .events(let events) = batch { lines += events.map(\.line) }
    }
    return lines
  }
}
