import FieldpackCore
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A mosquitto of its own on 127.0.0.1, in a folder of its own.
public final class TestBroker: Sendable {
  public static let program = path(of: "mosquitto")
  public static let missing = "mosquitto is not installed"
  /// The program that prints the messages of topics.
  public static let subscriber = path(of: "mosquitto_sub")

  private static func path(of program: String) -> String? {
    ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/opt/homebrew/sbin", "/opt/homebrew/bin"]
      .map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  public let folder: TemporaryFolder
  public let port: Int
  private let running = Locked<Program?>(nil)

  /// - Parameter settings: lines of the broker's config beside those of its port.
  public init(
    _ settings: [String] = ["allow_anonymous true"], in folder: TemporaryFolder? = nil,
    isPersistent: Bool = false
  ) async throws {
    self.folder = try folder ?? TemporaryFolder()
    port = Int(try LoopbackServer.freePort())
    var lines = ["listener \(port) 127.0.0.1", "log_dest stderr"] + settings
    lines.append("persistence \(isPersistent)")
    if isPersistent { lines.append("persistence_location \(self.folder.url.path)/") }
    // As another user it could not read the folder.
    if getuid() == 0 { lines.append("user root") }
    _ = try self.folder.write(lines.joined(separator: "\n") + "\n", to: "broker.conf")
    try await start()
  }

  public func start() async throws {
    let program = try Program(
      Self.program ?? "", ["-c", folder.file("broker.conf").path])
    running.withLock { $0 = program }
    try await program.wait(for: "the broker to listen") {
      program.errorSoFar.contains(" running")
    }
  }

  /// Ends without a good-bye.
  public func kill() async throws { try await end(SIGKILL) }

  /// Ends as by its service: a persistent broker keeps what it has for its subscribers.
  public func stop() async throws { try await end(SIGTERM) }

  private func end(_ signal: Int32) async throws {
    let program = running.withLock { $0 }
    program?.send(signal)
    _ = try await program?.result()
    running.withLock { $0 = nil }
  }
}
