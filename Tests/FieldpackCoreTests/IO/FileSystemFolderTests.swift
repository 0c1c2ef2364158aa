import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCore

@Suite struct FileSystemFolderTests {
  private let folder: TemporaryFolder
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = folder.url.path
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test func `what a path leads to is told through links`() throws {
    _ = try folder.write("", to: "file")
    for target in ["file", ".", "missing"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(root)/to \(target)", withDestinationPath: target)
    }
    #expect(FileSystem.kind(root + "/to file") == .file)
    #expect(FileSystem.kind(root + "/to .") == .folder)
    #expect(FileSystem.kind(root + "/to missing") == nil)
    #expect(FileSystem.kind("/dev/null") == .other)
    #expect(FileSystem.exists(root + "/file"))
    #expect(!FileSystem.exists(""))
    #expect(FileSystem.isFolder(root + "/"))
    #expect(!FileSystem.isFolder(root + "/file"))
  }

  @Test func `a folder is made with those around it, and left where it is`() throws {
    let path = root + "/a/é/c/"
    try FileSystem.makeFolder(path, mode: 0o700)
    #expect([root + "/a", path].map(mode) == [0o700, 0o700])
    try FileSystem.makeFolder(path)
    #expect(mode(path) == 0o700)
    // The working folder.
    try FileSystem.makeFolder("")
  }

  @Test func `no folder is made in place of a file`() throws {
    _ = try folder.write("", to: "file")
    for (path, code) in [
      (root + "/file", FieldpackError.Code.cannotCreate), (root + "/file/a", .notFound),
    ] {
      let error = #expect(throws: FieldpackError.self) { try FileSystem.makeFolder(path) }
      #expect(error?.code == code)
      #expect(error?.message.hasPrefix("cannot create the folder \(path): ") == true)
    }
  }

  @Test func `a temporary folder is another one each time, for this user alone`() throws {
    let folders = [try FileSystem.makeTemporaryFolder(), try FileSystem.makeTemporaryFolder()]
    defer { folders.forEach(FileSystem.removeTree) }
    #expect(Set(folders).count == 2)
    #expect(folders.map(mode) == [0o700, 0o700])
    #expect(FileSystem.names(in: folders[0]) == [])
  }

  @Test func `a folder goes with all in it, and what links lead to stays`() throws {
    _ = try folder.write("kept", to: "kept")
    try FileSystem.makeFolder(root + "/tree/a/b")
    _ = try folder.write("", to: "tree/a/b/file")
    for (link, target) in [("tree/link", "../kept"), ("tree/all", "..")] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(root)/\(link)", withDestinationPath: target)
    }
    FileSystem.removeTree(root + "/tree")
    #expect(FileSystem.names(in: root) == ["kept"])
    FileSystem.removeTree(root + "/kept")
    #expect(FileSystem.names(in: root) == [])
    FileSystem.removeTree(root + "/nothing")
  }
}
