import FieldpackCore
import FieldpackTestSupport
import Foundation

@testable import FieldpackHTTP

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A folder with an old file, which a download is to replace.
struct DownloadFolder: Sendable {
  static let old = bytes("old")
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write("old", to: "wells.gpkg")
  }

  var target: String { path("wells.gpkg") }
  var names: [String] { (FileSystem.names(in: folder.url.path) ?? []).sorted() }
  var content: [UInt8]? { (try? Data(contentsOf: folder.file("wells.gpkg"))).map { Array($0) } }

  func path(_ name: String) -> String { folder.file(name).path }
}

extension LoopbackServer {
  /// Answers each request with the next of `replies`, and the last of them again and again.
  convenience init(answering replies: [Reply]) throws {
    let count = Locked(0)
    try self.init { _ in
      count.withLock { count in
        defer { count += 1 }
        return replies[min(count, replies.count - 1)]
      }
    }
  }
}

extension LoopbackServer.Reply {
  /// An answer with these lines in its header and nothing else, whose body may be cut.
  static func part(
    of body: String, _ head: String..., status: Int = 200, cutAt length: Int = .max,
    waits: Bool = false
  ) -> Self {
    part(of: body, head: head, status: status, cutAt: length, waits: waits)
  }

  static func part(
    of body: String, head: [String], status: Int = 200, cutAt length: Int = .max,
    waits: Bool = false
  ) -> Self {
    let lines = ["HTTP/1.1 \(status) Status"] + head + ["", ""]
    return .raw(bytes(lines.joined(separator: "\r\n")) + bytes(body).prefix(length), waits: waits)
  }
}
