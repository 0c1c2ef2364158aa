import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation

/// A folder for the files of remote stores, and what configs and servers of tests need.
final class StoreFolder: Sendable {
  static let geoJSON =
    #"{"type":"FeatureCollection","features":["#
    + #"{"type":"Feature","id":1,"properties":{"depth":3},"#
    + #""geometry":{"type":"Point","coordinates":[1,2]}}]}"#

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  var context: StoreContext {
    var http = HTTPConfiguration()
    (http.connectTimeout, http.timeout) = (.seconds(60), nil)
    var context = StoreContext(http: http)
    context.cache = .folder(folder.file("cache").path)
    context.folder = folder.file("stores").path
    return context
  }

  /// What lies in the store folder, hidden files as well.
  var allNames: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.file("stores").path)) ?? [])
      .sorted()
  }

  /// The same without the origins of files that are there.
  var names: [String] {
    let all = allNames
    return all.filter { name in !all.contains { name == ".\($0).origin" } }
  }

  func content(_ name: String) -> String? {
    try? String(contentsOf: folder.file("stores/\(name)"), encoding: .utf8)
  }

  func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(
      at: folder.file("stores"), withIntermediateDirectories: true)
    _ = try folder.write(text, to: "stores/\(name)")
  }

  /// A store as a config describes it.
  func store(
    _ id: String, _ type: String = "geojson", at uri: String, options: String = "{}"
  ) throws -> StoreConfig {
    let text = """
      {"stores": [{"id": "\(id)", "store_type": "\(type)", "version": "1", "uri": "\(uri)",
        "options": \(options)}]}
      """
    let config = WorkspaceConfig(
      try ConfigDocument(Array(text.utf8), file: "survey.scfg"), folder: folder.url.path)
    return config.stores[0]
  }
}

extension LoopbackServer {
  /// Answers in turn; the last one stays.
  convenience init(answering replies: [Reply]) throws {
    let left = Locked(replies)
    try self.init { _ in
      left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
  }
}

extension LoopbackServer.Reply {
  /// The first bytes of a text, whose whole length is told; then the connection ends.
  static func cut(
    _ text: String, at count: Int, status: Int = 200, _ fields: String...
  ) -> LoopbackServer.Reply {
    let head = ["HTTP/1.1 \(status) Status", "Content-Length: \(text.utf8.count)"] + fields
    return .raw(
      Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + text.utf8.prefix(count))
  }
}
