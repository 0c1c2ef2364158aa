#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Changes of divided layers that would wait for what does not end.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ShardWaitingTests {
    /// Rows at places all over the world, each with a name of its own.
    private static func lines(_ ids: Range<Int>, name: String) -> [String] {
      ids.map { id in
        let place = id % 100
        return ShardLoadTests.line(
          id, Double(place % 36) * 10 - 175, Double(place % 17) * 10 - 80,
          "\"name\":\"\(name) \(place)\"")
      }
    }

    /// Rows that replace features come by another connection to the server than new ones.
    @Test func `an upsert does not wait for itself where a part has another key`() async throws {
      let pair = try await ShardLoadTests.Pair("UPDATE points SET name = 'key ' || fid")
      let schema = quotedUnchecked(pair.servers.schema.name)
      for other in pair.servers.others {
        for table in try pair.servers.tables(on: other) {
          try other.connection().execute("CREATE UNIQUE INDEX ON \(schema).\(table) (name)")
        }
      }
      let before = try await pair.features(pair.divided)
      let same = Self.lines(100..<200, name: "a") + Self.lines(1_000..<1_100, name: "a")
      let file = try pair.folder.write(same.joined(separator: "\n") + "\n", to: "same.geojsonl")
      var options = ImportOptions(mode: .upsert)
      options.layer = "points"
      let (load, source, store) = (StoreImport(options), ImportSource(file.path), pair.divided)
      let error = await #expect(throws: FieldpackError.self) {
        try await load.run([source], into: store)
      }
      #expect(error?.code == .constraint)
      #expect(error?.message.contains("already exists") == true, "\(error?.message ?? "")")
      #expect(try await pair.features(pair.divided) == before)
      let others = Self.lines(100..<200, name: "a") + Self.lines(1_000..<1_100, name: "b")
      _ = try await pair.load(others, ImportOptions(mode: .upsert))
      await pair.close()
    }

    @Test func `a lock at another server has a limit`() async throws {
      let schema = try await TestSchema.make()
      let servers = ShardServers(schema: schema, others: [try TestCluster()])
      try servers.fill(ShardServers.points, count: 100)
      let store = servers.store(servers: 1)
      let report = try await Sharding(of: store).apply("points")
      let name = quotedUnchecked(store.servers[0].name)
      let owner = try schema.cluster.connection()
      let options = try owner.execute(
        "SELECT srvoptions::text FROM pg_foreign_server WHERE srvname = $1",
        [.text(store.servers[0].name)])
      #expect(options.text(0, 0)?.contains("options=-c lock_timeout=30s") == true)
      // Nobody has to wait so long here.
      try owner.execute("ALTER SERVER \(name) OPTIONS (SET options '-c lock_timeout=50ms')")
      let part = try #require(report.plan.parts.first { $0.server != nil && $0.count > 0 })
      let table = try TableName(schema: schema.name, table: part.table).sql()
      let holder = try servers.others[0].connection()
      try holder.execute("BEGIN")
      let locked = try holder.execute("SELECT fid FROM \(table) LIMIT 1 FOR UPDATE")
      let id = FeatureID.integer(try #require(locked.integer(0, 0)))
      let error = await #expect(throws: FieldpackError.self) {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.update(id, in: "points", set: ["name": "new"])
        }
      }
      #expect(error?.code == .busy)
      await store.close()
    }
  }
#endif
