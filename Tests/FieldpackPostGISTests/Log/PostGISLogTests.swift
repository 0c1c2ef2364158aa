#if PostGIS
  import FieldpackCore
  import FieldpackSQLite
  import FieldpackServices
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  /// Triggers log what any program does, and commits get their positions in an order that holds.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISLogTests {
    private static let logged =
      "SELECT fid, name, audit_op, author, edit_id IS NOT NULL, sent IS NOT NULL FROM wells_audit "
      + "ORDER BY audit_id"

    @Test func `edits of other programs are logged with the row as they left it`() async throws {
      let survey = try await CheckedOutSurvey(features: 2)
      try await survey.store.enableLogs(of: ["wells"])
      try survey.schema.run("UPDATE wells SET name = 'a' WHERE fid = 1")
      try survey.schema.run(
        "BEGIN; SET LOCAL fieldpack.author = 'ann'; INSERT INTO wells (name) VALUES ('c'); COMMIT;")
      try survey.schema.run(
        "UPDATE wells SET fid = 9 WHERE fid = 3; DELETE FROM wells WHERE fid = 1")
      try survey.schema.run("TRUNCATE wells")
      #expect(
        try survey.rows(Self.logged) == [
          #"(1,"well 1",0,,f,t)"#, "(1,a,2,,t,f)", "(3,c,1,ann,t,f)", "(9,c,1,,t,f)",
          "(3,c,3,,t,f)", "(1,a,3,,t,f)", #"(2,"well 2",3,,t,f)"#, "(9,c,3,,t,f)",
        ])
    }

    @Test func `a commit is never overtaken by an earlier transaction`() async throws {
      let survey = try await CheckedOutSurvey(features: 2)
      try await survey.store.enableLogs(of: ["wells"])
      let peer = PostGISSyncPeer(of: survey.store)
      let (slow, quick) = (
        try survey.schema.cluster.connection(), try survey.schema.cluster.connection()
      )
      let table = "\(quotedUnchecked(survey.schema.name)).wells"
      try slow.execute("BEGIN")
      try slow.execute("UPDATE \(table) SET name = 'slow' WHERE fid = 1")
      try quick.execute("UPDATE \(table) SET name = 'quick' WHERE fid = 2")
      let early = try await peer.edits(of: "wells", after: 0, limit: 10)
      #expect(early.edits.map { $0.values[1] } == [.text("quick")] && early.position == 1)
      try slow.execute("COMMIT")
      let late = try await peer.edits(of: "wells", after: early.position, limit: 10)
      #expect(late.edits.map(\.position) == [2] && late.edits.map(\.changed) == [["name"]])
      #expect(late.edits.map { $0.values[1] } == [.text("slow")])
      #expect(late.position == 2 && late.isLast && late.edge == late.edits[0].id)
    }

    @Test func `a column that is added is logged once the log is brought up to date`() async throws
    {
      let survey = try await CheckedOutSurvey(features: 1)
      try await survey.store.enableLogs(of: ["wells"])
      try survey.schema.run("ALTER TABLE wells ADD COLUMN author text")
      try await survey.store.enableLogs(of: ["wells"])
      try survey.schema.run("UPDATE wells SET author = 'kept'")
      #expect(
        try survey.rows("SELECT author, audit_author, audit_op FROM wells_audit ORDER BY audit_id")
          == ["(,,0)", "(kept,,2)"])
    }

    @Test func `names are taken as they are`() async throws {
      let schema = try await TestSchema.make()
      let name = #"a"b; DROP TABLE x"#
      let table = quotedUnchecked(name)
      try schema.run(
        "CREATE TABLE \(table) (\"$fieldpack$\" int PRIMARY KEY, \(table) text, \"select\" text)")
      let store = schema.store()
      try await store.enableLogs(of: [LayerID(name)])
      try schema.run("INSERT INTO \(table) VALUES (1, 'x', 'y')")
      let page = try await PostGISSyncPeer(of: store).edits(of: LayerID(name), after: 0, limit: 10)
      #expect(page.edits.map(\.changed) == [[name, "select"]])
      #expect(page.edits.map(\.values) == [[.text("x"), .text("y")]])
    }

    @Test func `a name that leaves no room for its log is told`() async throws {
      let schema = try await TestSchema.make()
      let name = String(repeating: "w", count: 60)
      try schema.run("CREATE TABLE \(name) (id int PRIMARY KEY, name text)")
      await #expect {
        try await schema.store().enableLogs(of: [LayerID(name)])
      } throws: { error in
        (error as? FieldpackError)?.code == .invalidArgument
      }
    }

    @Test func `a table without a key of whole numbers is refused`() async throws {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE named (name text PRIMARY KEY, depth int)")
      let error = await #expect(throws: FieldpackError.self) {
        try await schema.store().enableLogs(of: ["named"])
      }
      #expect(error?.code == .unsupported)
    }
  }
#else
  import Testing

  @Suite(.disabled("built without the trait PostGIS"))
  struct PostGISLogTests {
    @Test func `the change log of tables in PostgreSQL`() {}
  }
#endif
