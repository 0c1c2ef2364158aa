#if PostGIS
  import FieldpackCore
  import Foundation

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A PostgreSQL server of its own, in a folder of its own, which listens on a Unix socket there.
  ///
  /// The server runs as another user where the tests run as root, because it refuses to run as root. A
  /// shell beside it waits for the end of this process, however that ends, stops the server and removes
  /// the folder.
  final class TestCluster: Sendable {
    static let missing = "there is no PostgreSQL with PostGIS: install postgresql-15-postgis-3"

    /// The folder with `initdb` and `postgres`; `nil` where a part is not installed.
    static let programs: String? = {
      let root = "/usr/lib/postgresql"
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
      let folders = versions.sorted { ($0.count, $0) > ($1.count, $1) }.map { version in
        (
          "\(root)/\(version)/bin",
          "/usr/share/postgresql/\(version)/extension/postgis.control"
        )
      }
      return folders.first { programs, control in
        let isThere = FileManager.default.isExecutableFile(atPath: programs + "/initdb")
        return isThere && FileManager.default.fileExists(atPath: control)
      }?.0
    }()

    static var isInstalled: Bool { programs != nil }

    /// The cluster that tests share; each has a schema or a database of its own there.
    static let shared = Task { try TestCluster() }

    let folder: String
    /// The port of TCP, which is in the name of the Unix socket, too.
    let port: UInt16?
    /// Keeps the shell beside the server waiting.
    private let lifeline: FileHandle
    private let watcher: Process
    private let serverID = Locked<pid_t>(0)

    static let quick = ["fsync=off", "full_page_writes=off"]

    /// - Parameters:
    ///   - settings: of the server, beside those that every test needs.
    ///   - port: where the server listens on 127.0.0.1; `nil` is nowhere.
    ///   - starter: a command that starts the server, which follows it.
    init(
      settings: [String] = quick, port: UInt16? = nil, starter: (String) -> [String] = { _ in [] }
    ) throws {
      self.port = port
      folder =
        FileManager.default.temporaryDirectory.path
        + "/fieldpack-test-\(UUID().uuidString.prefix(13))"
      guard let programs = Self.programs else { throw Failure(description: Self.missing) }
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      var user: [String] = []
      if getuid() == 0 {
        guard let other = getpwnam("nobody") else {
          throw Failure(description: "there is no user 'nobody' to run a server as")
        }
        let (id, group) = (other.pointee.pw_uid, other.pointee.pw_gid)
        chown(folder, id, group)
        user = ["setpriv", "--reuid=\(id)", "--regid=\(group)", "--clear-groups"]
      }
      let made =
        user + [
          programs + "/initdb", "-D", folder + "/data", "-U", "fieldpack", "-A", "trust", "-E",
          "UTF8", "--locale=C.UTF-8", "--no-sync",
        ]
      try Self.run(made, folder)
      var server =
        starter(folder) + user + [
          programs + "/postgres", "-D", folder + "/data", "-k", folder, "-c",
          "listen_addresses=\(port == nil ? "" : "127.0.0.1")", "-p", "\(port ?? 5_432)",
          "-c", "max_connections=120", "-c", "shared_buffers=64MB", "-c", "logging_collector=off",
        ]
      for setting in settings { server += ["-c", setting] }
      (watcher, lifeline) = try Self.start(server, folder)
      try waitForServer()
      let connection = try connection(database: "postgres")
      try connection.execute("CREATE DATABASE fieldpack")
      // Tests that run at the same time would make the second one twice.
      for name in ["postgis", "postgres_fdw"] {
        try self.connection().execute("CREATE EXTENSION \(name)")
      }
    }

    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    private static func run(_ command: [String], _ folder: String) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = command
      process.currentDirectoryURL = URL(fileURLWithPath: folder)
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let text = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw Failure(description: "\(command): \(String(decoding: text, as: UTF8.self))")
      }
    }

    /// Starts the server under a shell that stops it at the end of its input.
    private static func start(
      _ server: [String], _ folder: String
    ) throws -> (Process, FileHandle) {
      var ends: [Int32] = [0, 0]
      guard makePipe(&ends) == 0 else { throw Failure(description: "no pipe") }
      // Another child that inherited it would keep the server alive.
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments =
        [
          "-c",
          """
          folder=$0
          "$@" >"$folder/log" 2>&1 </dev/null & server=$!
          cat >/dev/null
          kill -QUIT $server 2>/dev/null
          wait $server
          rm -rf "$folder"
          """, folder,
        ] + server
      process.currentDirectoryURL = URL(fileURLWithPath: folder)
      process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
      try process.run()
      return (process, FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
    }

    private func waitForServer() throws {
      while true {
        if (try? connection(database: "postgres")) != nil { return }
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        guard watcher.isRunning, !log.contains("FATAL:  could not") else {
          throw Failure(description: "the server does not start: \(log)")
        }
        usleep(20_000)
      }
    }

    deinit {
      try? lifeline.close()
      watcher.waitUntilExit()
    }

    // MARK: Connections

    func address(database: String = "fieldpack") -> PostgresAddress {
      PostgresAddress(
        keywords: [
          ("host", folder), ("port", "\(port ?? 5_432)"), ("dbname", database),
          ("user", "fieldpack"), ("passfile", "/dev/null"),
        ], shown: "test/\(database)")
    }

    func connection(database: String = "fieldpack") throws -> PostgresConnection {
      try PostgresConnection(address(database: database))
    }

    /// A uri for a config.
    func uri(database: String = "fieldpack") -> String {
      let host = folder.replacingOccurrences(of: "/", with: "%2F")
      return "postgresql://fieldpack@\(host)/\(database)"
    }
  }

  private func makePipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }

  /// A schema of the shared cluster that is dropped with this object.
  final class TestSchema: Sendable {
    let cluster: TestCluster
    let name: String

    init(_ cluster: TestCluster, name: String? = nil) throws {
      self.cluster = cluster
      self.name = name ?? "s" + UUID().uuidString.lowercased().prefix(13)
      try run("CREATE SCHEMA \(quoted(identifier: self.name))")
    }

    static func make() async throws -> TestSchema {
      try TestSchema(try await TestCluster.shared.value)
    }

    deinit {
      let drop = "DROP SCHEMA \(quotedUnchecked(name)) CASCADE"
      try? cluster.connection().run(script: drop)
    }

    /// Runs statements that find their tables in the schema.
    func run(_ script: String) throws {
      let connection = try cluster.connection()
      let path = "SET search_path = \(quotedUnchecked(name)), public;"
      try connection.run(script: path + script)
    }

    var scope: PostGISScope {
      var scope = PostGISScope()
      scope.schema = name
      return scope
    }

    func store(
      tables: [PostGISScope.Table]? = nil, limits: PostgresLimits = PostgresLimits(),
      trusted: Duration = .zero
    ) -> PostGISStore {
      var scope = scope
      scope.tables = tables
      return PostGISStore(
        id: "survey", address: cluster.address(), scope: scope, limits: limits, trusted: trusted)
    }
  }
#endif
