import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackHTTP
import FieldpackTestSupport
import Testing

@testable import FieldpackSensors

/// A preview gives the same frames wherever its bytes are cut (W5).
@Suite struct PreviewTests {
  private static let pictures: [[UInt8]] = [
    Array("one".utf8), [], [0xFF, 0xD8, 13, 10, 45, 45, 13, 10, 45, 45, 102, 1],
    Array("x--foo is no mark in here".utf8), Array(repeating: 0, count: 300),
  ]

  private static func body(length: Bool, lineEnd: String, boundary: String = "--foo") -> [UInt8] {
    var body = Array("preamble\(lineEnd)".utf8)
    for picture in pictures {
      var head = "\(boundary)\(lineEnd)Content-Type: image/jpeg\(lineEnd)"
      if length { head += "content-length: \(picture.count)\(lineEnd)" }
      body += Array((head + lineEnd).utf8) + picture + Array(lineEnd.utf8)
    }
    return body + Array("\(boundary)--".utf8)
  }

  @Test(arguments: [true, false], ["\r\n", "\n"])
  func partsAreTheSameWhereverTheyAreCut(length: Bool, lineEnd: String) throws {
    let expected = Self.pictures
    let body = Self.body(length: length, lineEnd: lineEnd)
    for cut in 1..<body.count {
      var reader = try PreviewReader(contentType: "multipart/x-mixed-replace;boundary=foo")
      var frames = try reader.push(Array(body[..<cut]))
      frames += try reader.push(Array(body[cut...]))
      #expect(frames.map(\.bytes) == expected, "cut at \(cut)")
      #expect(frames.allSatisfy { $0.contentType == "image/jpeg" })
    }
    var reader = try PreviewReader(contentType: "Multipart/X-Mixed-Replace; boundary=\"foo\"")
    var frames: [PreviewFrame] = []
    for byte in body { frames += try reader.push([byte]) }
    #expect(frames.map(\.bytes) == expected)
  }

  /// Some cameras state the dashes as part of the boundary; of these some write them twice.
  @Test(arguments: ["--foo", "----foo"])
  func dashesOfTheBoundaryMayBeStated(written: String) throws {
    for length in [true, false] {
      var reader = try PreviewReader(contentType: "multipart/x-mixed-replace; boundary=--foo")
      let frames = try reader.push(Self.body(length: length, lineEnd: "\r\n", boundary: written))
      #expect(frames.map(\.bytes) == Self.pictures)
    }
  }

  @Test(arguments: ["image/jpeg", "multipart/x-mixed-replace", "multipart/mixed;boundary="])
  func whatIsNoPreviewIsRefused(type: String) {
    #expect(throws: FieldpackError.self) { try PreviewReader(contentType: type) }
  }

  @Test func aPartWithoutAnEndIsRefused() throws {
    let type = "multipart/x-mixed-replace;boundary=foo"
    let heads = ["--foo\r\n\r\n", "", "--foo\r\nA: ", "--foo\r\nContent-Length: 9999999\r\n\r\n"]
    for head in heads {
      var reader = try PreviewReader(contentType: type, limit: 100_000)
      let error = #expect(throws: FieldpackError.self) {
        _ = try reader.push(Array(head.utf8))
        for _ in 0..<20 { _ = try reader.push([UInt8](repeating: 65, count: 10_000)) }
      }
      #expect(error?.code == .invalidData)
    }
  }

  @Test func aPreviewComesOverTheNetworkAndStops() async throws {
    let body = Self.body(length: false, lineEnd: "\r\n")
    let server = try LoopbackServer { _ in
      .response(
        200, fields: [["Content-Type", "multipart/x-mixed-replace;boundary=foo"]], body: body)
    }
    let preview = try SensorPreview(
      SensorResource(uri: "stream/preview"), of: server.address, http: SensorClient.http())
    var last: PreviewFrame?
    while let frame = try await preview.next() { last = frame }
    // Only the newest frame waits for a reader.
    #expect(last?.bytes == Self.pictures.last)
    #expect(server.requests.map(\.target) == ["/stream/preview"])
    let silent = try LoopbackServer { _ in .silence }
    let waiting = try SensorPreview(
      SensorResource(uri: silent.address + "/x"), of: silent.address, http: SensorClient.http())
    waiting.stop()
    #expect(try await waiting.next() == nil)
  }

  /// A preview that takes its time to end, as a camera does, holds the capture up.
  @Test func `a stop while the preview ends takes no picture`() async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock)
    let end = Locked<CheckedContinuation<Void, Never>?>(nil)
    let preview = SensorPreview { _ in
      await withCheckedContinuation { continuation in end.withLock { $0 = continuation } }
    }
    while end.withLock({ $0 == nil }) { await Task.yield() }
    await sensor.link.show(preview)
    let link = sensor.link
    let capture = Task { await link.capture(LinkedSensor.configuration, for: LinkedSensor.item) }
    while !preview.wasStopped { await Task.yield() }
    await link.cancel(LinkedSensor.item)
    end.withLock { $0 }?.resume()
    #expect(await capture.value == .canceled)
    #expect(sensor.simulator.captureIds.isEmpty)
    #expect(!sensor.simulator.isLocked)
  }

  @Test func `no other host is asked`() throws {
    let error = #expect(throws: FieldpackError.self) {
      try SensorPreview(
        SensorResource(uri: "http://192.0.2.9/x"), of: "http://127.0.0.1:1",
        http: SensorClient.http())
    }
    #expect(error?.message.contains("another host") == true)
  }
}

extension SensorLink {
  fileprivate func show(_ preview: SensorPreview) { self.preview = preview }
}
