import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Stores that come and go while a workspace is open.
@Suite struct WorkspaceMembersTests {
  private let folder: TemporaryFolder
  private let context: StoreContext

  init() throws {
    folder = try TemporaryFolder()
    var context = StoreContext()
    context.cache = .folder(folder.file("cache").path)
    self.context = context
  }

  private func lines(_ count: Int) -> String {
    (1...count).map { number in
      #"{"type":"Feature","properties":{"depth":\#(number)},"#
        + #""geometry":{"type":"Point","coordinates":[1,2]}}"# + "\n"
    }.joined()
  }

  /// The config of a GeoPackage with so many wells.
  private func wells(_ id: StoreID, _ count: Int) async throws -> StoreConfig {
    let file = try folder.write(lines(count), to: "wells.geojsonl")
    let target = folder.file("\(id).gpkg").path
    _ = try await FileImport().run([file.path], into: target)
    return StoreConfig(id: id, type: "gpkg", uri: "\(id).gpkg", folder: folder.url.path)
  }

  private func workspace(_ stores: [StoreConfig]) async throws -> Workspace {
    let workspace = Workspace(members: [], context: context)
    for store in stores { try await workspace.add(store) }
    return workspace
  }

  private func states(_ workspace: Workspace) -> [String] {
    workspace.members.map { "\($0.id) \($0.state.status)" }
  }

