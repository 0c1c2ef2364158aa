import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCore

@Suite struct PendingFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private func mode(_ path: String) -> UInt32 {
    var status = stat()
    return stat(path, &status) == 0 ? UInt32(status.st_mode & 0o7777) : 0
  }

  private func path(_ name: String) -> String { folder.file(name).path }

  @Test func `a file in the making has a random name and is its user's alone`() throws {
    let files = try (1...3).map { _ in try PendingFile(target: path("a.gpkg"), overwrite: false) }
    let pattern = /\.a\.gpkg\.fieldpack-[0-9a-f]{16}/
    #expect(try names.count == 3)
    #expect(try names.allSatisfy { $0.wholeMatch(of: pattern) != nil })
    #expect(files.map { mode($0.path) } == [0o600, 0o600, 0o600])
  }

  @Test func `nothing stays of a file that was not finished`() throws {
    do {
      let file = try PendingFile(target: path("a.gpkg"), overwrite: false)
      _ = try folder.write("", to: FileSystem.split(file.path).name + "-journal")
    }
    #expect(try names == [])
  }

  @Test func `what a killed process left goes, and what somebody holds stays`() throws {
    let left = ".a.gpkg.fieldpack-0123456789abcdef"
    let held = ".a.gpkg.fieldpack-fedcba9876543210"
    let others = [".a.gpkg.fieldpack-mode", ".b.gpkg.fieldpack-0123456789abcdef", "a.gpkg-wal"]
    for name in [left, left + "-journal", held, held + "-journal"] + others {
      _ = try folder.write("x", to: name)
    }
    let holder = open(path(held), O_RDWR | O_CLOEXEC)
    defer { close(holder) }
    #expect(flock(holder, LOCK_EX | LOCK_NB) == 0)
    let file = try PendingFile(target: path("a.gpkg"), overwrite: false)
    try file.commit()
    #expect(try names == ([held, held + "-journal", "a.gpkg"] + others).sorted())
  }

  @Test func `a pending file is locked as long as it lives`() throws {
    let first = try PendingFile(target: path("a.gpkg"), overwrite: true)
    try FileSystem.write(
      [UInt8](repeating: 1, count: 3).span.bytes, to: first.descriptor, path: "a")
    let second = try PendingFile(target: path("a.gpkg"), overwrite: true)
    try second.commit()
    try first.commit()
    #expect(try Data(contentsOf: folder.file("a.gpkg")).count == 3)
    #expect(try names == ["a.gpkg"])
  }

  @Test(arguments: [0o600, 0o644, 0o640, 0o4755])
  func `a file that is replaced keeps its permissions`(
    mode: Int
  ) throws {
    _ = try folder.write("old", to: "a.gpkg")
    chmod(path("a.gpkg"), mode_t(mode))
    try PendingFile(target: path("a.gpkg"), overwrite: true).commit()
    #expect(self.mode(path("a.gpkg")) == UInt32(mode))
  }

  @Test func `a link is resolved, also one to a file that is missing`() throws {
    try FileManager.default.createSymbolicLink(
      atPath: path("link.gpkg"), withDestinationPath: "real.gpkg")
    for _ in 1...2 {
      let file = try PendingFile(target: path("link.gpkg"), overwrite: true)
      #expect(FileSystem.split(file.target).name == "real.gpkg")
      try file.commit()
      #expect(try names == ["link.gpkg", "real.gpkg"])
    }
    var status = stat()
    #expect(lstat(path("link.gpkg"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
  }

  @Test func `a link that leads to itself is refused`() throws {
    try FileManager.default.createSymbolicLink(atPath: path("a"), withDestinationPath: "b")
    try FileManager.default.createSymbolicLink(atPath: path("b"), withDestinationPath: "a")
    let error = #expect(throws: FieldpackError.self) {
      _ = try PendingFile(target: path("a"), overwrite: true)
    }
    #expect(error?.code == .cannotCreate)
    #expect(error?.message == "\(path("a")) is a link that leads to itself")
  }

  @Test func `what appeared meanwhile is not replaced`() throws {
    let file = try PendingFile(target: path("a.gpkg"), overwrite: false)
    _ = try folder.write("other", to: "a.gpkg")
    let error = #expect(throws: FieldpackError.self) { try file.commit() }
    #expect(error?.code == .cannotCreate)
    #expect(try String(contentsOf: folder.file("a.gpkg"), encoding: .utf8) == "other")
  }

  /// A file in the making of `a.gpkg` that has bytes.
  private func kept() throws -> PendingFile {
    let file = try #require(
      try PendingFile(target: path("a.gpkg"), overwrite: true, keptAs: path(".a.part")))
    try FileSystem.write([UInt8](repeating: 1, count: 3).span.bytes, to: file.descriptor, path: "a")
    return file
  }

  @Test(arguments: [false, true])
  func `what replaced a kept file meanwhile gets no name, and stays`(isKept: Bool) throws {
    do {
      let file = try kept()
      file.isKept = isKept
      FileSystem.remove(file.path)
      _ = try folder.write("other", to: ".a.part")
      let error = #expect(throws: FieldpackError.self) { try file.commit() }
      #expect(error?.code == .busy)
    }
    #expect(try names == [".a.part"])
    #expect(try String(contentsOf: folder.file(".a.part"), encoding: .utf8) == "other")
  }

  @Test func `a kept file is removed where nobody has it`() throws {
    do {
      let file = try kept()
      #expect(!PendingFile.removeKept(file.path))
      #expect(try names == [".a.part"])
      file.isKept = true
    }
    #expect(try names == [".a.part"])
    #expect(PendingFile.removeKept(path(".a.part")) && PendingFile.removeKept(path(".a.part")))
    #expect(try names == [])
  }

  @Test func `a file that is not kept goes with a process that ends at once`() throws {
    let file = try kept()
    func isPending() -> Bool { PendingFile.pending.withLock { $0.contains(file.path) } }
    #expect(isPending())
    file.isKept = true
    #expect(!isPending())
    file.isKept = false
    #expect(isPending())
    try file.commit()
    #expect(try !isPending() && names == ["a.gpkg"])
  }

  @Test func `a name as long as file systems have is no hindrance`() throws {
    let name = String(repeating: "ä", count: 125) + ".gpkg"
    try PendingFile(target: path(name), overwrite: false).commit()
    #expect(try names == [name])
  }
}
