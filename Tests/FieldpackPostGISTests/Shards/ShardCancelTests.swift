#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Work on divided layers that is cancelled while another server does not go on.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ShardCancelTests {
    /// A part on another server, in which nobody can write as long as this lives.
    private struct LockedPart {
      private let holder: PostgresConnection
      private let watcher: PostgresConnection
      private let table: String

      init(_ pair: ShardLoadTests.Pair) async throws {
        let layer = try #require(try await pair.divided.catalogue().layer("points"))
        let part = try #require(layer.shards?.parts.first { $0.server != nil })
        let number = try #require(pair.divided.servers.firstIndex { $0.name == part.server })
        table = try TableName(schema: pair.servers.schema.name, table: part.table).sql()
        holder = try pair.servers.others[number].connection()
        watcher = try pair.servers.others[number].connection()
        try holder.run(script: "BEGIN; LOCK TABLE \(table) IN SHARE MODE")
      }

      /// Waits until somebody waits for the part, or nobody does any more.
      func wait(for isWaiting: Bool) async throws {
        let waiting = "SELECT FROM pg_locks WHERE relation = $1::text::regclass AND NOT granted"
        while try watcher.execute(waiting, [.text(table)]).count > 0 ? !isWaiting : isWaiting {
          try await Task.sleep(for: .milliseconds(5))
        }
      }
    }

    /// Where the cancelling does not reach the other server, the lock is waited for until that server
    /// gives up, which is told as `.busy`.
    @Test(arguments: [ImportMode.append, .upsert])
    func `an import that is cancelled ends at a server that waits for a lock`(
      _ mode: ImportMode
    ) async throws {
      let pair = try await ShardLoadTests.Pair()
      let before = try await pair.features(pair.divided)
      let lines = (1_000..<1_400).map { number in
        ShardLoadTests.line(
          number, Double(number % 36) * 10 - 175, Double(number % 17) * 10 - 80, "\"name\":\"new\"")
      }
      let file = try pair.folder.write(lines.joined(separator: "\n") + "\n", to: "points.geojsonl")
      let part = try await LockedPart(pair)
      let store = pair.divided
      let task = Task {
        var options = ImportOptions(mode: mode)
        options.layer = "points"
        return try await StoreImport(options).run([ImportSource(file.path)], into: store)
      }
      try await part.wait(for: true)
      task.cancel()
      let error = await #expect(throws: FieldpackError.self) { try await task.value }
      #expect(error?.code == .interrupted)
      #expect(error?.message == "interrupted")
      try await part.wait(for: false)
      #expect(try await pair.features(pair.divided) == before)
      await pair.close()
    }
  }
#endif
