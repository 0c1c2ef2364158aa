#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// What goes wrong while layers are copied: nothing of them stays, and the same again works.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISFailureTests {
    /// Enough rows for several pieces.
    private static let count = 60_000

    private struct Case {
      let cluster: TestCluster
      let schema: TestSchema
      let store: PostGISStore
      let folder: TemporaryFolder
      let source: GeoPackageStore

      init(cluster: TestCluster, limits: PostgresLimits = PostgresLimits()) async throws {
        self.cluster = cluster
        schema = try TestSchema(cluster)
        var address = cluster.address()
        address.keywords.append(("application_name", schema.name))
        store = PostGISStore(
          id: "survey", address: address, scope: schema.scope, limits: limits, trusted: .zero)
        folder = try TemporaryFolder()
        var lines = "code,x,y\n"
        for index in 0..<PostGISFailureTests.count { lines += "c\(index),\(index % 360),1\n" }
        let file = try folder.write(lines, to: "wells.csv")
        let path = folder.file("wells.gpkg").path
        _ = try await FileImport().run([file.path], into: path)
        source = try await GeoPackageStore(path: path, id: "source")
      }

      func load(
        _ mode: ImportMode = .create,
        _ hook: @escaping @Sendable () async throws(FieldpackError) -> Void
      ) async throws -> LayerLoadReport {
        var options = LayerLoadOptions()
        options.mode = mode
        let hooked = HookedStore(store: source, hook: hook)
        return try await store.load(
          [LayerPart(from: hooked, "wells", as: "wells", keepsIDs: true)], options)
      }

      /// The process of the server that takes the rows.
      func backend() throws -> pid_t? {
        let found = try cluster.connection().execute(
          "SELECT pid FROM pg_stat_activity WHERE state <> 'idle' "
            + "AND query LIKE 'COPY %' AND application_name = $1", [.text(schema.name)])
        return found.count > 0 ? found.integer(0, 0).map { pid_t($0) } : nil
      }

      /// After a crash the server is back when it takes connections.
      func waitForServer() async throws {
        while (try? cluster.connection()) == nil { try await Task.sleep(for: .milliseconds(20)) }
      }
    }

    @Test func `a backend that is killed takes the server down, and nothing stays`() async throws {
      // Its server restarts, so that no other test may have it.
      let test = try await Case(cluster: try TestCluster())
      let other = try test.cluster.connection()
      let error = await #expect(throws: FieldpackError.self) {
        try await test.load { () async throws(FieldpackError) in
          guard let process = try? test.backend() else { return }
          kill(process, SIGKILL)
        }
      }
      #expect(error?.code == .unavailable)
      // The server ends all connections once it knows of the kill; until then it would take another.
      while (try? other.execute("SELECT 1")) != nil { try await Task.sleep(for: .milliseconds(5)) }
      try await test.waitForServer()
      #expect(try await test.store.layers() == [])
      let report = try await test.load { () async throws(FieldpackError) in }
      #expect(report.layers.map(\.count) == [Self.count])
      #expect(try await test.store.count(Query("wells")) == Self.count)
    }

    @Test func `a connection that is ended leaves nothing, and upserts can be tried again`()
      async throws
    {
      let test = try await Case(cluster: try await TestCluster.shared.value)
      let end: @Sendable () async throws(FieldpackError) -> Void = {
        () async throws(FieldpackError) in
        guard let process = try? test.backend() else { return }
        _ = try? test.cluster.connection().execute("SELECT pg_terminate_backend(\(process))")
      }
      let error = await #expect(throws: FieldpackError.self) { try await test.load(.create, end) }
      #expect(error?.code == .unavailable)
      #expect(try await test.store.layers() == [])
      _ = try await test.load { () async throws(FieldpackError) in }
      for mode in [ImportMode.upsert, .replace, .append] {
        _ = await #expect(throws: FieldpackError.self) { try await test.load(mode, end) }
        #expect(try await test.store.count(Query("wells")) == Self.count)
      }
      for _ in 0..<2 {
        let report = try await test.load(.upsert) { () async throws(FieldpackError) in }
        #expect(report.layers.map(\.updatedCount) == [Self.count])
        #expect(try await test.store.count(Query("wells")) == Self.count)
      }
    }

    @Test func `an error of the source, and a task that is cancelled, leave nothing`() async throws
    {
      let test = try await Case(cluster: try await TestCluster.shared.value)
      let broken = FieldpackError(.corrupt, "the source is broken")
      let error = await #expect(throws: FieldpackError.self) {
        try await test.load { () async throws(FieldpackError) in throw broken }
      }
      #expect(error?.message == broken.message)
      let task = Task {
        try await test.load { () async throws(FieldpackError) in
          withUnsafeCurrentTask { $0?.cancel() }
        }
      }
      let result = await task.result
      #expect(throws: FieldpackError.self) { try result.get() }
      #expect(try await test.store.layers() == [])
    }

    @Test func `without a free connection the store is busy`() async throws {
      var limits = PostgresLimits()
      (limits.connections, limits.waiting) = (1, .milliseconds(50))
      let test = try await Case(cluster: try await TestCluster.shared.value, limits: limits)
      let lease = try await test.store.pool.lease()
      let error = await #expect(throws: FieldpackError.self) {
        try await test.load { () async throws(FieldpackError) in }
      }
      #expect(error?.code == .busy)
      await lease.release()
      let report = try await test.load { () async throws(FieldpackError) in }
      #expect(report.layers.map(\.count) == [Self.count])
    }
  }
#endif
