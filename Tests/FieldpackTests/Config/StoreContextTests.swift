import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Where the files of remote stores are kept.
@Suite struct StoreContextTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [
    ("wells", "wells"), ("a-b_c.9", "a-b_c.9"), ("", "%"), (".", "%2E"), ("..", "%2E."),
    ("../a/b", "%2E.%2Fa%2Fb"), ("a\u{0}b", "a%00b"), ("50%", "50%25"), ("Süd 1", "S%C3%BCd%201"),
    ("a:b\\c\n", "a%3Ab%5Cc%0A"), ("%", "%25"), ("~", "%7E"),
  ])
  func `an id is a file name`(id: String, name: String) {
    #expect(StoreID(id).fileName == name)
  }

  @Test func `a long id is cut, and stays different from others`() {
    let long = String(repeating: "é", count: 3000)
    let name = StoreID(long).fileName
    #expect(name.utf8.count == 166 && name.hasPrefix("%C3%A9%C3"))
    #expect(StoreID(long + "x").fileName != name)
    #expect(StoreID(String(repeating: "a", count: 180)).fileName.count == 180)
  }

  private func config(_ store: String) throws -> StoreConfig {
    let file = try folder.write(#"{"stores":[\#(store)]}"#, to: "survey.v2.scfg")
    return try #require(WorkspaceConfig([file.path]).stores.first)
  }

  private let remote =
    #"{"id":"a/b","store_type":"geojson","version":"1","uri":"http://127.0.0.1:9/x.json?key=1"}"#

  @Test func `a remote store opens its downloaded file`() async throws {
    let config = try config(remote)
    var context = StoreContext()
    context.cache = .folder(folder.file("cache").path)
    let missing = #expect(throws: FieldpackError.self) { try context.file(of: config) }
    #expect(missing?.code == .unavailable)
    #expect(missing?.message == "not downloaded yet (http://127.0.0.1:9/x.json)")
    #expect(
      missing?.advice == .fetchStores(config: folder.file("survey.v2.scfg").relativePath))
    let stores = folder.file("survey.v2.stores")
    try FileManager.default.createDirectory(at: stores, withIntermediateDirectories: true)
    _ = try folder.write(
      #"{"type":"Feature","id":1,"geometry":null,"properties":{}}"#,
      to: "survey.v2.stores/a%2Fb.geojson")
    let store = try await StoreRegistry.standard.open(config, in: context)
    #expect(store.id == "a/b")
    #expect(try await store.count(Query("default")) == 1)
    await store.close()
    // Another folder holds other files.
    context.folder = folder.file("elsewhere").path
    let elsewhere = #expect(throws: FieldpackError.self) { try context.file(of: config) }
    #expect(elsewhere?.code == .unavailable)
    #expect(
      try context.downloadPath(of: config)?.hasSuffix("/elsewhere/a%2Fb.geojson") == true)
  }

  @Test func `archives keep their extension, and links lead to nothing`() throws {
    let zip = try config(
      #"{"id":"z","store_type":"shp","version":"1","uri":"https://127.0.0.1/a.ZIP?b=c.shp"}"#)
    let path = try StoreContext().downloadPath(of: zip)
    #expect(path?.hasSuffix("/survey.v2.stores/z.zip") == true)
    try FileManager.default.createSymbolicLink(
      at: folder.file("survey.v2.stores"), withDestinationURL: URL(fileURLWithPath: "/usr"))
    let error = #expect(throws: FieldpackError.self) { try StoreContext().file(of: zip) }
    #expect(error?.code == .permission)
  }

  /// A type that tells what it is opened with.
  private enum Curious: StoreType {
    static let identifier = "curious.1"
    static let clients = Locked<[ObjectIdentifier]>([])

    static func open(
      _ config: StoreConfig, in context: StoreContext
    ) async throws(FieldpackError) -> any Store {
      let client = try context.client()
      clients.withLock { $0.append(ObjectIdentifier(client)) }
      throw config.failure(.unsupported, "\(context.usesWAL) \(context.runsTriggers)")
    }
  }

  @Test func `types of others get what the workspace decides, and one client`() async throws {
    let file = try folder.write(
      #"{"stores":[{"id":"a","store_type":"curious","uri":"a"},"#
        + #"{"id":"b","store_type":"curious","uri":"b"}]}"#, to: "a.scfg")
    let workspace = try await Workspace.open(
      [file.path], registry: StoreRegistry([Curious.self]), usesWAL: false, runsTriggers: true)
    #expect(workspace.members.map(\.state.error?.message) == ["false true", "false true"])
    #expect(Set(Curious.clients.withLock { $0 }).count == 1)
    await workspace.close()
  }
}
