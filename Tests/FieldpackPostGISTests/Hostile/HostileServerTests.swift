#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  private typealias Fake = FakeMessages

  /// Servers that answer otherwise than PostgreSQL does.
  @Suite(.programs) struct HostileServerTests {
    /// How wells are read.
    enum Way: String, CaseIterable {
      /// All of them, by a cursor.
      case cursor = "FETCH"
      /// Those that meet a condition, which come at once where they are few.
      case few = "fieldpack_few"

      var query: Query {
        self == .cursor ? Query("wells") : Query("wells", where: Column<Int64>("depth") > 5)
      }
    }

    /// What reading wells ends with.
    private func failure(
      _ server: FakePostgres, _ limits: PostgresLimits = PostgresLimits(), by way: Way = .cursor
    ) async -> FieldpackError? {
      let store = server.store(limits)
      defer { Task { await store.close() } }
      do throws(FieldpackError) {
        for try await feature in try await store.query(way.query).features { _ = feature.geometry }
        return nil
      } catch { return error }
    }

    private static func fetching(
      by way: Way = .cursor, _ answer: @escaping @Sendable () -> FakePostgres.Answer
    ) throws -> FakePostgres {
      try FakePostgres(answer: { $0.contains(way.rawValue) ? answer() : nil })
    }

    private static func row(_ place: Int, _ value: [UInt8]) -> [UInt8] {
      var row = Fake.well(1)
      row[place] = value
      return Fake.row(row)
    }

    private static func answer(
      types: [UInt32] = Fake.wellTypes, _ rows: [UInt8]
    ) -> FakePostgres.Answer {
      .messages(Fake.beginning(types) + rows + Fake.complete("FETCH 1") + Fake.ready(true))
    }

    @Test func `a right answer is read`() async throws {
      let server = try FakePostgres()
      let store = server.store()
      var found: [Feature] = []
      for try await feature in try await store.query(Query("wells")).features {
        found.append(feature)
      }
      #expect(found.map(\.id) == [1, 2])
      #expect(found.map(\.geometry) == [.point(x: 0, y: 0), .point(x: 0, y: 0)])
      #expect(
        found.map(\.attributes) == [
          ["depth": 10, "name": "well 1"], ["depth": 20, "name": "well 2"],
        ])
      #expect(try await store.count(Query("wells")) == 2)
      await store.close()
    }

    // MARK: Wrong rows

    private static let wrongRows: [(String, FakePostgres.Answer)] = [
      (
        "a column too few",
        answer(types: Array(Fake.wellTypes.dropLast()), Fake.row([nil, nil, nil]))
      ),
      ("a column too many", answer(types: Fake.wellTypes + [25], Fake.row(Fake.well(1) + [nil]))),
      ("no column", answer(types: [], Fake.row([]))),
      ("an id of text", answer(types: [25, 17, 23, 25], Fake.row(Fake.well(1)))),
      ("a geometry of text", answer(types: [20, 25, 23, 25], Fake.row(Fake.well(1)))),
      ("a number of text", answer(types: [20, 17, 25, 25], Fake.row(Fake.well(1)))),
      ("an id of five bytes", answer(row(0, [1, 2, 3, 4, 5]))),
      ("a number of three bytes", answer(row(2, [1, 2, 3]))),
      ("a number of no bytes", answer(row(2, []))),
      (
        "more rows than were asked for",
        answer((0..<3_000).flatMap { Fake.row(Fake.well($0)) })
      ),
    ]

    @Test(arguments: wrongRows.indices, Way.allCases)
    func `rows of another form are refused`(index: Int, way: Way) async throws {
      let (name, answer) = Self.wrongRows[index]
      let server = try Self.fetching(by: way) { answer }
      let error = await failure(server, by: way)
      #expect(error?.code == .invalidData, "\(name)")
      #expect(error?.message.contains(server.shown) == true, "\(name): \(error?.message ?? "")")
      #expect(error?.location.store == "survey", "\(name)")
    }

    private static let wrongGeometries: [[UInt8]] = [
      [], [1], [7], [1, 1, 0, 0, 0], [1, 99, 0, 0, 0], Array(Fake.point.dropLast()),
      Fake.point + [0], [1, 2, 0, 0, 0, 255, 255, 255, 255], [1, 3, 0, 0, 0, 255, 255, 255, 127],
      [1, 4, 0, 0, 0, 1, 0, 0, 0] + [1, 2, 0, 0, 0, 0, 0, 0, 0],
      (0..<200_000).flatMap { _ in [1, 7, 0, 0, 0, 1, 0, 0, 0] as [UInt8] },
    ]

    @Test(arguments: wrongGeometries.indices)
    func `bytes that are no geometry are an error of their feature`(index: Int) async throws {
      let server = try Self.fetching { Self.answer(Self.row(1, Self.wrongGeometries[index])) }
      let error = await failure(server)
      #expect(error?.code == .invalidData)
      #expect(error?.location == .init(store: "survey", layer: "wells", feature: 1))
    }

    // MARK: Wrong messages

    private static func begun(_ rest: [UInt8]) -> FakePostgres.Answer {
      .cut(Fake.beginning(Fake.wellTypes) + rest)
    }

    private static let wrongMessages: [(String, FakePostgres.Answer)] = [
      ("nothing", .cut([])),
      ("a row of 1 GB, of which nothing comes", begun(Fake.message("D", [], length: 1 << 30))),
      ("a row of 2 GB", begun(Fake.message("D", Fake.int2(4), length: .init(Int32.max)))),
      ("a row of a negative length", begun(Fake.message("D", [0, 4], length: -9))),
      ("fewer values than columns", begun(Fake.row([nil, nil]))),
      ("a value beyond its row", begun(Fake.message("D", Fake.int2(4) + Fake.int4(1 << 28)))),
      ("an unknown message", begun(Fake.message("?", [1, 2, 3]))),
      ("no message", .cut(Array(repeating: 0xA5, count: 4_096))),
      ("text", .cut(Fake.text("HTTP/1.1 400 Bad Request\r\n\r\n"))),
      ("an error that says nothing", .cut(Fake.message("E", [0]))),
      ("an error that does not end", .cut(Fake.message("E", Fake.text("SERROR")))),
      ("rows that nobody described", .cut(Fake.row(Fake.well(1)))),
      ("a COPY in place of rows", .cut(Fake.copyBeginning(columns: 4))),
      ("a COPY that wants data", .cut(Fake.message("G", [1, 0, 0]))),
      ("32,767 columns of no end", .cut(Fake.message("T", Fake.int2(.max)))),
    ]

    @Test(arguments: wrongMessages.indices, Way.allCases)
    func `messages of another form end the connection`(index: Int, way: Way) async throws {
      let (name, answer) = Self.wrongMessages[index]
      let server = try Self.fetching(by: way) { answer }
      let error = await failure(server, by: way)
      let codes: [FieldpackError.Code] = [.unavailable, .invalidArgument]
      #expect(error.map { codes.contains($0.code) } == true, "\(name): \(error?.message ?? "")")
      #expect(error?.location.store == "survey", "\(name)")
      let names = error?.message.contains(server.shown) == true
      #expect(names || error?.message == "a COPY statement is no query", "\(name)")
    }

    @Test func `a message of a server is told in one line, and not all of it`() async throws {
      let long = String(repeating: "x\n", count: 1 << 20)
      let told = Fake.message("E", Fake.text("SERROR\0C22000\0M\(long)\0") + [0])
      let server = try Self.fetching { .messages(told + Fake.ready(true)) }
      let error = await failure(server)
      #expect(error?.code == .invalidData)
      #expect(error?.message == String(repeating: "x ", count: 500) + "…")
    }

    @Test func `an answer that breaks off at any byte is told`() async throws {
      let whole =
        Fake.rows(Fake.wellTypes, [Fake.well(1), Fake.well(2)]) + Fake.ready(true)
      for count in 0..<whole.count - 6 {
        let server = try Self.fetching { .cut(Array(whole[..<count])) }
        let error = await failure(server)
        #expect(error?.code == .unavailable, "after \(count) bytes")
        #expect(error?.message.contains(server.shown) == true, "after \(count) bytes")
        #expect(error?.location.store == "survey", "after \(count) bytes")
      }
    }

    // MARK: Greetings

    @Test func `a greeting that breaks off at any byte is told`() async throws {
      for count in 0..<Fake.greeting.count {
        let server = try FakePostgres(greeting: { .cut(Array($0[..<count])) })
        let error = await failure(server)
        #expect(error?.code == .unavailable, "after \(count) bytes")
        #expect(error?.message.contains(server.shown) == true, "after \(count) bytes")
      }
    }

    private static let wrongGreetings: [[UInt8]] = [
      Array(repeating: 0x5A, count: 4_096), Fake.message("R", Fake.int4(99)),
      Fake.message("R", [], length: 1 << 30), Fake.message("R", Fake.int4(10) + [0]),
      Fake.message("E", [], length: 1 << 30), Fake.text("SSH-2.0-OpenSSH_9.2\r\n"),
      Fake.greeting + Array(repeating: 0x41, count: 64),
      Fake.message("R", Fake.int4(0)) + Fake.message("D", [], length: 1 << 30),
    ]

    @Test(arguments: wrongGreetings.indices)
    func `a greeting of another form is told`(index: Int) async throws {
      let server = try FakePostgres(greeting: { _ in .cut(Self.wrongGreetings[index]) })
      let error = await failure(server)
      #expect(error?.code == .unavailable)
      #expect(error?.message.contains(server.shown) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
      (0..<1_000).flatMap { Fake.message("S", Fake.text("a\($0)\0b\0")) },
      Fake.message("N", Fake.text("SNOTICE\0C00000\0Mon and on\0") + [0]),
    ])
    func `a greeting without end is given up`(piece: [UInt8]) async throws {
      let server = try FakePostgres(greeting: { _ in
        .endless(Fake.message("R", Fake.int4(0)), piece: piece)
      })
      let error = await failure(server)
      #expect(error?.code == .unavailable)
      #expect(error?.message == "no connection to \(server.shown): its greeting does not end")
      #expect(server.endlessBytes.withLock { $0 } < Self.most)
    }

    @Test func `a server that is silent is left, for the next one where there is one`() async throws
    {
      let reached = Locked(false)
      let silent = try FakePostgres(greeting: { _ in
        reached.change { $0 = true }
        return .silence([])
      })
      var limits = PostgresLimits()
      limits.connecting = .seconds(2)
      let error = await failure(silent, limits)
      #expect(error?.code == .unavailable)
      #expect(
        error?.message == "no connection to \(silent.shown): it does not answer within 2 s")
      let other = try FakePostgres()
      var address = silent.address
      address.keywords[0].value += ",127.0.0.1"
      address.keywords[1].value += ",\(other.port)"
      #expect(try PostgresConnection(address, limits: limits).isIdle)
      // Nor does anybody have to wait for it.
      reached.change { $0 = false }
      let task = Task { await failure(silent) }
      _ = try await onThread { reached.wait { $0 ? true : nil } }
      task.cancel()
      #expect(await task.value?.code == .interrupted)
    }

    // MARK: Endless answers

    static let piece = [UInt8](repeating: 0, count: 1 << 16)

    private static let endless: [(String, FakePostgres.Answer)] = [
      (
        "a row",
        .endless(
          Fake.beginning(Fake.wellTypes) + Fake.message("D", Fake.int2(4), length: 1 << 30),
          piece: piece)
      ),
      (
        "rows",
        .endless(
          Fake.beginning(Fake.wellTypes),
          piece: (0..<1_000).flatMap { Fake.row(Fake.well($0)) })
      ),
      (
        "notices",
        .endless([], piece: Fake.message("N", Fake.text("SNOTICE\0C00000\0Mon and on\0") + [0]))
      ),
      (
        "settings",
        .endless([], piece: (0..<1_000).flatMap { Fake.message("S", Fake.text("a\($0)\0b\0")) })
      ),
      (
        "notifications",
        .endless(
          [],
          piece: Fake.message(
            "A", Fake.int4(1) + Fake.text("channel\0" + String(repeating: "x", count: 7_000) + "\0")
          ))
      ),
      (
        "results",
        .endless([], piece: Fake.rows(Fake.wellTypes, (0..<100).map { Fake.well($0) }))
      ),
    ]

    /// How much a server may send after a limit of 8 MiB: what sockets hold, and the first readings.
    static let most = 96 << 20

    @Test(arguments: endless.indices, Way.allCases)
    func `an answer without end is given up`(index: Int, way: Way) async throws {
      let (name, answer) = Self.endless[index]
      let server = try Self.fetching(by: way) { answer }
      var limits = PostgresLimits()
      limits.answerBytes = 8 << 20
      let error = await failure(server, limits, by: way)
      #expect(error?.code == .unsupported, "\(name)")
      #expect(
        error?.message
          == "\(server.shown) answers a statement with more than 8 MiB at a time. Try: fewer columns, "
          + "or a condition that leaves out the largest features", "\(name)")
      #expect(server.endlessBytes.withLock { $0 } < Self.most, "\(name)")
    }

    // MARK: Silence

    @Test func `a task can be cancelled where the server does not take that`() async throws {
      let asked = Locked(false)
      let server = try Self.fetching {
        asked.change { $0 = true }
        return .silence([])
      }
      var limits = PostgresLimits()
      limits.ending = .milliseconds(100)
      let task = Task { [limits] in await failure(server, limits) }
      _ = try await onThread { asked.wait { $0 ? true : nil } }
      task.cancel()
      #expect(await task.value?.code == .interrupted)
    }

    @Test func `a catalogue of other types does not end the program`() async throws {
      let wrongRows: [[[[UInt8]?]]] = [
        [], [[nil]], [[Fake.text("x")]], [Array(repeating: Fake.int8(.min), count: 13)],
      ]
      for word in ["c.relkind::text", "WITH RECURSIVE found", "i.indisprimary", "postgis_typmod"] {
        for rows in wrongRows {
          let types = Array(repeating: UInt32(25), count: rows.first?.count ?? 1)
          let server = try FakePostgres(answer: { statement in
            statement.contains(word) ? .messages(Fake.rows(types, rows) + Fake.ready(false)) : nil
          })
          let error = await failure(server)
          #expect(error == nil || error?.location.store == "survey", "\(word)")
        }
      }
    }
  }
#endif
