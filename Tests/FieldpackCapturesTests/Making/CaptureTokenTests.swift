import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite struct CaptureTokenTests {
  private static let zero = "00000000-0000-0000-0000-000000000000"

  @Test func `tokens are the digests that are known`() throws {
    let install = try #require(InstallIdentity(Self.zero))
    let seconds: Int64 = 1_344_352_260
    #expect(
      CaptureToken(install: install, random: "abcdefghij", seconds: seconds).description
        == "f8d27bed75bd96014de63cad9951e1845beb28416cda478d7d2943b4f3346cae")
    #expect(
      CaptureToken(install: install, random: nil, seconds: seconds).description
        == "2953794fe678839951231e89bc2b1f9ea8006d370faade92d4a89357677d7380")
  }

  @Test func `a hundred thousand tokens of one second are all different`() throws {
    let making = CaptureMaking(identity: try #require(InstallIdentity(Self.zero)))
    let tokens = try (0..<100_000).map { _ in try making.token(at: 1_344_352_260.75) }
    #expect(Set(tokens).count == tokens.count)
    #expect(CaptureToken(tokens[0].description) == tokens[0])
  }

  @Test func `the random part is ten letters and digits`() {
    let characters = Set((0..<2000).flatMap { _ in CaptureToken.randomPart() })
    #expect(characters.count == 62)
    #expect(characters.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    #expect(CaptureToken.randomPart().count == 10)
  }

  @Test(arguments: [
    "", "f8d27b", String(repeating: "F", count: 64), String(repeating: "g", count: 64),
    String(repeating: "a", count: 63) + "/", String(repeating: "a", count: 65),
  ])
  func `a text that no token can be is none`(text: String) {
    #expect(CaptureToken(text) == nil)
  }

  @Test(arguments: [Double.nan, .infinity, 1e12, -1e300])
  func `there is no token of what is no time`(time: Double) throws {
    let making = CaptureMaking(identity: try #require(InstallIdentity(Self.zero)))
    let error = #expect(throws: FieldpackError.self) { try making.token(at: time) }
    #expect(error?.code == .invalidArgument)
  }
}

@Suite struct InstallIdentityTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `the identity is made once, in capital letters and for its user alone`() throws {
    let path = folder.file("a/b/install").path
    let made = try InstallIdentity.stored(in: path)
    #expect(UUID(uuidString: made.uuid)?.uuidString == made.uuid)
    #expect(try InstallIdentity.stored(in: path) == made)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == made.uuid + "\n")
    #expect(try mode(path) == 0o600)
    #expect(try mode(folder.file("a/b").path) == 0o700)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("a/b").path) == ["install"])
  }

  @Test func `all that make it at once agree on one`() async throws {
    let path = folder.file("state/install").path
    let made = try await withThrowingTaskGroup(of: InstallIdentity.self) { group in
      for _ in 0..<32 { group.addTask { try InstallIdentity.stored(in: path) } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(made.count == 1)
  }

  @Test(arguments: [
    "", "\n", "00000000-0000-0000-0000-00000000000", "no identity at all", "{}",
    "00000000-0000-0000-0000-000000000000 and more",
  ])
  func `a file that holds something else is refused and left alone`(text: String) throws {
    let path = try folder.write(text, to: "install").path
    let error = #expect(throws: FieldpackError.self) { try InstallIdentity.stored(in: path) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.hasSuffix("Try: remove it") == true)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test func `it lies in the folder for states, else below the home folder`() throws {
    #expect(
      try InstallIdentity.standardFile(["XDG_STATE_HOME": "/s", "HOME": "/h"])
        == "/s/fieldpack/install")
    for state in [nil, "", "relative"] {
      var environment = ["HOME": "/h"]
      environment["XDG_STATE_HOME"] = state
      #expect(
        try InstallIdentity.standardFile(environment) == "/h/.local/state/fieldpack/install")
    }
    let error = #expect(throws: FieldpackError.self) {
      try InstallIdentity.standardFile(["HOME": ""])
    }
    #expect(error?.code == .configuration)
  }
}
