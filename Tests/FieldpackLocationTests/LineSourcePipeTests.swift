import FieldpackCore
import FieldpackLocation
import FieldpackTestSupport
import Foundation
import Testing

/// What comes in its own time: pipes, and devices that are not there.
@Suite struct LineSourcePipeTests {
  private let line = "{\"lon\":1,\"lat\":2}\n"
  private let fix = LocationUpdate.fix(Fix(longitude: 1, latitude: 2))

  @Test func `lines come whole wherever they are cut`() async throws {
    let text = "{\"lon\":1,\"lat\":2}\r\n{\"lon\":3,\"lat\":4}\r\n"
    for cut in 0..<text.utf8.count {
      let pipe = Pipe()
      let source = LineSource(descriptor: pipe.fileHandleForReading.fileDescriptor)
      let bytes = Array(text.utf8)
      let writer = Task.detached {
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes[..<cut]))
        await Task.yield()
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes[cut...]))
        try pipe.fileHandleForWriting.close()
      }
      let (updates, failure) = await LineSourceTests.read(source)
      try await writer.value
      #expect(failure == nil)
      #expect(updates == [fix, .fix(Fix(longitude: 3, latitude: 4))])
    }
  }

  @Test(arguments: ["07.038,N,01131,E,101010,A*37\r\n", "*37\n", "7\n"])
  func `a sentence whose beginning was missed is no error`(rest: String) async throws {
    let text = rest + "$GPGLL,4807.038,N,01131,E,101010,A*37\r\n"
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try pipe.fileHandleForWriting.close()
    let source = LineSource(descriptor: pipe.fileHandleForReading.fileDescriptor)
    var count = 0
    for try await updates in source.updates() { count += updates.count }
    #expect(count == 1)
    // A file has all of its first line.
    let folder = try TemporaryFolder()
    let file = LineSource(path: try folder.write(text, to: "log").path)
    await #expect(throws: FieldpackError.self) { for try await _ in file.updates() {} }
  }

  @Test func `a line is given before the next one comes`() async throws {
    let pipe = Pipe()
    let source = LineSource(descriptor: pipe.fileHandleForReading.fileDescriptor)
    let updates = source.updates().makeAsyncIterator()
    for _ in 0..<3 {
      try pipe.fileHandleForWriting.write(contentsOf: Data(line.utf8))
      #expect(try await updates.next() == [fix])
    }
    try pipe.fileHandleForWriting.close()
    #expect(try await updates.next() == nil)
    #expect(try await updates.next() == nil)
  }

  @Test func `cancelling ends a read that waits`() async throws {
    let pipe = Pipe()
    let source = LineSource(descriptor: pipe.fileHandleForReading.fileDescriptor)
    try pipe.fileHandleForWriting.write(contentsOf: Data(line.utf8))
    let (started, begin) = AsyncStream.makeStream(of: Void.self)
    let reading = Task {
      var count = 0
      do throws(FieldpackError) {
        for try await batch in source.updates() {
          count += batch.count
          begin.yield()
        }
        return (count, FieldpackError.Code.invalidData)
      } catch {
        return (count, error.code)
      }
    }
    for await _ in started { break }
    reading.cancel()
    let (count, code) = await reading.value
    #expect(count == 1)
    #expect(code == .interrupted)
    try pipe.fileHandleForWriting.close()
  }

  @Test func `a reading that is dropped closes what it opened`() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(line, to: "fixes").path
    func isOpen() throws -> Bool {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        .contains { name in
          let link = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(name)")
          return link == path
        }
    }
    do {
      let updates = LineSource(path: path).updates().makeAsyncIterator()
      #expect(try await updates.next() == [fix])
      #expect(try isOpen())
    }
    // The thread ends in its own time.
    while try isOpen() { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test func `a missing device is unavailable`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("ttyACM0").path
    let source = LineSource(path: path)
    #expect(!source.isAvailable)
    #expect(source.authorization == .always)
    let (_, failure) = await LineSourceTests.read(source)
    #expect(failure?.locationFailure == .unavailable)
    #expect(
      failure?.message == "there is no \(path). Try: look whether the receiver is plugged in")
  }

  @Test(.disabled(if: getuid() == 0, "root may read everything"))
  func `a device that must not be read is denied`() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(line, to: "ttyACM0").path
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    let source = LineSource(path: path)
    #expect(source.isAvailable)
    #expect(source.authorization == .denied)
    let (_, failure) = await LineSourceTests.read(source)
    #expect(failure?.locationFailure == .permissionDenied)
  }
}
