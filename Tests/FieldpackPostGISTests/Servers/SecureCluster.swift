#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A server on 127.0.0.1 that speaks TLS only. Its certificate is for `localhost` and comes from an
  /// authority of its own; the user `eva` has a password.
  struct SecureCluster: Sendable {
    static let openssl = "/usr/bin/openssl"
    static let isInstalled =
      TestCluster.isInstalled && FileManager.default.isExecutableFile(atPath: openssl)
    static let missing = "\(TestCluster.missing), and openssl"

    static let shared = Task { try await SecureCluster() }

    static let password = "käse-7f3a'\\ 9b"

    let cluster: TestCluster
    let port: UInt16
    /// The certificate of the authority, and that of another one.
    let authority: String
    let stranger: String

    init() async throws {
      port = try LoopbackServer.freePort()
      cluster = try TestCluster(port: port)
      let folder = cluster.folder
      (authority, stranger) = (folder + "/authority.crt", folder + "/stranger.crt")
      for name in ["authority", "stranger"] {
        try await Self.make(name, in: folder, ["-days", "2"])
      }
      try await Self.make(
        "server", in: folder,
        [
          "-CA", authority, "-CAkey", folder + "/authority.key", "-days", "2", "-addext",
          "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
        ])
      var status = stat()
      guard stat(folder, &status) == 0 else {
        throw TestCluster.Failure(description: "no \(folder)")
      }
      chown(folder + "/server.key", status.st_uid, status.st_gid)
      try """
      local all fieldpack trust
      hostssl all eva 127.0.0.1/32 scram-sha-256
      hostssl all fieldpack 127.0.0.1/32 trust
      """.write(toFile: folder + "/data/pg_hba.conf", atomically: false, encoding: .utf8)
      let connection = try cluster.connection()
      for setting in [
        "ssl_cert_file = '\(folder)/server.crt'", "ssl_key_file = '\(folder)/server.key'",
      ] { try connection.execute("ALTER SYSTEM SET \(setting)") }
      try connection.execute("ALTER SYSTEM SET ssl = on")
      try connection.execute(
        "CREATE ROLE eva LOGIN PASSWORD \(ShardSQL.literal(Self.password))")
      try connection.run(
        script: """
          CREATE TABLE public.wells (fid int PRIMARY KEY, name text);
          INSERT INTO public.wells VALUES (1, 'Markt'); GRANT SELECT ON public.wells TO eva;
          """)
      try connection.execute("SELECT pg_reload_conf()")
      // The server reads its settings when it comes to it.
      while (try? Self.isSecure(port)) != true { try await Task.sleep(for: .milliseconds(20)) }
    }

    private static func isSecure(_ port: UInt16) throws -> Bool {
      let address = PostgresAddress(
        keywords: [
          ("host", "127.0.0.1"), ("port", "\(port)"), ("dbname", "fieldpack"),
          ("user", "fieldpack"), ("sslmode", "require"),
        ], shown: "test")
      return try PostgresConnection(address).execute(
        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
      ).flag(0, 0)
    }

    /// Makes `name.crt` and `name.key`.
    private static func make(
      _ name: String, in folder: String, _ options: [String]
    ) async throws {
      let made = try await Program.run(
        openssl,
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
          "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).crt", "-subj",
          "/CN=\(name)",
        ] + options)
      guard made.status == 0 else { throw TestCluster.Failure(description: made.error) }
      chmod("\(folder)/\(name).key", 0o600)
    }

    /// A uri for a config.
    func uri(
      _ user: String, host: String = "localhost", _ parameters: [String: String]
    ) -> String {
      let pairs = parameters.sorted { $0.key < $1.key }.map {
        "\($0.key)=\($0.value.replacingOccurrences(of: "/", with: "%2F"))"
      }
      return "postgresql://\(user)@\(host):\(port)/fieldpack?\(pairs.joined(separator: "&"))"
    }
  }
#endif
