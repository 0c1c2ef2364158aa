import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCore

@Suite struct FileSystemPathTests {
  private let folder: TemporaryFolder
  /// Without links.
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = try #require(FileSystem.real(folder.url.path))
  }

  @Test(arguments: [
    ("a/b.scfg", "a", "b.scfg"), ("b.scfg", ".", "b.scfg"), ("/b", "/", "b"), ("a/b/", "a", "b"),
    ("a//b", "a", "b"), ("./b", ".", "b"), ("../b", "..", "b"), ("//b", "/", "b"),
    ("/", "/", ""), ("", ".", ""), ("é/\u{301}ü", "é", "\u{301}ü"),
  ])
  func `a path is the name behind its last slash in a folder`(
    path: String, around: String, name: String
  ) {
    #expect(FileSystem.folder(of: path) == around)
    #expect(FileSystem.name(of: path) == name)
  }

  @Test(arguments: [
    ("a", "b", "a/b"), ("a/", "b", "a/b"), (".", "b", "b"), ("", "b", "b"), ("/", "b", "/b"),
    ("..", "b/c", "../b/c"),
  ])
  func `a name is joined to its folder by one slash`(around: String, name: String, path: String) {
    #expect(FileSystem.join(around, name) == path)
  }

  @Test func `an absolute path has no dots, and links stay in it`() throws {
    let here = FileManager.default.currentDirectoryPath
    #expect(FileSystem.absolute("a/../b//./c/") == here + "/b/c")
    #expect(FileSystem.absolute("") == here)
    #expect(FileSystem.absolute("/a/../../b") == "/b")
    #expect(FileSystem.absolute("/..") == "/")
    try FileManager.default.createSymbolicLink(
      atPath: root + "/link", withDestinationPath: "/usr")
    #expect(FileSystem.absolute(root + "/link/x") == root + "/link/x")
  }

  @Test func `links are resolved as far as there is something`() throws {
    try FileManager.default.createDirectory(
      atPath: root + "/a/b", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: root + "/link", withDestinationPath: "a/b")
    #expect(FileSystem.real(root + "/link") == root + "/a/b")
    #expect(FileSystem.real(root + "/link/x") == nil)
    #expect(FileSystem.resolve(root + "/link/..") == (root + "/a", true))
    #expect(FileSystem.resolve(root + "/link/x/../é") == (root + "/a/b/é", false))
    #expect(FileSystem.resolve(root + "/no/../../x") == (FileSystem.folder(of: root) + "/x", false))
  }
}
