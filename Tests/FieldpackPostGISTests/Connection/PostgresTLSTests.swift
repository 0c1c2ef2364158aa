#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A server with a certificate, and roles with passwords.
  @Suite(
    .programs, .enabled(if: SecureCluster.isInstalled, Comment(rawValue: SecureCluster.missing)))
  struct PostgresTLSTests {
    private func store(
      _ uri: String, password descriptor: Int32? = nil, logger: Logger = .silent
    ) async throws -> any Store {
      let folder = try TemporaryFolder()
      let options = descriptor.map { "{\"passwordDescriptor\": \($0)}" } ?? "{}"
      let file = try folder.write(
        """
        {"stores": [{"id": "team", "store_type": "postgis", "version": "1", "uri": "\(uri)",
          "options": \(options)}]}
        """, to: "team.scfg")
      let config = try #require(try WorkspaceConfig([file.path]).stores.first)
      var context = StoreContext()
      context.logger = logger
      return try await PostGISStoreType.open(config, in: context)
    }

    private func failure(_ uri: String, password descriptor: Int32? = nil) async -> FieldpackError?
    {
      do { await (try await store(uri, password: descriptor)).close() } catch {
        return error as? FieldpackError
      }
      return nil
    }

    @Test func `a server with the right name and authority is taken`() async throws {
      let server = try await SecureCluster.shared.value
      let store = try await store(server.uri("fieldpack", ["sslrootcert": server.authority]))
      #expect(try await store.count(Query("wells")) == 1)
      let own = try #require(store as? PostGISStore)
      let isSecure = try await own.pool.run { (connection) throws(FieldpackError) in
        try connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").flag(
          0, 0)
      }
      #expect(isSecure)
      await store.close()
    }

    @Test func `another name, an unknown authority and no TLS are refused`() async throws {
      let server = try await SecureCluster.shared.value
      let other = await failure(
        server.uri("fieldpack", host: "127.0.0.1", ["sslrootcert": server.authority]))
      #expect(other?.code == .unavailable)
      #expect(
        other?.message.hasSuffix(
          "does not match host name \"127.0.0.1\". Try: the name that stands in the server's certificate"
        ) == true, "\(other?.message ?? "")")
      let strange = ["sslrootcert": server.stranger]
      for parameters in [strange, strange.merging(["sslmode": "verify-ca"]) { $1 }, [:]] {
        let error = await failure(server.uri("fieldpack", parameters))
        #expect(error?.code == .unavailable)
        #expect(
          error?.message.hasSuffix(
            "Try: ?sslrootcert=FILE in the uri, with the certificate of the server's authority")
            == true, "\(error?.message ?? "")")
        #expect(error?.message.hasPrefix("no connection to localhost:\(server.port)/") == true)
      }
      let plain = await failure(server.uri("fieldpack", ["sslmode": "disable"]))
      #expect(plain?.code == .unavailable)
      #expect(plain?.message.contains("no pg_hba.conf entry") == true)
    }

    private final class Heard: LogHandler {
      let lines = Locked<[String]>([])
      func log(_ entry: LogEntry) {
        let facts = entry.metadata.map { "\($0.name)=\($0.value)" }
        lines.withLock { $0.append("\(entry.level) \(entry.message) \(facts)") }
      }
    }

    @Test func `a server that nobody has verified is told`() async throws {
      let server = try await SecureCluster.shared.value
      let heard = Heard()
      let logger = Logger(label: "test", level: .warning, handler: heard)
      // The server is on this machine, but that does not show in another name of it.
      let parameters = ["sslmode": "require"]
      let uri = server.uri("fieldpack", host: "127.0.0.2,127.0.0.1", parameters)
        .replacingOccurrences(of: "127.0.0.2,", with: "127.0.0.1:\(server.port),")
      await (try await store(uri, logger: logger)).close()
      #expect(heard.lines.withLock { $0.count } == 1)
      #expect(heard.lines.withLock { $0.first }?.contains("require") == true)
      await
        (try await store(
          server.uri("fieldpack", ["sslrootcert": server.authority]), logger: logger)).close()
      #expect(heard.lines.withLock { $0.count } == 1)
    }

    // MARK: Passwords

    /// A file that is open with a line in it.
    private func descriptor(_ line: String) throws -> Int32 {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      let bytes = Array((line + "\nmore").utf8)
      #expect(write(ends[1], bytes, bytes.count) == bytes.count)
      close(ends[1])
      return ends[0]
    }

    @Test func `a password comes from a descriptor, and a wrong one is not repeated`() async throws
    {
      let server = try await SecureCluster.shared.value
      let uri = server.uri("eva", ["passfile": "/dev/null", "sslrootcert": server.authority])
      let right = try descriptor(SecureCluster.password)
      let store = try await store(uri, password: right)
      #expect(try await store.count(Query("wells")) == 1)
      await store.close()
      let wrong = try descriptor("hunter2")
      let error = await failure(uri, password: wrong)
      #expect(error?.code == .permission)
      #expect(error?.message.contains("password authentication failed") == true)
      #expect(error.map { "\($0)".contains("hunter2") } == false)
      let none = await failure(uri)
      #expect(none?.code == .permission)
      #expect(
        none?.message.hasSuffix(
          "Try: a line in ~/.pgpass or the file that PGPASSFILE names, or a service file") == true)
      for descriptor in [right, wrong] { close(descriptor) }
    }

    /// Runs the tool on a config, with all that it logs.
    private func run(
      _ folder: TemporaryFolder, _ uri: String, _ environment: [String: String]
    ) async throws -> RunResult {
      _ = try folder.write(
        """
        {"stores": [{"id": "team", "store_type": "postgis", "version": "1", "uri": "\(uri)"}]}
        """, to: "team.scfg")
      return try await Tool.run(
        ["query", "team.scfg", "wells", "--format", "csv", "--log-level", "trace"],
        environment: environment.merging(["HOME": folder.url.path]) { $1 }, folder: folder.url)
    }

    /// A file that nobody else may read.
    private func secret(
      _ folder: TemporaryFolder, _ text: String, _ name: String
    ) throws -> String {
      let path = try folder.write(text, to: name).path
      chmod(path, 0o600)
      return path
    }

    @Test func `a password comes from the files of libpq, and is in no output`() async throws {
      let server = try await SecureCluster.shared.value
      let folder = try TemporaryFolder()
      // In these files `:` and `\` have a backslash before them.
      let password = SecureCluster.password.replacing("\\", with: "\\\\")
      let entry = "localhost:\(server.port):fieldpack:eva:\(password)"
      let file = try secret(folder, entry, "passwords")
      let wrong = try secret(folder, "*:*:*:*:hunter2", "wrong")
      let service = try secret(
        folder,
        """
        [team]
        host=localhost
        port=\(server.port)
        dbname=fieldpack
        user=eva
        password=\(SecureCluster.password)
        sslrootcert=\(server.authority)
        """, "services")
      let uri = server.uri("eva", ["sslrootcert": server.authority])
      let runs = [
        try await run(folder, uri, ["PGPASSFILE": file]),
        try await run(folder, "postgresql:///?service=team", ["PGSERVICEFILE": service]),
        try await run(folder, uri, ["PGPASSFILE": wrong]),
        try await run(folder, uri, [:]),
      ]
      for result in runs {
        #expect(!"\(result)".contains(SecureCluster.password))
        #expect(!"\(result)".contains("hunter2"))
      }
      #expect(runs.map(\.status) == [0, 0, 77, 77], "\(runs)")
      #expect(runs[2...].allSatisfy { $0.error.contains("code=permission") })
      #expect(runs[0].output == "fid,name\r\n1,Markt\r\n" && runs[1].output == runs[0].output)
      _ = try secret(folder, entry, ".pgpass")
      #expect(try await run(folder, uri, [:]).output == runs[0].output)
      let log = try String(contentsOfFile: server.cluster.folder + "/log", encoding: .utf8)
      #expect(!log.contains(SecureCluster.password) && !log.contains("hunter2"))
    }
  }
#endif
