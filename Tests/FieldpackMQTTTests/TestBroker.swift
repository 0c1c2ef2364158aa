#if MQTT
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A mosquitto of its own on 127.0.0.1, in a folder of its own.
  final class TestBroker: Sendable {
    static let program: String? = [
      "/usr/sbin", "/usr/local/sbin", "/usr/bin", "/opt/homebrew/sbin",
    ]
    .map { "\($0)/mosquitto" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    static let missing: Comment = "mosquitto is not installed"

    let folder: TemporaryFolder
    let port: Int
    private let running = Locked<Program?>(nil)

    /// - Parameter settings: lines of the broker's config beside those of its port.
    init(_ settings: [String] = ["allow_anonymous true"], in folder: TemporaryFolder? = nil)
      async throws
    {
      self.folder = try folder ?? TemporaryFolder()
      port = try RawServer.freePort()
      var lines = ["listener \(port) 127.0.0.1", "persistence false", "log_dest stderr"] + settings
      // As another user it could not read the folder.
      if getuid() == 0 { lines.append("user root") }
      _ = try self.folder.write(lines.joined(separator: "\n") + "\n", to: "broker.conf")
      try await start()
    }

    deinit { running.withLock { $0 }?.send(SIGKILL) }

    func start() async throws {
      let program = try Program(
        Self.program ?? "", ["-c", folder.file("broker.conf").path])
      running.withLock { $0 = program }
      try await program.wait(for: "the broker to listen") {
        program.errorSoFar.contains(" running")
      }
    }

    /// Ends without a good-bye.
    func kill() async throws {
      let program = running.withLock { $0 }
      program?.send(SIGKILL)
      _ = try await program?.result()
      running.withLock { $0 = nil }
    }
  }
#endif
