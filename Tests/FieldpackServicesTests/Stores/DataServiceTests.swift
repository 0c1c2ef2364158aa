import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct DataServiceTests {
  private let folder: StoreFolder
  private let clock = TestClock(.movedBySleep())

  init() throws { folder = try StoreFolder() }

  private func service(_ types: [any StoreType.Type] = []) -> DataService {
    var registry = StoreRegistry.standard
    for type in types { registry.register(type) }
    return DataService(registry: registry, context: folder.context, clock: clock.clock)
  }

  /// A store with a file of the user's own.
  private func local(_ id: String) throws -> StoreConfig {
    _ = try folder.folder.write(StoreFolder.geoJSON, to: "\(id).geojson")
    return try folder.store(id, at: "\(id).geojson")
  }

  /// What has happened so far.
  private func told(_ data: DataService) async -> [String] {
    let batches = data.events(from: 0)
    data.log.finish()
    var lines: [String] = []
    for await case .events(let events) in batches {
      lines += events.map { event in
        let progress = event.progress?.fraction.map { " \($0)" } ?? ""
        return "\(event.kind) \(event.store.map { "\($0)" } ?? "-")\(progress)"
      }
    }
    return lines
  }

  private func states(_ data: DataService) -> [String] {
    data.workspace.members.map { "\($0.id) \($0.state.status)" }
  }

  @Test func `a store is registered, started, replaced, stopped and removed`() async throws {
    let data = service()
    try await data.register(local("a"))
    #expect(states(data) == ["a stopped"])
    try await data.start("a")
    try await data.start("a")
    #expect(try await data.workspace.count(Query()) == 1)
    try await data.registerAndStart(local("b"))
    try await data.registerAndStart(local("a"))
    #expect(states(data) == ["a running", "b running"])
    try await data.update(local("a"))
    try await data.stop("a")
    try await data.stop("a")
    #expect(states(data) == ["a stopped", "b running"])
    #expect(data.activeStores.map(\.id) == ["b"])
    try await data.unregister("a")
    #expect(FileManager.default.fileExists(atPath: folder.folder.file("a.geojson").path))
    let error = await #expect(throws: FieldpackError.self) { try await data.unregister("a") }
    #expect(error?.code == .notFound)
    #expect(
      await told(data) == [
        "statusChange a", "running a", "statusChange b", "running b", "removed a",
        "statusChange a", "running a", "stopped a", "statusChange a", "running a", "stopped a",
        "removed a",
      ])
    await data.close()
  }

  @Test func `an unknown type is refused with those that are known`() async throws {
    let data = service()
    let error = await #expect(throws: FieldpackError.self) {
      try await data.register(folder.store("a", "wms", at: "http://h"))
    }
    #expect(error?.code == .configuration && error?.message.contains("gpkg.1") == true)
    #expect(data.workspace.members.isEmpty)
    await data.close()
  }

  @Test(arguments: [("FORM_STORE", "forms"), ("LOCATION_STORE", "positions")])
  func `a config cannot take the id of a store of the services`(
    id: String, content: String
  ) async throws {
    let data = service()
    let message = "the id '\(id)' is kept for the store of \(content)"
    for uri in ["wells.geojson", "http://127.0.0.1:9"] {
      let error = await #expect(throws: FieldpackError.self) {
        try await data.register(folder.store(id, at: uri))
      }
      #expect(error?.code == .configuration && error?.message == message)
    }
    let error = #expect(throws: FieldpackError.self) {
      _ = try StoreDownload(
        try folder.store(id, "gpkg", at: "http://127.0.0.1:9"), in: folder.context)
    }
    #expect(error?.code == .configuration && error?.message == message)
    #expect([FormStore.id, LocationStore.id].contains { $0.rawValue == id })
    await data.close()
  }

  @Test func `a remote store downloads its file, then runs, and takes it along`() async throws {
    let server = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    let data = service()
    let store = try folder.store("a", at: server.address)
    try await data.registerAndStart(store)
    #expect(states(data) == ["a running"] && folder.names == ["a.geojson"])
    try await data.stop("a")
    try await data.start("a")
    #expect(server.requests.count == 1)
    try await data.unregister("a")
    #expect(folder.names == [])
    #expect(
      await told(data) == [
        "statusChange a", "downloadProgress a 0.0", "downloadProgress a 1.0", "statusChange a",
        "running a", "stopped a", "statusChange a", "running a", "removed a",
      ])
    await data.close()
  }

  @Test func `a download that fails is a status and an event`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/short"
        ? .cut(StoreFolder.geoJSON, at: 9) : .text(404, "<html>gone</html>")
    }
    let data = service()
    for path in ["gone", "short"] {
      let error = await #expect(throws: FieldpackError.self) {
        try await data.registerAndStart(folder.store(path, at: "\(server.address)/\(path)"))
      }
      #expect(error?.code == (path == "gone" ? .notFound : .unavailable))
    }
    #expect(states(data) == ["gone downloadFailed", "short downloadFailed"])
    #expect(data.workspace.members.map(\.state.error?.code) == [.notFound, .unavailable])
    #expect(folder.names == [])
    #expect(
      await told(data) == [
        "statusChange gone", "statusChange gone", "startFailed gone", "statusChange short",
        "downloadProgress short 0.0", "statusChange short", "startFailed short",
      ])
    await data.close()
  }

  @Test func `a download is given up with its store`() async throws {
    let server = try LoopbackServer { _ in
      .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".utf8), waits: true)
    }
    let data = service()
    try await data.register(folder.store("a", at: server.address))
    await data.start()
    for await batch in data.events(from: 0) {
      guard case .events(let events) = batch else { break }
      if events.contains(where: { $0.kind == .downloadProgress }) { break }
    }
    #expect(states(data) == ["a downloading"])
    let query = #expect(throws: FieldpackError.self) {
      _ = try data.workspace.store("a")
    }
    #expect(query?.message == "store 'a' is being downloaded")
    await data.stop()
    #expect(states(data) == ["a stopped"] && folder.names == [])
    try await data.unregister("a")
    await data.close()
  }

  @Test func `a store that somebody else opened comes and goes with the others`() async throws {
    let file = try folder.folder.write(StoreFolder.geoJSON, to: "wells.geojson")
    let path = folder.folder.file("forms.gpkg").path
    _ = try await FileImport().run([file.path], into: path)
    let data = service()
    let config = StoreConfig(id: "FORM_STORE", type: "gpkg", uri: "spacon_form_store.db")
    let changes = data.workspace.changes(polling: nil)
    try await data.register(GeoPackageStore(path: path, id: "FORM_STORE"), as: config)
    #expect(states(data) == ["FORM_STORE stopped"])
    await data.start()
    #expect(try await data.workspace.count(Query("wells")) == 1)
    _ = try await data.workspace.create(
      Feature(attributes: ["depth": 1]), in: "wells", of: "FORM_STORE")
    for try await change in changes {
      #expect(change.kind == .created && change.store == "FORM_STORE")
      break
    }
    await data.stop()
    #expect(states(data) == ["FORM_STORE stopped"])
    let error = await #expect(throws: FieldpackError.self) {
      try await data.register(GeoPackageStore(path: path, id: "other"), as: config)
    }
    #expect(error?.code == .invalidArgument)
    await data.close()
  }

  @Test func `a store that waits for others to download is stopped at once`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let data = service()
    for id in ["a", "b", "c", "d", "e"] {
      try await data.register(folder.store(id, at: server.address))
    }
    await data.start()
    while server.requests.count < 3 { await Task.yield() }
    try await data.stop("e")
    #expect(states(data).filter { $0.hasSuffix("downloading") }.count == 3)
    #expect(states(data).last == "e stopped")
    let starting = Task { try await data.start("d") }
    starting.cancel()
    let error = await #expect(throws: FieldpackError.self) { try await starting.value }
    #expect(error?.code == .interrupted && server.requests.count == 3)
    await data.stop()
    #expect(folder.names == [])
    await data.close()
  }

  @Test func `a network that comes and goes is followed`() async throws {
    let data = service([Service.self])
    _ = try local("service")
    try await data.registerAndStart(folder.store("s", "service", at: "http://127.0.0.1:9"))
    let (stream, network) = AsyncStream.makeStream(of: Bool.self)
    for isConnected in [true, false, false, true, false] { network.yield(isConnected) }
    network.finish()
    await data.follow(stream)
    // Nobody would tell that the network is there again.
    #expect(states(data) == ["s running"])
    let lines = await told(data).dropFirst(2)
    #expect(lines == ["paused s", "resumed s", "paused s", "resumed s"])
    await data.close()
  }

  /// A store that asks its server at each query.
  private enum Service: StoreType {
    static let identifier = "service.1"
    static var downloadsFile: Bool { false }

    static func open(
      _ config: StoreConfig, in context: StoreContext
    ) async throws(FieldpackError) -> any Store {
      if config.id == "silent" {
        _ = try await context.client().send(HTTPRequest(.get, config.uri))
      }
      var local = config
      local.uri = "service.geojson"
      return try await GeoJSONStoreType.open(local, in: context)
    }
  }

  @Test func `stores of servers rest while there is no network`() async throws {
    let data = service([Service.self])
    _ = try local("service")
    try await data.registerAndStart(local("a"))
    try await data.registerAndStart(folder.store("s", "service", at: "http://127.0.0.1:9"))
    try await data.registerAndStart(folder.store("t", "service", at: "http://127.0.0.1:9"))
    try await data.pause("t")
    await data.setConnected(false)
    #expect(states(data) == ["a running", "s paused", "t paused"])
    await data.setConnected(true)
    // What somebody paused stays so.
    #expect(states(data) == ["a running", "s running", "t paused"])
    await data.pause()
    await data.resume()
    try await data.start("t")
    #expect(states(data) == ["a running", "s running", "t running"])
    let lines = await told(data).filter { !$0.hasPrefix("status") }
    #expect(
      lines.dropFirst(3) == [
        "paused t", "paused s", "resumed s", "paused a", "paused s", "resumed a", "resumed s",
        "resumed t",
      ])
    await data.close()
  }

  @Test func `a store of a server that starts without a network rests until there is one`()
    async throws
  {
    let data = service([Service.self])
    _ = try local("service")
    await data.setConnected(false)
    try await data.registerAndStart(folder.store("s", "service", at: "http://127.0.0.1:9"))
    #expect(states(data) == ["s paused"])
    await data.pause()
    await data.setConnected(true)
    #expect(states(data) == ["s paused"])
    await data.resume()
    #expect(states(data) == ["s running"])
    await data.close()
  }

  @Test func `a server that does not answer holds up no other store`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let data = service([Service.self])
    try await data.register(folder.store("silent", "service", at: server.address))
    try await data.register(local("a"))
    await data.start()
    #expect(states(data).last == "a running")
    while server.requests.isEmpty { await Task.yield() }
    #expect(states(data) == ["silent started", "a running"])
    await data.stop()
    #expect(states(data) == ["silent stopped", "a stopped"])
    await data.close()
  }

  @Test func `what failed for want of a network is tried again with it`() async throws {
    let isDown = Locked(true)
    let server = try LoopbackServer { _ in
      isDown.withLock { $0 } ? .text(503, "") : .text(200, StoreFolder.geoJSON)
    }
    let data = service()
    await data.setConnected(false)
    _ = try? await data.registerAndStart(folder.store("a", at: server.address))
    #expect(states(data) == ["a downloadFailed"] && server.requests.count == 4)
    isDown.withLock { $0 = false }
    let started = await data.storeStarted("a")
    await data.setConnected(true)
    for await event in started { #expect(event.kind == .running) }
    #expect(states(data) == ["a running"])
    await data.close()
  }

  @Test func `who waits for a store, or for any, hears of it`() async throws {
    let data = service()
    var any = data.hasStores.makeAsyncIterator()
    #expect(await any.next() == false)
    let before = await data.storeStarted("a")
    try await data.registerAndStart(local("a"))
    #expect(await any.next() == true)
    let after = await data.storeStarted("a")
    for stream in [before, after] {
      var events: [StoreEvent] = []
      for await event in stream { events.append(event) }
      #expect(events == [StoreEvent(.running, "a", status: .running)])
    }
    await data.stop()
    #expect(await any.next() == false)
    let never = await data.storeStarted("a")
    await data.close()
    for stream in [never, await data.storeStarted("b")] {
      for await event in stream { Issue.record("\(event)") }
    }
  }

  @Test func `a store is a dictionary for bridges`() async throws {
    let data = service()
    try await data.registerAndStart(local("a"))
    let text = try await data.dictionary(of: "a").text
    #expect(
      text == """
        {"storeId":"a","name":"a","service":"SC_DATA_SERVICE","type":"geojson","status":1,\
        "downloadProgress":1,"style":null,"vectorLayers":["default"],"rasterLayers":[]}
        """)
    await data.close()
  }

  /// Real configs: each store gets the state that its uri deserves, and why.
  @Test(
    .enabled(if: SharedData.isPresent, "\(SharedData.absent)"),
    arguments: [
      "ios-sdk/tests.scfg", "ios-sdk/remote.scfg", "ios-sdk/tests-old1.scfg",
      "ios-sdk/tests-old2.scfg", "ios-sdk/remote-string-url.scfg", "android-sdk/config.scfg",
      "android-sdk/remote.scfg", "android-sdk/scconfig_local.json",
      "android-sdk/exchange_remote.json", "android-sdk/scconfig-old.json", "examples/tests.scfg",
      "mobile/remote-full.scfg",
    ])
  func `every store of real configs says what it does, and why`(file: String) async throws {
    let server = try LoopbackServer { request in
      request.target.contains("json") ? .text(200, StoreFolder.geoJSON) : .text(404, "")
    }
    let config = try WorkspaceConfig([SharedData.url("spatialconnect/\(file)").path])
    let data = service()
    for var store in config.stores {
      if store.isRemote {
        let parts = store.uri.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        store.uri = server.address + "/" + (parts.count > 2 ? parts[2] : "")
      }
      try? await data.registerAndStart(store)
      guard let member = try? data.workspace.member(store.id) else {
        #expect(!StoreRegistry.standard.identifiers.contains(store.typeIdentifier))
        continue
      }
      switch member.state {
      case .open: #expect(member.store != nil)
      case .downloadFailed(let error):
        #expect(store.isRemote && !store.uri.contains("json") && error.code == .notFound)
      case .failed(let error):
        #expect(error.location.store == store.id && !error.message.isEmpty)
        #expect(!store.isRemote || store.type == "wfs")
      default: Issue.record("\(store.id) \(member.state)")
      }
    }
    await data.close()
  }
}
