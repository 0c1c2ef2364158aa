public import Foundation

/// A fresh folder that is removed when the value goes.
public final class TemporaryFolder: Sendable {
  public let url: URL

  public init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("fieldpack-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  public func file(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// Writes `text` to a file of this folder and returns its URL.
  public func write(_ text: String, to name: String) throws -> URL {
    try Data(text.utf8).write(to: file(name))
    return file(name)
  }
}
