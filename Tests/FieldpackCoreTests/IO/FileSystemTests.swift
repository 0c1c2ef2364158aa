import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCore

@Suite struct FileSystemTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [0, 1, 200_000]) func `all bytes are written behind what is there`(
    count: Int
  ) throws {
    let url = try folder.write("a", to: "file")
    let descriptor = open(url.path, O_WRONLY | O_APPEND | O_CLOEXEC)
    defer { close(descriptor) }
    let bytes = ByteOutputTests.bytes(count)
    try FileSystem.write(bytes.span.bytes, to: descriptor, path: "file")
    try FileSystem.sync(descriptor, path: "file")
    #expect(try Array(Data(contentsOf: url)) == Array("a".utf8) + bytes)
  }

  @Test func `what cannot be written is told with the name that the caller gives`() throws {
    let url = try folder.write("", to: "file")
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let bytes: [UInt8] = [1, 2, 3]
    let error = #expect(throws: FieldpackError.self) {
      try FileSystem.write(bytes.span.bytes, to: descriptor, path: "walk.gpx")
    }
    #expect(error?.code == .io)
    #expect(error?.message == "cannot write walk.gpx: Bad file descriptor")
  }

  // The system's buffer is full several times over; the address sanitizer sees a read behind it.
  @Test func `all names of a large folder are listed`() throws {
    let names = (0..<2000).map { "\($0)-" + String(repeating: "é", count: $0 % 90) }
    for name in names { _ = try folder.write("", to: name) }
    let path = folder.url.path
    #expect(FileSystem.names(in: path)?.sorted() == names.sorted())
    #expect(FileSystem.names(in: path + "/0-") == nil)
    #expect(errno == ENOTDIR)
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `a full disk is told as such`() throws {
    let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 0, count: 10)
    let error = #expect(throws: FieldpackError.self) {
      try FileSystem.write(bytes.span.bytes, to: descriptor, path: "walk.gpx")
    }
    #expect(error?.code == .full)
  }

  @Test func `what cannot be put on the disk is an error, but not of a folder of names`() {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let error = #expect(throws: FieldpackError.self) {
      try FileSystem.sync(ends[1], path: "walk.gpx")
    }
    #expect(error?.message == "cannot write walk.gpx: Invalid argument")
    FileSystem.syncFolder(folder.file("missing").path)
  }
}
