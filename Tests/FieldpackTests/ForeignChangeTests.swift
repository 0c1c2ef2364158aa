import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// What a subscriber hears of other programs.
@Suite(.programs, .enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
struct ForeignChangeTests {
  private let folder: TemporaryFolder
  private let path: String

  init() async throws {
    folder = try TemporaryFolder()
    path = folder.file("survey.gpkg").path
    // Without geometry there are no triggers, whose functions sqlite3 does not know.
    let file = try folder.write("depth\n5\n", to: "wells.csv")
    _ = try await FileImport().run([file.path], into: path)
  }

  /// Changes the file in a process of its own.
  private func other(_ commands: String...) async throws {
    let commands = commands.isEmpty ? ["INSERT INTO wells (depth) VALUES (6)"] : commands
    let result = try await Program.run(
      Programs.sqlite3 ?? "", ["-batch", path, ".timeout 3600000"] + commands)
    #expect(result.error == "")
    #expect(result.status == 0)
  }

  private func workspace() async throws -> Workspace {
    try await Workspace.open(file: path)
  }

  /// What a subscriber has taken so far.
  private final class Taken: Sendable {
    private let lines = Locked<[String]>([])
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ changes: some AsyncSequence<FeatureChange, FieldpackError> & Sendable) {
      let lines = lines
      let running = Task {
        do {
          for try await change in changes {
            lines.withLock { $0.append("\(change.kind) \(change.key?.description ?? "-")") }
          }
          lines.withLock { $0.append("end") }
        } catch {
          let code = (error as? FieldpackError)?.code.name ?? "\(error)"
          lines.withLock { $0.append("error \(code)") }
        }
      }
      task.withLock { $0 = running }
    }

    func cancel() { task.withLock { $0?.cancel() } }

    /// Waits for so many lines, and then for others that should not come.
    func all(_ count: Int) async throws -> [String] {
      while lines.withLock({ $0.count }) < count { try await Task.sleep(for: .milliseconds(5)) }
      try await Task.sleep(for: .milliseconds(120))
      return lines.withLock { $0 }
    }
  }

  private static let key = KeyTuple(store: "survey", layer: "wells", feature: 1)

  @Test func `tells other programs' commits from its own`() async throws {
    let workspace = try await workspace()
    let taken = Taken(workspace.changes(polling: .milliseconds(20)))
    let alone = Taken(workspace.changes(polling: nil))
    try await other()
    #expect(try await taken.all(1) == ["external -"])
    // From here on the store writes, and the file is in WAL mode.
    try await workspace.update([FeatureUpdate(Self.key, set: ["depth": 7])])
    #expect(try await taken.all(2) == ["external -", "updated \(Self.key)"])
    try await other()
    #expect(try await taken.all(3).dropFirst(2) == ["external -"])
    try await workspace.update([FeatureUpdate(Self.key, set: ["depth": 8])])
    #expect(try await taken.all(4).dropFirst(3) == ["updated \(Self.key)"])
    let more = try folder.write("depth\n9\n", to: "more.csv")
    _ = try await workspace.importFeatures(from: more.path, into: "wells", of: "survey")
    #expect(try await taken.all(5).dropFirst(4).map { $0.prefix(7) } == ["created"])
    await workspace.close()
    #expect(try await taken.all(6).last == "end")
    #expect(
      try await alone.all(4).map { $0.prefix(7) } == ["updated", "updated", "created", "end"])
    #expect(try names().filter { $0.contains("survey") } == ["survey.gpkg"])
  }

  @Test func `its own import and first write are no one else's`() async throws {
    let workspace = try await workspace()
    let taken = Taken(workspace.changes(polling: .milliseconds(10)))
    let more = try folder.write("depth\n9\n", to: "more.csv")
    for _ in 0..<3 {
      _ = try await workspace.importFeatures(from: more.path, into: "wells", of: "survey")
    }
    _ = try await taken.all(3)
    try await workspace.delete(Self.key)
    #expect(
      try await taken.all(4).map { $0.prefix(7) } == ["created", "created", "created", "deleted"])
    await workspace.close()
  }

  /// Runs `body` while another process has changed the file and not committed yet, which it does
  /// when `body` is waiting and `isReady`.
  private func whileOtherCommits<R: Sendable>(
    _ isReady: Locked<Bool> = Locked(true), _ body: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let (locked, go) = (folder.file("locked"), folder.file("go"))
    async let other: Void = other(
      "BEGIN IMMEDIATE; INSERT INTO wells (depth) VALUES (6)",
      ".system touch \(locked.path); while [ ! -e \(go.path) ]; do sleep 0.01; done", "COMMIT")
    while !FileManager.default.fileExists(atPath: locked.path) {
      try await Task.sleep(for: .milliseconds(5))
    }
    let running = Task { try await body() }
    try await Task.sleep(for: .milliseconds(200))
    while !isReady.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    _ = try folder.write("", to: "go")
    try await other
    for file in [locked, go] { try FileManager.default.removeItem(at: file) }
    return try await running.value
  }

  @Test(arguments: [false, true], [Duration.milliseconds(20), .milliseconds(600)])
  func `hears what others commit while an import waits for them`(
    hasWritten: Bool, interval: Duration
  ) async throws {
    let workspace = try await workspace()
    if hasWritten { try await workspace.update([FeatureUpdate(Self.key, set: ["depth": 7])]) }
    let taken = Taken(workspace.changes(polling: interval))
    let more = try folder.write("depth\n9\n", to: "more.csv")
    _ = try await whileOtherCommits {
      try await workspace.importFeatures(from: more.path, into: "wells", of: "survey")
    }
    #expect(try await taken.all(2).map { $0.prefix(7) }.sorted() == ["created", "externa"])
    try await other()
    #expect(try await taken.all(3).dropFirst(2) == ["external -"])
    await workspace.close()
  }

  @Test func `hears what others commit while an import waits that began before it`() async throws {
    let workspace = try await workspace()
    try await workspace.update([FeatureUpdate(Self.key, set: ["depth": 7])])
    let more = try folder.write("depth\n9\n", to: "more.csv")
    let isReady = Locked(false)
    let taken = try await whileOtherCommits(isReady) {
      async let report = workspace.importFeatures(from: more.path, into: "wells", of: "survey")
      try await Task.sleep(for: .milliseconds(100))
      let taken = Taken(workspace.changes(polling: .milliseconds(600)))
      isReady.withLock { $0 = true }
      _ = try await report
      return taken
    }
    #expect(try await taken.all(2).map { $0.prefix(7) }.sorted() == ["created", "externa"])
    await workspace.close()
  }

  @Test(arguments: [false, true])
  func `hears what others commit while an import and the first write wait`(
    isWAL: Bool
  ) async throws {
    if isWAL { try await other("PRAGMA journal_mode = WAL") }
    let workspace = try await workspace()
    let taken = Taken(workspace.changes(polling: .milliseconds(600)))
    let more = try folder.write("depth\n9\n", to: "more.csv")
    try await whileOtherCommits {
      async let report = workspace.importFeatures(from: more.path, into: "wells", of: "survey")
      try await Task.sleep(for: .milliseconds(100))
      try await workspace.update([FeatureUpdate(Self.key, set: ["depth": 7])])
      _ = try await report
    }
    // While the journal's mode changes, too, it may be found twice.
    let heard = try await taken.all(3).map { $0.prefix(7) }
    #expect(Set(heard) == ["created", "externa", "updated"])
    if isWAL { #expect(heard.count == 3) }
    await workspace.close()
  }

  @Test func `does not hear what was committed before it subscribed`() async throws {
    let workspace = try await workspace()
    try await workspace.update([FeatureUpdate(Self.key, set: ["depth": 7])])
    try await other()
    let slow = Taken(workspace.changes(polling: .milliseconds(600)))
    try await workspace.update([FeatureUpdate(Self.key, set: ["depth": 8])])
    #expect(try await slow.all(1) == ["updated \(Self.key)"])
    try await other()
    let late = Taken(workspace.changes(polling: .milliseconds(10)))
    #expect(try await slow.all(2).dropFirst() == ["external -"])
    #expect(try await late.all(0) == [])
    try await other()
    #expect(try await late.all(1) == ["external -"])
    await workspace.close()
    #expect(try await late.all(2) == ["external -", "end"])
    #expect(try names().filter { $0.contains("survey") } == ["survey.gpkg"])
  }

  @Test func `ends in quiet where it begins while the workspace is closed`() async throws {
    let workspace = try await workspace()
    workspace.hub.stopWatching()
    let taken = Taken(workspace.changes(polling: .milliseconds(10)))
    for member in workspace.members { await member.store?.close() }
    #expect(try await taken.all(0) == [])
    workspace.hub.finish()
    #expect(try await taken.all(1) == ["end"])
    await workspace.close()
    #expect(try await Taken(workspace.changes()).all(1) == ["end"])
  }

  @Test func `hears what was committed before the first look, and of asked stores only`()
    async throws
  {
    let workspace = try await workspace()
    let changes = workspace.changes(
      matching: Query("wells", where: Column<Int64>("depth") > 100), polling: .milliseconds(20))
    let none = Taken(
      workspace.changes(matching: Query().in(stores: ["elsewhere"]), polling: .milliseconds(20)))
    try await other()
    #expect(try await Taken(changes).all(1) == ["external -"])
    #expect(try await none.all(0) == [])
    await workspace.close()
  }

  @Test func `ends with an error when the file is replaced`() async throws {
    let workspace = try await workspace()
    let taken = Taken(workspace.changes(polling: .milliseconds(20)))
    let copy = folder.file("copy.gpkg")
    try FileManager.default.copyItem(at: URL(fileURLWithPath: path), to: copy)
    #expect(rename(copy.path, path) == 0)
    #expect(try await taken.all(1) == ["error unavailable"])
    await workspace.close()
    let again = try await self.workspace()
    let removed = Taken(again.changes(polling: .milliseconds(20)))
    try FileManager.default.removeItem(atPath: path)
    #expect(try await removed.all(1) == ["error unavailable"])
    await again.close()
  }

  @Test func `ends when its task is cancelled, and holds nothing then`() async throws {
    let workspace = try await workspace()
    let before = try descriptors()
    let several = (0..<5).map { _ in Taken(workspace.changes(polling: .milliseconds(10))) }
    let forgotten = workspace.changes(polling: .milliseconds(10))
    #expect(try descriptors() == before + 1)
    for taken in several { taken.cancel() }
    for taken in several { #expect(try await taken.all(1) == ["end"]) }
    _ = consume forgotten
    while try descriptors() > before { try await Task.sleep(for: .milliseconds(10)) }
    #expect(try descriptors() == before)
    await workspace.close()
  }

  /// How often this process has the file open.
  private func descriptors() throws -> Int {
    let open = "/proc/self/fd"
    return try FileManager.default.contentsOfDirectory(atPath: open).count { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(open)/\(name)")
      return target == path
    }
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }
}
