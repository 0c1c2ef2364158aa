#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Commits of others are told, also those of a time without a connection.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISChangesTests {
    @Test func `commits are told with their features, also after a lost connection`() async throws {
      let survey = try await CheckedOutSurvey(features: 3)
      try await survey.store.enableLogs(of: ["wells"])
      let (events, sender) = AsyncStream.makeStream(of: ListeningEvent.self)
      let store = survey.store
      let listening = Task { try await store.listen { sender.yield($0) } }
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next() == .begun)
      try survey.schema.run(
        "UPDATE wells SET name = 'a' WHERE fid = 2; DELETE FROM wells WHERE fid = 1")
      var wanted = ChangeLog()
      wanted.note(.updated, .integer(2), in: "wells")
      wanted.note(.deleted, .integer(1), in: "wells")
      #expect(await iterator.next() == .changed(wanted))
      // The listener's connection is cut, and the next commit comes at once.
      try survey.schema.run(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE query = 'LISTEN fieldpack_log' AND pid <> pg_backend_pid();
        INSERT INTO wells (name) VALUES ('late');
        """)
      wanted = ChangeLog()
      wanted.note(.created, .integer(4), in: "wells")
      #expect(await iterator.next() == .changed(wanted))
      listening.cancel()
      _ = await listening.result
    }

    @Test func `a workspace hears of commits of others`() async throws {
      let survey = try await CheckedOutSurvey(features: 3)
      try await survey.store.enableLogs(of: ["wells"])
      let config = try survey.folder.write(
        """
        {"stores": [{"id": "team", "store_type": "postgis", "version": "1", "name": "team",
          "uri": "\(survey.schema.cluster.uri())", "options": {"schema": "\(survey.schema.name)"}}]}
        """, to: "team.scfg")
      var registry = StoreRegistry.standard
      registry.register(PostGISStoreType.self)
      let workspace = try await Workspace.open([config.path], registry: registry)
      var changes = workspace.changes(matching: Query("wells")).makeAsyncIterator()
      #expect(try await changes.next()?.kind == .external)
      try survey.schema.run("UPDATE wells SET name = 'a' WHERE fid = 2")
      let change = try await changes.next()
      #expect(change?.kind == .updated && change?.key?.feature == .integer(2))
      await workspace.close()
    }
  }
#else
  import Testing

  @Suite(.disabled("built without the trait PostGIS"))
  struct PostGISChangesTests {
    @Test func `changes of tables in PostgreSQL`() {}
  }
#endif
