import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// The user of a store's uri: sent to its server, and told nobody else.
@Suite struct StoreCredentialsTests {
  private final class Log: LogHandler {
    private let entries = Locked<[LogEntry]>([])
    func log(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }
    var text: String { entries.withLock { "\($0)" } }
  }

  private static let word = "Basic " + Data("me:word".utf8).base64EncodedString()

  private let folder: StoreFolder
  private let log = Log()

  init() throws { folder = try StoreFolder() }

  private var context: StoreContext {
    var context = folder.context
    context.logger = Logger(label: "fieldpack", level: .trace, handler: log)
    return context
  }

  /// The address of a server with a user.
  private func uri(_ server: LoopbackServer, _ path: String) -> String {
    server.address.replacing("http://", with: "http://me:word@") + path
  }

  private func sent(_ server: LoopbackServer) -> [String?] {
    server.requests.map { $0["Authorization"] }
  }

  @Test func `a download has it, and does not take it to another server`() async throws {
    let other = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    let server = try LoopbackServer { request in
      request["Authorization"] == Self.word
        ? .text(302, "", fields: [["Location", other.address + "/all.geojson"]])
        : .text(401, "")
    }
    let store = try folder.store("wells", at: uri(server, "/wells.geojson"))
    #expect(try await StoreDownload(store, in: context).run())
    #expect(folder.content("wells.geojson") == StoreFolder.geoJSON)
    #expect(sent(server) == [Self.word] && sent(other) == [nil])
    #expect(!log.text.contains("word"))
    // Another password is no other address.
    let changed = try folder.store(
      "wells", at: uri(server, "/wells.geojson").replacing(":word@", with: ":secret@"))
    #expect(try await !StoreDownload(changed, in: context).run() && sent(server).count == 1)
  }

  @Test(arguments: ["1.1.0", "2.0.0"])
  func `a service gets it, and no other server`(version: String) async throws {
    let other = try LoopbackServer { _ in .text(200, "") }
    let server = try LoopbackServer { request in
      request["Authorization"] == Self.word
        ? .text(302, "", fields: [["Location", other.address + "/wfs"]]) : .text(401, "")
    }
    var config = try folder.store("wells", "wfs", at: uri(server, "/wfs?key=x"))
    config.version = version
    let store = try await StoreRegistry.standard.open(config, in: context)
    let error = await #expect(throws: FieldpackError.self) { try await store.layers() }
    #expect(error?.code == .invalidData)
    #expect(sent(server) == [Self.word] && other.requests.count == 0)
    #expect(log.text.contains("GetCapabilities") && !log.text.contains("word"))
    #expect(error?.description.contains("word") == false)
    await store.close()
  }
}
