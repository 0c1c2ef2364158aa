import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

/// The file of tokens.
@Suite struct AccessTokensTests {
  private let folder: TemporaryFolder
  private let path: String
  private let tokens: AccessTokens

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("tokens.json").path
    tokens = AccessTokens(path)
  }

  private func find(_ text: String) -> String? { tokens.token(of: text) { _ in }?.name }

  @Test func `the file has hashes alone, and nobody else reads it`() throws {
    let moment = Instant(milliseconds: 0)
    let text = try tokens.add("tablet", [.read(nil), .write("wells"), .ingest, .bio], at: moment)
    #expect(text.hasPrefix("fp_") && text.count == 46)
    let kept = try String(contentsOfFile: path, encoding: .utf8)
    let digest = SHA256.hex(Array(text.utf8))
    #expect(
      kept == #"{"version":1,"tokens":[{"name":"tablet","rights":["read","write:wells","ingest","#
        + #""bio"],"created":"1970-01-01T00:00:00.000Z","sha256":"\#(digest)"}]}"# + "\n")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try tokens.all().map(\.rights) == [[.read(nil), .write("wells"), .ingest, .bio]])
  }

  @Test func `a token is found until it is revoked`() throws {
    let (first, second) = (try tokens.add("a", [.read(nil)]), try tokens.add("b", [.read(nil)]))
    #expect([find(first), find(second), find("fp_other"), find("")] == ["a", "b", nil, nil])
    // Another program takes it back.
    try AccessTokens(path).revoke("a")
    #expect([find(first), find(second)] == [nil, "b"])
    #expect(throws: FieldpackError.self) { try tokens.revoke("a") }
    #expect(throws: FieldpackError.self) { try tokens.add("b", []) }
    #expect(throws: FieldpackError.self) { try tokens.add("", []) }
    #expect(throws: FieldpackError.self) { try tokens.add("a\nb", []) }
  }

  @Test func `no token counts of a file that others may read, or that is none`() throws {
    let text = try tokens.add("a", [.read(nil)])
    var told: [FieldpackError.Code] = []
    func find() -> String? { tokens.token(of: text) { told.append($0.code) }?.name }
    #expect(find() == "a")
    for mode in [0o644, 0o620, 0o604] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      #expect(find() == nil)
      #expect(find() == nil)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(find() == "a")
    try Data("{}".utf8).write(to: folder.file("tokens.json"))
    #expect(find() == nil)
    try FileManager.default.removeItem(atPath: path)
    #expect(find() == nil)
    // Each state is told once.
    #expect(told == [.permission, .permission, .permission, .invalidData])
  }

  @Test(arguments: ["", "own", "read:", "ingest:wells", "bio:x", "READ", "write :x"])
  func `what is no right is refused`(word: String) {
    #expect(throws: FieldpackError.self) { try AccessRight(word) }
  }

  private static let cases: [(rights: String, layer: LayerID?, reads: Bool, writes: Bool)] = [
    ("read", nil, true, false), ("read", "wells", true, false), ("read", "bio_pulse", false, false),
    ("read bio", "BIO_pulse", true, false), ("bio", "bio_pulse", true, false),
    ("bio", "wells", false, false), ("bio", nil, false, false), ("write", nil, true, true),
    ("write", "bio_pulse", false, false), ("write bio", "bio_pulse", true, true),
    ("write:wells", "wells", true, true), ("write:wells", "roads", false, false),
    ("write:wells", nil, false, false), ("read:a:b", "a:b", true, false),
    ("read:bio_x", "bio_x", false, false), ("read:bio_x bio", "bio_x_audit", true, false),
    ("ingest", "wells", false, false), ("", "wells", false, false),
  ]

  @Test(arguments: cases)
  func `rights reach so far`(
    rights: String, layer: LayerID?, reads: Bool, writes: Bool
  ) throws {
    let rights = try rights.split(separator: " ").map { try AccessRight(String($0)) }
    #expect([rights.mayRead(layer), rights.mayWrite(layer)] == [reads, writes])
  }

  @Test func `a rate lets so many through at once, and then so many in a second`() {
    let rate = RateLimit(perSecond: 2, atOnce: 3)
    let waits = [0, 0, 0, 0, 500, 500].map { rate.take("a", at: .milliseconds($0)) }
    #expect(waits == [nil, nil, nil, .milliseconds(500), nil, .milliseconds(500)])
    #expect(rate.take("b", at: .zero) == nil)
  }

  @Test func `a session ends with its time`() {
    let sessions = ServerSessions()
    let token = AccessToken(name: "a", rights: [], created: .now, digest: [1])
    let text = sessions.begin(token, at: .zero)
    let last = ServerSessions.length - .seconds(1)
    #expect(sessions.token(of: text, at: last) == [1])
    #expect(sessions.token(of: text, at: ServerSessions.length) == nil)
    #expect(sessions.token(of: text + "x", at: .zero) == nil)
    sessions.end(text)
    #expect(sessions.token(of: text, at: .zero) == nil)
  }
}
