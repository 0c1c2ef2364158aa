import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `fetch` that is killed leaves the old file or none, and the next one asks for the rest only. 8 kills,
/// or as many as `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct KilledFetchTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 8

  /// What the server has.
  private struct Served {
    var body: [UInt8] = []
    var tag = ""
    /// How much of it comes before the server waits; `nil` for all.
    var cut: Int?
  }

  private let folder: TemporaryFolder
  private let server: LoopbackServer
  private let served: Locked<Served>

  init() throws {
    folder = try TemporaryFolder()
    let served = Locked(Served())
    self.served = served
    server = try LoopbackServer { request in
      let now = served.withLock { $0 }
      guard let cut = now.cut else { return .whole(now.body, now.tag, for: request) }
      let head = "HTTP/1.1 200 OK\r\nETag: \(now.tag)\r\nContent-Length: \(now.body.count)\r\n\r\n"
      return .raw(Array(head.utf8) + now.body.prefix(cut), waits: true)
    }
    _ = try folder.write(
      #"{"stores":[{"id":"a","store_type":"geojson","version":"1","uri":"\#(server.address)"}]}"#,
      to: "a.scfg")
  }

  private static func version(_ number: Int) -> [UInt8] {
    let features = (0..<1000).map { id in
      #"{"type":"Feature","id":\#(id),"properties":{"version":\#(number)},"#
        + #""geometry":{"type":"Point","coordinates":[\#(id % 180),2]}}"#
    }
    let text = #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
    return Array(text.utf8)
  }

  private var content: [UInt8]? {
    (try? Data(contentsOf: folder.file("a.stores/a.geojson"))).map { Array($0) }
  }

  /// Starts `fetch`, and kills it some time after the server was asked.
  private func killFetch() async throws {
    let count = server.requests.count
    let program = try await onThread {
      let program = try Tool.start(["fetch", "a.scfg", "--again"], folder: folder.url)
      try program.block(for: "its request") { server.requests.count > count }
      usleep(UInt32.random(in: 0...30_000))
      program.send(SIGKILL)
      return program
    }
    _ = try await program.result()
  }

  @Test func `a killed fetch leaves the old file or none, and the next one goes on`() async throws {
    var parts = 0
    for number in 0..<Self.kills {
      let body = Self.version(number)
      if number % 4 < 2 { try? FileManager.default.removeItem(at: folder.file("a.stores")) }
      let before = content
      let cut = number % 2 == 0 ? Int.random(in: 0..<body.count) : nil
      served.withLock { $0 = Served(body: body, tag: "\"\(number)\"", cut: cut) }
      try await killFetch()
      let left = content
      #expect(left == before || (cut == nil && left == body), "kill \(number)")
      let part = FileSystem.size(folder.file("a.stores/.a.geojson.part").path) ?? 0
      parts += part > 0 ? 1 : 0
      served.withLock { $0.cut = nil }
      let next = try await Tool.run("fetch", "a.scfg", "--again", folder: folder.url)
      #expect(next.status == 0, "kill \(number): \(next)")
      #expect(content == body, "kill \(number)")
      let range = part > 0 ? "bytes=\(min(part, body.count - 1))-" : nil
      #expect(server.requests.last?["Range"] == range, "kill \(number)")
      let names = try FileManager.default.contentsOfDirectory(
        atPath: folder.file("a.stores").path)
      #expect(names.sorted() == [".a.geojson.origin", "a.geojson"], "kill \(number)")
    }
    #expect(parts > 0)
  }
}
