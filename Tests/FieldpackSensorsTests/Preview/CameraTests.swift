import FieldpackCore
import FieldpackField
import FieldpackMedia
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A camera is linked to as a sensor is; here a file stands for it.
@Suite struct CameraTests {
  private let folder: TemporaryFolder
  private let journal = MemoryJournal()

  init() throws { folder = try TemporaryFolder() }

  private func link(to file: URL) throws -> SensorLink {
    let uri = "cam://\(file.path)"
    let camera = try #require(try CameraSensor(uri))
    return SensorLink(
      SensorAddress(uri: uri), service: camera, journal: journal, events: Broadcast(capacity: 100))
  }

  @Test func aPictureIsCapturedAsItIs() async throws {
    let file = folder.file("a.bmp")
    let picture = SimulatedPicture().make(1, 24)
    try Data(picture).write(to: file)
    let link = try link(to: file)
    for _ in 0..<2 { #expect(await link.capture([:], for: LinkedSensor.item).isCompleted) }
    #expect(await Array(journal.stored.values) == [picture, picture])
    #expect(await journal.metadata.values.allSatisfy { $0 == #"{"contentType":"image/bmp"}"# })
    #expect(await link.run(.disconnect).isCompleted)
  }

  @Test func whatIsNoPictureFailsAndTheLinkGoesOn() async throws {
    let file = try folder.write("no picture at all", to: "a.bmp")
    let link = try link(to: file)
    let outcome = await link.capture([:], for: LinkedSensor.item)
    #expect(
      outcome
        == .failed(.invalidData, message: "\(file.path) is neither a picture nor a film"))
    #expect(await journal.stored.isEmpty)
    try Data(SimulatedPicture().make(1, 24)).write(to: file)
    #expect(await link.capture([:], for: LinkedSensor.item).isCompleted)
  }

  @Test func aPipeIsNoCameraAndKeepsNobodyWaiting() async throws {
    let file = folder.file("pipe")
    #expect(mkfifo(file.path, 0o600) == 0)
    let link = try link(to: file)
    let outcome = await link.capture([:], for: LinkedSensor.item)
    #expect(
      outcome
        == .failed(.invalidData, message: "\(file.path) is no file that can stand for a camera"))
  }

  @Test func camerasAreOnlyForThoseWhoMayHaveThem() async throws {
    let address = SensorAddress(uri: "cam://\(folder.file("a.bmp").path)")
    let links = try SensorLinks(journal: journal, cameras: .only([]))
    let error = await #expect(throws: FieldpackError.self) { try await links.link(to: address) }
    #expect(error?.code == .permission)
    let path = folder.file("a.bmp").path
    for (cameras, isFound) in [
      (CameraAccess.all, true), (.only([path]), true), (.only([]), false), (.only(["/"]), false),
    ] {
      let check = await SensorCheck(of: address, for: .face, .face2d, cameras: cameras)
      #expect(check == (isFound ? .successful : .notFound))
    }
  }

  @Test func aCameraThatIsNotThereCannotBeInitialized() async throws {
    let outcome = try await link(to: folder.file("none.jpg")).run(.connect)
    #expect(outcome == .failed(.unavailable, message: "initialize: sensor failure"))
  }

  @Test func otherAddressesAreNoCameras() throws {
    #expect(try CameraSensor("http://127.0.0.1/") == nil)
    let error = #expect(throws: FieldpackError.self) { try CameraSensor("cam://video0") }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `the preview of a file is its picture`() async throws {
    let file = folder.file("a.bmp")
    try Data(SimulatedPicture().make(1, 24)).write(to: file)
    let link = try link(to: file)
    let preview = try await link.startPreview(http: SensorClient.http())
    #expect(try await preview.next()?.bytes == SimulatedPicture().make(1, 24))
    #expect(await link.capture([:], for: LinkedSensor.item).isCompleted)
    try #require(preview.wasStopped)
    // Pictures that had come before may still be there.
    while try await preview.next() != nil {}
  }

  /// What stands for ffmpeg has a picture of its own in place of the camera's.
  @Test(.enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)))
  func `ffmpeg shows what a camera sees, and ends with the preview`() async throws {
    let program = folder.file("ffmpeg")
    let script = """
      #!/bin/sh
      while [ "$1" != -i ]; do shift; done
      shift 2
      exec \(Programs.ffmpeg ?? "") -v error -re -f lavfi -i testsrc=size=320x240:rate=10 "$@"
      """
    try Data(script.utf8).write(to: program)
    #expect(chmod(program.path, 0o700) == 0)
    let uri = "cam:///dev/null"
    let camera = try #require(
      try CameraSensor(uri, ffmpeg: FFmpeg(program: program.path)))
    let link = SensorLink(
      SensorAddress(uri: uri), service: camera, journal: journal, events: Broadcast(capacity: 100))
    let preview = try await link.startPreview(http: SensorClient.http())
    var frames: Set<[UInt8]> = []
    while frames.count < 3, let frame = try await preview.next() {
      #expect(frame.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
      frames.insert(frame.bytes)
    }
    #expect(frames.count == 3)
    // A camera has one picture for one program at a time.
    #expect(await link.capture([:], for: LinkedSensor.item).isCompleted)
    try #require(preview.wasStopped)
    // Pictures that had come before may still be there.
    while try await preview.next() != nil {}
  }

  @Test(.timeLimit(.minutes(2)))
  func `a capture stops the preview of its camera under another name`() async throws {
    let file = folder.file("a.bmp")
    try Data(SimulatedPicture().make(1, 24)).write(to: file)
    let links = try SensorLinks(journal: journal)
    let uri = "cam://\(file.path)"
    let preview = try await links.preview(
      of: SensorAddress(uri: uri, name: "shown"), http: SensorClient.http(), limit: 1 << 20)
    _ = try #require(try await preview.next())
    let target = SensorTarget(SensorAddress(uri: uri, name: "captured"), [:])
    #expect(try await links.capture(target)?.isCompleted == true)
    try #require(preview.wasStopped)
    while try await preview.next() != nil {}
    await links.close()
  }

  @Test func aCaptureStopsThePreview() async throws {
    let served = try ServedSensor()
    let link = SensorLink(
      SensorAddress(uri: served.uri), service: try SensorClient(served.uri), journal: journal,
      events: Broadcast(capacity: 100))
    let preview = try await link.startPreview(http: SensorClient.http())
    #expect(await link.capture([:], for: LinkedSensor.item).isCompleted)
    try #require(preview.wasStopped)
    // Pictures that had come before may still be there.
    while try await preview.next() != nil {}
  }
}
