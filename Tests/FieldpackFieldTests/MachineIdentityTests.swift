import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackField

@Suite struct MachineIdentityTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `the identity is made once, in capital letters and for its user alone`() throws {
    let path = folder.file("a/b/install").path
    let made = try MachineIdentity.stored(in: path)
    #expect(UUID(uuidString: made.uuid)?.uuidString == made.uuid)
    #expect(try MachineIdentity.stored(in: path) == made)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == made.uuid + "\n")
    #expect(try mode(path) == 0o600)
    #expect(try mode(folder.file("a/b").path) == 0o700)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("a/b").path) == ["install"])
  }

  @Test func `all that make it at once agree on one`() async throws {
    let path = folder.file("state/install").path
    let made = try await withThrowingTaskGroup(of: MachineIdentity.self) { group in
      for _ in 0..<32 { group.addTask { try MachineIdentity.stored(in: path) } }
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
    let error = #expect(throws: FieldpackError.self) { try MachineIdentity.stored(in: path) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.hasSuffix("Try: remove it") == true)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test func `it lies in the folder for states, else below the home folder`() throws {
    #expect(
      try MachineIdentity.standardFile(.install) { ["XDG_STATE_HOME": "/s", "HOME": "/h"][$0] }
        == "/s/fieldpack/install")
    for state in [nil, "", "relative"] {
      var environment = ["HOME": "/h"]
      environment["XDG_STATE_HOME"] = state
      #expect(
        try MachineIdentity.standardFile(.device) { environment[$0] }
          == "/h/.local/state/fieldpack/device")
    }
    let error = #expect(throws: FieldpackError.self) {
      try MachineIdentity.standardFile(.install) { ["HOME": ""][$0] }
    }
    #expect(error?.code == .configuration)
    #expect(
      error?.message
        == "there is no place to keep the identity of this installation. Try: set HOME or "
        + "XDG_STATE_HOME")
  }

  @Test func `a kept identity stays as it is, in small letters, too`() throws {
    let text = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
    let path = try folder.write("\(text)\nof the buoy\n", to: "device").path
    let kept = try MachineIdentity.stored(.device, in: path)
    #expect(kept.text == text && kept.uuid == "6F9619FF-8B86-D011-B42D-00CF4FC964FF")
  }

  @Test func `ids are UUIDs of version 4`() {
    let ids = (0..<100).map { _ in RandomID.make() }
    #expect(Set(ids).count == 100)
    for id in ids {
      #expect(
        id.wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/)
          != nil)
    }
  }
}
