import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCore

@Suite struct JSONFileTests {
  @Test(arguments: ["mine", "missing"])
  func `a link is replaced, and not followed`(name: String) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("mine", to: "mine")
    let path = folder.file(".a.origin").path
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: name)
    try JSONFile.write(.object([.init(name: "a", value: .integer(1))]), to: path)
    #expect(JSONFile.read(path)?["a"] == .integer(1))
    #expect(try String(contentsOf: folder.file("mine"), encoding: .utf8) == "mine")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names.sorted() == [".a.origin", "mine"])
    #expect(PendingFile.readLink(path) == nil)
  }
}
