#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostgresConnectionTests {
    private func code(_ body: () async throws -> Void) async -> FieldpackError.Code? {
      do { try await body() } catch { return (error as? FieldpackError)?.code }
      return nil
    }

    private static func write(
      _ bytes: [UInt8], to writer: CopyWriter
    ) throws(FieldpackError) {
      try bytes.span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
        try writer.write(bytes)
      }
    }

    @Test func `values come and go in binary form`() async throws {
      let connection = try await TestCluster.shared.value.connection()
      let rows = try connection.execute(
        "SELECT $1, $2, $3, $4, $5, $6::text, ST_AsText(ST_GeomFromWKB($7, 4326))",
        [
          .integer(.min), .real(-0.5), .text("é'\"\\"), .bytes([0, 255]), .boolean(true), .null,
          .bytes([1, 1, 0, 0, 0] + Array(repeating: 0, count: 16)),
        ])
      #expect(rows.integer(0, 0) == .min)
      #expect(rows.real(0, 1) == -0.5)
      #expect(rows.text(0, 2) == "é'\"\\")
      #expect(Array(rows.bytes(0, 3)) == [0, 255])
      #expect(rows.flag(0, 4))
      #expect(rows.isNull(0, 5))
      #expect(rows.text(0, 6) == "POINT(0 0)")
    }

    @Test func `an error leaves the connection usable, and a transaction without a trace`()
      async throws
    {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE t (id int PRIMARY KEY)")
      let connection = try schema.cluster.connection()
      let table = "\(quotedUnchecked(schema.name)).t"
      let found = await code {
        try connection.transaction { () throws(FieldpackError) in
          try connection.execute("INSERT INTO \(table) VALUES (1)")
          try connection.execute("INSERT INTO \(table) VALUES (1)")
        }
      }
      #expect(found == .constraint)
      #expect(connection.isIdle)
      #expect(try connection.execute("SELECT count(*) FROM \(table)").integer(0, 0) == 0)
      #expect(await code { try connection.execute("COPY \(table) FROM STDIN") } == .invalidArgument)
      #expect(!connection.isIdle)
    }

    @Test func `a transaction whose statement failed does not say that it was committed`()
      async throws
    {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE t (id int)")
      let connection = try schema.cluster.connection()
      let table = "\(quotedUnchecked(schema.name)).t"
      let found = await code {
        try connection.transaction { () throws(FieldpackError) in
          try connection.execute("INSERT INTO \(table) VALUES (1)")
          _ = try? connection.execute("SELECT 1 / 0")
        }
      }
      #expect(found == .invalidArgument)
      #expect(connection.isIdle)
      #expect(try connection.execute("SELECT count(*) FROM \(table)").integer(0, 0) == 0)
    }

    @Test func `too many values are refused, and the connection stays`() async throws {
      let connection = try await TestCluster.shared.value.connection()
      let found = await code {
        try connection.execute("SELECT 1", Array(repeating: .integer(1), count: 65_536))
      }
      #expect(found == .invalidArgument)
      #expect(try connection.execute("SELECT 7").integer(0, 0) == 7)
    }

    @Test func `a uri says how long to wait for a server, and else the limits`() async throws {
      var address = try await TestCluster.shared.value.address()
      address.keywords.append(("connect_timeout", "soon"))
      let error = #expect(throws: FieldpackError.self) { try PostgresConnection(address) }
      #expect(
        error?.message
          == "the connect_timeout of test/fieldpack is no number of seconds up to 86400")
      address.keywords[address.keywords.count - 1].value = "7"
      #expect(try PostgresConnection(address).isIdle)
    }

    @Test(arguments: [
      (
        "SSL error: certificate verify failed",
        ". Try: ?sslrootcert=FILE in the uri, with the certificate of the server's authority"
      ),
      (
        "root certificate file \"/home/eva/.postgresql/root.crt\" does not exist",
        ". Try: ?sslrootcert=FILE in the uri, with the certificate of the server's authority"
      ),
      (
        "server certificate for \"db\" does not match host name \"localhost\"",
        ". Try: the name that stands in the server's certificate"
      ),
      (
        "server does not support SSL, but SSL was required",
        ". Try: ?sslmode=disable in the uri, where nobody else is on the way"
      ),
      ("Connection refused", ""),
    ])
    func `errors of TLS name the way out`(reason: String, way: String) {
      #expect(PostgresConnection.wayOut(of: reason) == way)
    }

    @Test func `rows are copied in and out`() async throws {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE t (a int, b text)")
      let connection = try schema.cluster.connection()
      let table = "\(quotedUnchecked(schema.name)).t"
      let lines = Array((1...50_000).map { "\($0)\tline \($0)\n" }.joined().utf8)
      let count = try connection.copyIn("COPY \(table) FROM STDIN") {
        writer throws(FieldpackError) in
        try Self.write(lines, to: writer)
      }
      #expect(count == 50_000)
      var read: [UInt8] = []
      try connection.copyOut("COPY (SELECT * FROM \(table) ORDER BY a) TO STDOUT") {
        read.append(contentsOf: $0)
      }
      #expect(read == lines)
      let stop = FieldpackError(.interrupted, "enough")
      #expect(
        await code {
          try connection.copyIn("COPY \(table) FROM STDIN") { writer throws(FieldpackError) in
            try Self.write(lines, to: writer)
            throw stop
          }
        } == .interrupted)
      #expect(
        await code {
          try connection.copyOut("COPY \(table) TO STDOUT") { _ throws(FieldpackError) in throw stop
          }
        } == .interrupted)
      #expect(
        await code {
          try connection.copyIn("COPY \(table) FROM STDIN") { writer throws(FieldpackError) in
            try Self.write(Array("no number\n".utf8), to: writer)
          }
        } == .invalidData)
      #expect(try connection.execute("SELECT count(*) FROM \(table)").integer(0, 0) == 50_000)
    }

    @Test func `a cancelled task ends its statement at the server`() async throws {
      let cluster = try await TestCluster.shared.value
      let pool = PostgresPool(cluster.address())
      let task = Task {
        try await pool.run { (connection) throws(FieldpackError) in
          _ = try connection.execute("SELECT pg_sleep(1000), 'the one to cancel'")
        }
      }
      let watching = try cluster.connection()
      let running =
        "SELECT FROM pg_stat_activity WHERE query LIKE '%the one to cancel%' "
        + "AND state = 'active' AND pid <> pg_backend_pid()"
      while try watching.execute(running).count == 0 { await Task.yield() }
      task.cancel()
      #expect(await code { try await task.value } == .interrupted)
      while try watching.execute(running).count > 0 { await Task.yield() }
      // The connection serves the next visitor.
      let number = try await pool.run { (connection) throws(FieldpackError) in
        try connection.execute("SELECT 7").integer(0, 0)
      }
      #expect(number == 7)
      await pool.close()
      #expect(await code { try await pool.run { _ in } } == .unavailable)
    }

    @Test func `a cancelled task ends a COPY that the server does not take`() async throws {
      let cluster = try await TestCluster.shared.value
      var limits = PostgresLimits()
      limits.ending = .milliseconds(300)
      let pool = PostgresPool(cluster.address(), limits: limits)
      let (backend, written, isOver) = (Locked<pid_t>(0), Locked(0), Locked(false))
      let task = Task {
        defer { isOver.withLock { $0 = true } }
        try await pool.run { (connection) throws(FieldpackError) in
          let process = try connection.execute("SELECT pg_backend_pid()").integer(0, 0) ?? 0
          try connection.execute("CREATE TEMPORARY TABLE t (line text)")
          try connection.copyIn("COPY t FROM STDIN") { writer throws(FieldpackError) in
            backend.withLock { $0 = pid_t(process) }
            kill(pid_t(process), SIGSTOP)
            let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 1 << 16)
            while true {
              try Self.write(lines, to: writer)
              written.withLock { $0 += 1 }
            }
          }
        }
      }
      do {
        defer {
          let stopped = backend.withLock { $0 }
          if stopped > 0 { kill(stopped, SIGCONT) }
        }
        // The socket is full when nothing more is written.
        var last = -1
        while last <= 0 || last != written.withLock({ $0 }), !isOver.withLock({ $0 }) {
          last = written.withLock { $0 }
          try await Task.sleep(for: .milliseconds(20))
        }
        task.cancel()
        #expect(await code { try await task.value } == .interrupted)
      }
      await pool.close()
    }

    @Test func `a COPY whose end nobody waits for ends with its connection`() async throws {
      let schema = try await TestSchema.make()
      let table = "\(quotedUnchecked(schema.name)).t"
      try schema.run("CREATE TABLE t (a int CHECK (pg_sleep(1000) IS NOT NULL))")
      let leader = try schema.cluster.connection()
      let copy = "COPY \(table) FROM STDIN"
      let running = "SELECT FROM pg_stat_activity WHERE query = '\(copy)' AND state = 'active'"
      do {
        let follower = try PostgresConnection(schema.cluster.address(), following: leader)
        defer { withExtendedLifetime(follower) {} }
        let writer = try follower.beginCopy(copy)
        try Self.write(Array("1\n".utf8), to: writer)
        try follower.closeCopy()
        let sleeping = running + " AND wait_event = 'PgSleep'"
        while try leader.execute(sleeping).count == 0 { await Task.yield() }
      }
      while try leader.execute(running).count > 0 { await Task.yield() }
    }

    @Test func `what nobody may cancel does not begin in a task that is cancelled`() async throws {
      let pool = PostgresPool(try await TestCluster.shared.value.address())
      let (hasCome, isDone) = (Locked(false), Locked(false))
      let task = Task {
        try await pool.run { (connection) throws(FieldpackError) in
          hasCome.withLock { $0 = true }
          while !connection.canceller.isRequested { sched_yield() }
          try connection.withoutCancelling { isDone.withLock { $0 = true } }
        }
      }
      while !hasCome.withLock({ $0 }) { await Task.yield() }
      task.cancel()
      #expect(await code { try await task.value } == .interrupted)
      #expect(!isDone.withLock { $0 })
      await pool.close()
    }

    @Test func `a pool replaces what the server ended, and says when all are in use`() async throws
    {
      let cluster = try await TestCluster.shared.value
      var limits = PostgresLimits()
      limits.connections = 1
      limits.waiting = .milliseconds(1)
      limits.statement = .seconds(2)
      let pool = PostgresPool(cluster.address(), limits: limits)
      let identity = "SELECT pg_backend_pid()"
      let first = try await pool.run { (connection) throws(FieldpackError) in
        try connection.execute(identity).integer(0, 0) ?? 0
      }
      let ended = try cluster.connection().execute(
        "SELECT pg_terminate_backend($1::int4, 10000)", [.integer(first)])
      #expect(ended.flag(0, 0))
      let lease = try await pool.lease()
      let second = try await lease.run { (connection) throws(FieldpackError) in
        try connection.execute(identity).integer(0, 0) ?? 0
      }
      #expect(second != first)
      #expect(await code { _ = try await pool.lease() } == .busy)
      // The server's limit of a statement is no cancelling of ours.
      #expect(
        await code {
          try await lease.run { (connection) throws(FieldpackError) in
            _ = try connection.execute("SELECT pg_sleep(1000)")
          }
        } == .unavailable)
      await lease.release()
      await pool.close()
    }

    @Test func `what cannot be reached is told without secrets`() async throws {
      let cluster = try await TestCluster.shared.value
      var address = cluster.address(database: "nowhere")
      address.password = "hunter2"
      #expect(throws: FieldpackError.self) { try PostgresConnection(address) }
      do {
        _ = try PostgresConnection(address)
      } catch {
        #expect(error.code == .unavailable)
        #expect(error.message.hasPrefix("no connection to test/nowhere: "))
        #expect(!error.message.contains("hunter2"))
      }
    }
  }
#endif
