import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// HTTPS, as curl and OpenSSL see it.
  @Suite(.programs) struct ServerTLSTests {
    private static let openssl = "/usr/bin/openssl"
    private static let curl = "/usr/bin/curl"
    private static let arePresent = [openssl, curl].allSatisfy {
      FileManager.default.isExecutableFile(atPath: $0)
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Makes `name.crt` and `name.key`.
    private func make(_ name: String) async throws {
      let result = try await Program.run(
        Self.openssl,
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
          "-keyout", folder.file("\(name).key").path, "-out", folder.file("\(name).crt").path,
          "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
        ])
      #expect(result.status == 0, "\(result.error)")
      try setMode(0o600, of: "\(name).key")
    }

    private func setMode(_ mode: Int, of name: String) throws {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: folder.file(name).path)
    }

    private func certificate(_ chain: String, _ key: String) throws -> ServerCertificate {
      try ServerCertificate(
        certificate: folder.file(chain).path, key: folder.file(key).path)
    }

    @Test(.enabled(if: arePresent)) func `clients are answered by TLS 1_2 and later`() async throws
    {
      try await make("a")
      var text = ""
      let server = try await TestServer(wells: 3_000) { options, folder in
        let tokens = AccessTokens(folder.file("tokens.json").path)
        text = try tokens.add("a", [.read(nil)])
        options.tokens = tokens
        options.certificate = try certificate("a.crt", "a.key")
      }
      let address = server.address.replacingOccurrences(of: "http:", with: "https:")
      let authority = folder.file("a.crt").path
      func curl(_ path: String, _ options: String...) async throws -> RunResult {
        try await Program.run(
          Self.curl,
          ["-sS", "--cacert", authority, "-u", "qgis:\(text)"] + options + [address + path])
      }
      let page = try await curl("/collections")
      #expect(page.output.contains(#""href":"\#(address)/collections?f=json""#), "\(page.error)")
      // One that is streamed.
      let lines = try await curl("/collections/wells/items?f=geojsonl")
      #expect(lines.output.split(separator: "\n").count == 3_000)
      let signedIn = try await curl("/login", "-i", "-d", "token=\(text)")
      #expect(signedIn.output.contains("; SameSite=Strict; Secure\r\n"))
      let stranger = try await Program.run(Self.curl, ["-sS", address + "/"])
      #expect(stranger.status == 60)
      let plain = try await Program.run(Self.curl, ["-sS", server.address + "/"])
      #expect(plain.status != 0)
      let place = String(address.dropFirst("https://".count))
      for (version, isTaken) in [
        ("-tls1_3", true), ("-tls1_2", true), ("-tls1_1", false), ("-tls1", false),
      ] {
        let result = try await Program.run(
          Self.openssl,
          [
            "s_client", "-connect", place, version, "-cipher", "ALL:@SECLEVEL=0", "-CAfile",
            authority,
          ], input: Data())
        #expect((result.status == 0) == isTaken, "\(version)")
      }
      await server.close()
    }

    @Test(.enabled(if: arePresent))
    func `a certificate is used with its own key, which nobody else reads`() async throws {
      try await make("a")
      try await make("b")
      func code(_ chain: String, _ key: String) async throws -> FieldpackError.Code? {
        do {
          let pair = try certificate(chain, key)
          let server = try await TestServer { options, _ in options.certificate = pair }
          await server.close()
          return nil
        } catch let error as FieldpackError {
          return error.code
        }
      }
      #expect(try await code("a.crt", "a.key") == nil)
      #expect(try await code("a.crt", "b.key") == .invalidData)
      #expect(try await code("a.key", "a.key") == .invalidData)
      #expect(try await code("a.crt", "a.crt") == .permission)
      #expect(try await code("a.crt", "none.key") == .notFound)
      for mode in [0o644, 0o640, 0o604, 0o620] {
        try setMode(mode, of: "a.key")
        #expect(try await code("a.crt", "a.key") == .permission)
      }
    }
  }
#endif
