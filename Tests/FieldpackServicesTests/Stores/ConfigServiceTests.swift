import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct ConfigServiceTests {
  private let folder: StoreFolder
  private let data: DataService

  init() throws {
    folder = try StoreFolder()
    data = DataService(context: folder.context)
    for name in ["a", "b", "c"] {
      _ = try folder.folder.write(StoreFolder.geoJSON, to: "\(name).geojson")
    }
  }

  private func store(_ id: String, _ uri: String? = nil) -> String {
    #"{"id": "\#(id)", "store_type": "geojson", "uri": "\#(uri ?? id + ".geojson")"}"#
  }

  private func form(_ key: String, _ version: Int) -> String {
    #"{"id": 1, "form_key": "\#(key)", "form_label": "F", "version": \#(version), "fields": "#
      + #"[{"id": 1, "field_key": "k", "field_label": "K", "type": "string"}]}"#
  }

  private func config(_ name: String, _ text: String) throws -> String {
    try folder.folder.write(text, to: name).path
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: folder.folder.file(name), encoding: .utf8)
  }

  private var states: [String] {
    data.workspace.members.map { "\($0.id) \($0.state.status)" }
  }

  /// The events of the service so far.
  private func told(_ configs: ConfigService, from number: Int = 0) async -> [String] {
    var lines: [String] = []
    var batches = configs.events(from: number).makeAsyncIterator()
    if case .events(let events) = await batches.next(isolation: nil) {
      lines = events.map { "\($0.kind) \($0.subject ?? "-")" }
    }
    return lines
  }

  @Test func `events have the names and numbers that bridges know`() {
    #expect(
      ConfigEvent.Kind.allCases.prefix(4).map { "\($0.rawValue) \($0.name)" } == [
        "0 SC_CONFIG_SERVICE_ADDED", "1 SC_CONFIG_SERVICE_REMOVED",
        "2 SC_CONFIG_DATASERVICE_STORE_ADDED", "3 SC_CONFIG_DATASERVICE_STORE_REMOVED",
      ])
  }

  @Test func `several configs are read, and one that is broken stops no other`() async throws {
    let first = try config(
      "1.scfg",
      #"{"stores": [\#(store("a")), \#(store("gone"))], "forms": [\#(form("f", 1))]}"#)
    let broken = try config("2.scfg", "{")
    let third = try config(
      "3.scfg", #"{"stores": [\#(store("a", "b.geojson"))], "remote": "http://localhost/config"}"#)
    let configs = ConfigService([first, broken, third], data: data)
    try await configs.start()
    // Of two stores of one id the last one counts.
    #expect(states == ["gone stopped", "a running"])
    #expect(data.workspace.members[1].config.uri == "b.geojson")
    #expect(await configs.failures.map(\.code) == [.invalidData])
    #expect(await configs.forms.map(\.key) == ["f"])
    #expect(await configs.remote != nil)
    #expect(data.workspace.forms.map(\.key) == ["f"])
    #expect(
      await told(configs) == ["formAdded f", "storeAdded gone", "storeAdded a", "serviceAdded -"])
    await data.close()
  }

  @Test func `a start tries each store once`() async throws {
    let file = try config("1.scfg", #"{"stores": [\#(store("a")), \#(store("gone"))]}"#)
    var batches = data.events(from: 0).makeAsyncIterator()
    try await ConfigService([file], data: data).start()
    let batch = await batches.next(isolation: nil)
    guard case .events(let events) = batch else {
      Issue.record("no events, but \(String(describing: batch))")
      return
    }
    #expect(
      events.filter { $0.kind != .statusChange }.map { "\($0.kind) \($0.store ?? "-")" }
        == ["running a", "startFailed gone", "allStarted -"])
    await data.close()
  }

  @Test func `without any config that can be read the service fails`() async throws {
    let configs = ConfigService([try config("2.scfg", "{")], data: data)
    let error = await #expect(throws: FieldpackError.self) { try await configs.start() }
    #expect(error?.code == .invalidData)
    await data.close()
  }

  @Test func `stores are added, changed and removed, and their config with them`() async throws {
    let text = "{ \"stores\" : [\n  \(store("a"))  ],\n\t\"mine\": null}\n"
    let file = try config("1.scfg", text)
    let configs = ConfigService([file], data: data)
    try await configs.start()
    #expect(states == ["a running"])
    try await configs.addStore(
      .object(of: ["id": "b", "store_type": "geojson", "uri": "b.geojson"]))
    #expect(states == ["a running", "b running"])
    #expect(
      try self.text("1.scfg")
        == text.replacing(
          store("a"),
          with: store("a") + ",\n  " + #"{"id": "b", "store_type": "geojson", "uri": "b.geojson"}"#)
    )
    try await configs.updateStore(
      .object(of: ["id": "b", "store_type": "geojson", "uri": "c.geojson"]))
    #expect(data.workspace.members[1].config.uri == "c.geojson")
    try await configs.removeStore("b")
    #expect(states == ["a running"])
    #expect(try self.text("1.scfg") == text)
    #expect(
      await told(configs) == [
        "storeAdded a", "storeAdded b", "storeRemoved b", "storeAdded b", "storeRemoved b",
      ])
    await data.close()
  }

  @Test func `a change that means nothing changes nothing`() async throws {
    let text = #"{"stores": [\#(store("a"))]}"#
    let file = try config("1.scfg", text)
    let configs = ConfigService([file], data: data)
    try await configs.start()
    func code(_ body: () async throws -> Void) async -> FieldpackError.Code? {
      await #expect(throws: FieldpackError.self) { try await body() }?.code
    }
    #expect(
      await code { try await configs.addStore(.object(of: ["uri": "x"])) } == .invalidArgument)
    #expect(
      await code { try await configs.addStore(.object(of: ["id": "a"])) } == .invalidArgument)
    #expect(
      await code { try await configs.addStore(.object(of: ["id": "n"])) } == .invalidArgument)
    #expect(await code { try await configs.updateStore(.object(of: ["id": "z"])) } == .notFound)
    #expect(await code { try await configs.removeStore("z") } == .notFound)
    #expect(
      await code {
        try await configs.addStore(
          .object(of: ["id": "b"]), to: folder.folder.file("other.scfg").path)
      } == .notFound)
    #expect(
      await code { try await configs.addForm(.object(of: ["form_key": "f"])) } == .invalidArgument)
    #expect(try self.text("1.scfg") == text)
    #expect(states == ["a running"])
    await data.close()
  }

  @Test func `forms are added, changed and removed`() async throws {
    let file = try config("1.scfg", "{}")
    let configs = ConfigService([file], data: data)
    try await configs.start()
    let one = try ConfigDocument(Array(form("f", 1).utf8), file: "").root.content
    let two = try ConfigDocument(Array(form("f", 2).utf8), file: "").root.content
    try await configs.addForm(one)
    try await configs.updateForm(two)
    #expect(await configs.forms.map(\.version) == [2])
    try await configs.removeForm("f")
    #expect(await configs.forms == [])
    #expect(
      await told(configs) == ["formAdded f", "formRemoved f", "formAdded f", "formRemoved f"])
    await data.close()
  }

  @Test func `forms go to who takes them, each by itself`() async throws {
    final class Receiver: FormReceiver {
      let lines = Locked<[String]>([])
      func take(_ form: FormConfig) async throws(FieldpackError) {
        lines.withLock { $0.append("take \(form.key) \(form.version)") }
        if form.key == "bad" { throw FieldpackError(.unsupported, "no") }
      }
      func drop(_ key: String) async { lines.withLock { $0.append("drop \(key)") } }
    }
    let receiver = Receiver()
    let file = try config(
      "1.scfg", #"{"forms": [\#(form("bad", 1)), \#(form("f", 1))], "stores": [\#(store("a"))]}"#)
    let configs = ConfigService([file], data: data, forms: receiver)
    try await configs.start()
    #expect(await configs.failures.map(\.message) == ["no"])
    #expect(await configs.failures.first?.position?.file?.hasSuffix("1.scfg") == true)
    #expect(states == ["a running"])
    try await configs.updateForm(
      ConfigDocument(Array(form("f", 2).utf8), file: "").root.content)
    try await configs.removeForm("f")
    #expect(
      receiver.lines.withLock { $0 } == ["take bad 1", "take f 1", "take f 2", "drop f"])
    await data.close()
  }

  @Test func `all services stop and start again with the same stores, forms and configs`()
    async throws
  {
    struct Sensors: Service {
      let id = ServiceID.sensor
      func start() async throws(FieldpackError) {}
      func pause() async {}
      func resume() async {}
      func stop() async {}
    }
    let file = try config(
      "1.scfg", #"{"stores": [\#(store("a"))], "forms": [\#(form("f", 1))]}"#)
    let configs = ConfigService([file], data: data)
    let graph = try ServiceGraph([Sensors(), data, configs])
    #expect(await graph.startAll().isEmpty)
    try await configs.addConfig(
      config("2.scfg", #"{"stores": [\#(store("b")), \#(store("gone"))]}"#))
    let before = (states, await configs.forms, await configs.config?.documents.map(\.file))
    #expect(before.0 == ["a running", "b running", "gone stopped"])
    await graph.stopAll()
    #expect(states == ["a stopped", "b stopped", "gone stopped"])
    #expect(await graph.startAll().isEmpty)
    #expect(states == before.0)
    #expect(await configs.forms == before.1)
    #expect(await configs.config?.documents.map(\.file) == before.2)
    #expect(try await data.workspace.count(Query().in(stores: ["a", "b"])) == 2)
    await data.close()
  }

  @Test func `stores of a config that cannot be read stay, with their files`() async throws {
    let server = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    let (remote, other) = (store("r", server.address), store("b"))
    _ = try config("1.scfg", #"{"stores": [\#(remote)]}"#)
    let first = folder.folder.file("1.scfg").path
    let configs = ConfigService(
      [first, try config("2.scfg", #"{"stores": [\#(other)]}"#)], data: data)
    try await configs.start()
    for await event in await data.storeStarted("r") { #expect(event.kind == .running) }
    let faulty = #"{"stores": [{"id": "r", "store_type": "geojson"}]}"#
    for text in ["{", faulty] {
      _ = try config("1.scfg", text)
      try await configs.reload()
      #expect(states.sorted() == ["b running", "r running"])
      #expect(folder.names == ["r.geojson"])
    }
    _ = try config("1.scfg", #"{"stores": []}"#)
    try await configs.reload()
    #expect(states == ["b running"] && folder.names == [])
    await data.close()
  }

  @Test(arguments: ["", "/"])
  func `stores of a folder that has lost its config stay`(end: String) async throws {
    let around = folder.folder.file("all")
    try FileManager.default.createDirectory(at: around, withIntermediateDirectories: false)
    let lost = try config("all/1.scfg", #"{"stores": [\#(store("a", "../a.geojson"))]}"#)
    let configs = ConfigService(
      [around.path + end, try config("2.scfg", #"{"stores": [\#(store("b"))]}"#)],
      allowing: [folder.folder.url.path], data: data)
    try await configs.start()
    try FileManager.default.removeItem(atPath: lost)
    try await configs.reload()
    #expect(await configs.failures.map(\.code) == [.notFound])
    #expect(states.sorted() == ["a running", "b running"])
    await data.close()
  }
}