  @Test func `a store is added, replaced in its place, and removed`() async throws {
    let workspace = try await workspace([wells("a", 2), wells("b", 3)])
    #expect(try await workspace.count(Query("wells")) == 5)
    let file = try folder.write(lines(7), to: "seven.geojsonl")
    try await workspace.add(
      StoreConfig(id: "a", type: "geojson", uri: file.lastPathComponent, folder: folder.url.path))
    #expect(states(workspace) == ["a running", "b running"])
    #expect(try await workspace.count(Query()) == 10)
    try await workspace.remove("b")
    #expect(states(workspace) == ["a running"])
    #expect(try await workspace.count(Query()) == 7)
    let error = await #expect(throws: FieldpackError.self) { try await workspace.remove("b") }
    #expect(error?.code == .notFound)
    #expect(error?.message == "store 'b' is not in the workspace (it has: a)")
    await workspace.close()
    let closed = await #expect(throws: FieldpackError.self) {
      try await workspace.add(wells("c", 1))
    }
    #expect(closed?.code == .unavailable)
    #expect(closed?.message == "the workspace of store 'c' is closed")
  }

  @Test func `an update opens a store by another config, and knows no others`() async throws {
    let workspace = try await workspace([wells("a", 2)])
    _ = try await wells("b", 4)
    try await workspace.update(
      StoreConfig(id: "a", type: "gpkg", uri: "b.gpkg", folder: folder.url.path))
    #expect(try await workspace.count(Query()) == 4)
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.update(StoreConfig(id: "z", type: "gpkg", uri: "b.gpkg"))
    }
    #expect(error?.code == .notFound)
    await workspace.close()
  }

  @Test func `a store that cannot be opened is a member that says why`() async throws {
    let workspace = try await workspace([wells("a", 2)])
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.add(
        StoreConfig(id: "gone", type: "gpkg", uri: "gone.gpkg", folder: folder.url.path))
    }
    #expect(error?.code == .notFound)
    #expect(states(workspace) == ["a running", "gone stopped"])
    #expect(workspace.members[1].state.error?.message == error?.message)
    let report = QueryReport()
    #expect(try await workspace.count(Query(), report: report) == 2)
    #expect(report.current.failures.map(\.store) == ["gone"])
    await workspace.close()
  }

  @Test func `a query on a store that goes ends, and says so`() async throws {
    let workspace = try await workspace([wells("a", 5000), wells("b", 3)])
    let batches = try await workspace.query(Query("wells").in(stores: ["a"])).makeAsyncIterator()
    #expect(try await batches.next()?.isEmpty == false)
    let both = try await workspace.query(Query("wells"))
    let all = both.makeAsyncIterator()
    #expect(try await all.next()?.isEmpty == false)
    try await workspace.remove("a")
    let error = await #expect(throws: FieldpackError.self) {
      while try await batches.next() != nil {}
    }
    #expect(error?.code == .unavailable)
    var count = 0
    while let batch = try await all.next() {
      if batch.store == "b" { count += batch.count }
    }
    #expect(count == 3)
    #expect(both.report.current.failures.map(\.store) == ["a"])
    await workspace.close()
  }

  private enum Refusing: StoreType {
    static let identifier = "refusing.1"
    static func open(
      _ config: StoreConfig, in context: StoreContext
    ) async throws(FieldpackError) -> any Store {
      throw config.failure(.permission, "the role may not sign in")
    }
  }

  @Test func `a layer that only a silent store can have is an error of that store`() async throws {
    let file = try folder.write(
      #"{"stores":[{"id":"team","store_type":"refusing","uri":"team"}]}"#, to: "team.scfg")
    let workspace = try await Workspace.open([file.path], registry: StoreRegistry([Refusing.self]))
    let alone = await #expect(throws: FieldpackError.self) {
      try await workspace.count(Query("wells"))
    }
    #expect(alone?.code == .permission && alone?.message == "the role may not sign in")
    #expect(alone?.location.store == "team")
    await workspace.close()
    let two = try await self.workspace([wells("a", 2), wells("b", 3)])
    #expect(two.pause("a"))
    #expect(try await two.count(Query("wells")) == 3)
    let beside = await #expect(throws: FieldpackError.self) {
      try await two.count(Query("roads"))
    }
    #expect(beside?.code == .unavailable)
    #expect(
      beside?.message == "layer 'roads' is in none of the stores asked (there are: b/wells; "
        + "no answer from: a: store 'a' is paused)")
    await two.close()
  }

  @Test func `queries pass over a store that is paused, and report it`() async throws {
    let workspace = try await workspace([wells("a", 2), wells("b", 3)])
    #expect(workspace.pause("a"))
    #expect(!workspace.pause("a") && !workspace.pause("z"))
    #expect(states(workspace) == ["a paused", "b running"])
    let report = QueryReport()
    #expect(try await workspace.count(Query(), report: report) == 3)
    #expect(report.current.failures.map(\.error.message) == ["store 'a' is paused"])
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.count(Query().in(stores: ["a"]))
    }
    #expect(error?.code == .unavailable && error?.message == "store 'a' is paused")
    #expect(workspace.pause("a", false) && !workspace.pause("a", false))
    #expect(try await workspace.count(Query()) == 5)
    try await workspace.stop("a")
    let quiet = QueryReport()
    #expect(try await workspace.count(Query(), report: quiet) == 3)
    #expect(quiet.current.failures.isEmpty)
    _ = try await workspace.start("a")
    #expect(try await workspace.count(Query()) == 5)
    await workspace.close()
  }

  @Test func `a subscriber hears of stores that came after it`() async throws {
    let workspace = try await workspace([wells("a", 2)])
    let changes = workspace.changes(polling: nil)
    let foreign = workspace.changes(matching: Query().in(stores: ["b"]), polling: .milliseconds(10))
    try await workspace.add(wells("b", 3))
    for try await change in foreign {
      #expect(change.kind == .external && change.store == "b")
      break
    }
    _ = try await workspace.create(Feature(attributes: ["depth": 9]), in: "wells", of: "b")
    try await workspace.remove("b")
    _ = try await workspace.create(Feature(attributes: ["depth": 9]), in: "wells", of: "a")
    await workspace.close()
    var seen: [String] = []
    for try await change in changes { seen.append("\(change.kind) \(change.store)") }
    #expect(seen == ["created b", "created a"])
  }

  @Test func `a change of a store that has gone is left out`() async throws {
    let workspace = try await workspace([wells("a", 2), wells("b", 3)])
    let deep = workspace.changes(
      matching: Query("wells", where: Column<Int64>("depth") > 5), polling: nil)
    for store: StoreID in ["b", "a"] {
      _ = try await workspace.create(Feature(attributes: ["depth": 9]), in: "wells", of: store)
    }
    try await workspace.remove("b")
    for try await change in deep {
      #expect(change.store == "a")
      break
    }
    await workspace.close()
  }

  @Test func `queries go on while stores come and go`() async throws {
    let stores = [try await wells("a", 40), try await wells("b", 40), try await wells("c", 40)]
    let workspace = try await workspace(stores)
    let isOver = Locked(false)
    let codes = await withTaskGroup(of: Set<FieldpackError.Code>.self) { group in
      for number in 0..<4 {
        let query = number % 2 == 0 ? Query("wells") : Query("wells").in(stores: ["a"])
        group.addTask {
          var codes: Set<FieldpackError.Code> = []
          while !isOver.withLock({ $0 }) {
            do {
              _ = try await workspace.count(query)
              for try await batch in try await workspace.query(query) where batch.isEmpty {}
            } catch {
              codes.insert((error as? FieldpackError)?.code ?? .io)
            }
            // A store that is not there is told without waiting for anything.
            await Task.yield()
          }
          return codes
        }
      }
      for number in 0..<30 {
        let store = stores[number % 2]
        if number % 3 == 0 { try? await workspace.remove(store.id) }
        _ = try? await workspace.add(store)
        if workspace.pause(store.id) { _ = workspace.pause(store.id, false) }
      }
      isOver.withLock { $0 = true }
      return await group.reduce(into: Set()) { $0.formUnion($1) }
    }
    #expect(codes.isSubset(of: [.unavailable, .notFound]))
    #expect(try await workspace.count(Query("wells")) == 120)
    await workspace.close()
  }

  /// A type whose stores wait until a test lets them open.
  private enum Slow: StoreType {
    static let identifier = "slow.1"
    static let began = Signals()
    static let goesOn = Signals()

    static func open(
      _ config: StoreConfig, in context: StoreContext
    ) async throws(FieldpackError) -> any Store {
      began.give()
      await goesOn.wait()
      return try await GeoPackageStoreType.open(config, in: context)
    }
  }

  private final class Signals: Sendable {
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    func give() { continuation.yield() }
    func wait() async { for await _ in stream { return } }
  }

  @Test func `a store that is removed while it opens is closed again`() async throws {
    let workspace = Workspace(
      members: [], registry: StoreRegistry([Slow.self]), context: context)
    var config = try await wells("a", 2)
    config.type = "slow"
    let adding = Task { [config] in try await workspace.add(config) }
    await Slow.began.wait()
    #expect(states(workspace) == ["a started"])
    let silent = #expect(throws: FieldpackError.self) { _ = try workspace.store("a") }
    #expect(silent?.message == "store 'a' is being opened")
    try await workspace.remove("a")
    Slow.goesOn.give()
    let error = await #expect(throws: FieldpackError.self) { try await adding.value }
    #expect(error?.code == .unavailable)
    #expect(error?.message == "store 'a' was closed or replaced while it was opened")
    #expect(workspace.members.isEmpty)
    await workspace.close()
  }
}
