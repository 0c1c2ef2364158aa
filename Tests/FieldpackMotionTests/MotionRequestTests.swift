import FieldpackCore
import FieldpackMotion
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct MotionRequestTests {
  @Test func `the documented start body is read and written`() throws {
    let request = try MotionRequest(body: Array(MotionBodies.start.utf8))
    #expect(
      request
        == .start(
          .init(
            timestamp: 1719634844.78179,
            device: MotionDevice(
              systemName: "iOS", systemVersion: "17.0.1", name: "iPhone",
              identifierForVendor: "00000000-0000-0000-0000-000000000000", model: "iPhone"))))
    #expect(String(decoding: try request.body(), as: UTF8.self) == MotionBodies.start)
  }

  @Test func `the documented data body is read and written number for number`() throws {
    let request = try MotionRequest(body: Array(MotionBodies.data.utf8))
    guard case .data(let data) = request else {
      Issue.record("\(request)")
      return
    }
    #expect(data.session == "00000000-0000-0000-0000-000000000000")
    #expect(data.timestamp == 1719634844.78179)
    #expect(data.sections == .all)
    #expect(data.readings.count == 5)
    #expect(MotionChannel.allCases.map { data.readings[4][$0] } == MotionBodies.lastReading)
    #expect(String(decoding: try request.body(), as: UTF8.self) == MotionBodies.data)
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `the documented files hold the same`() throws {
    let folder = SharedData.url("field-systems/daco")
    for (name, text) in [("start", MotionBodies.start), ("data", MotionBodies.data)] {
      let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent("\(name).json")))
      #expect(String(decoding: try MotionRequest(body: bytes).body(), as: UTF8.self) == text)
    }
  }

  @Test func `a section that is absent stays absent`() throws {
    let text =
      #"{"type":"data","uuid":"s","timestamp":"10.0","#
      + #""rotation":{"x":[-0.0,5e-324],"y":[0.1,2.0],"z":[1e+300,3.0]}}"#
    let request = try MotionRequest(body: Array(text.utf8))
    let readings = [
      MotionReading(rotation: .init(x: -0.0, y: 0.1, z: 1e300)),
      MotionReading(rotation: .init(x: .leastNonzeroMagnitude, y: 2, z: 3)),
    ]
    #expect(
      request
        == .data(
          .init(session: "s", timestamp: 10, sections: .rotation, readings: readings)))
    #expect(String(decoding: try request.body(), as: UTF8.self) == text)
  }

  @Test func `names are escaped so that the body stays JSON`() throws {
    let device = MotionDevice(
      systemName: "Linux", systemVersion: "6", name: "Anna's \"\u{1}\\\u{7F}\nphön", model: "")
    let body = try MotionRequest.start(.init(timestamp: 0, device: device)).body()
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"type":"start","timestamp":"0.0","device":{"systemVersion":"6","#
        + #""systemName":"Linux","name":"Anna's \"\u0001\\\u007f\nphön","#
        + #""identifierForVendor":"","model":"","localizedModel":""}}"#)
    #expect(try MotionRequest(body: body) == .start(.init(timestamp: 0, device: device)))
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `a number that is not finite is not written`(value: Double) {
    let data = MotionRequest.Data(
      session: "s", timestamp: 0,
      readings: [MotionReading(acceleration: .init(x: 0, y: value, z: 0))])
    let error = failure { _ = try MotionRequest.data(data).body() }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message
        == "ay of reading 1 is \(value), which JSON cannot hold. Try: leave the section out")
  }

  @Test func `a reading that lacks a section of its batch is not written`() {
    let data = MotionRequest.Data(
      session: "s", timestamp: 0,
      readings: [MotionReading(rotation: .init(x: 1, y: 2, z: 3)), MotionReading()])
    #expect(
      failure { _ = try MotionRequest.data(data).body() }?.message
        == "reading 2 has no rotation, which the batch holds")
  }

  static let mistakes: [(String, String)] = [
    ("", "the body is not JSON: byte 0: expected a value"),
    ("[]", "type is missing: a text is expected"),
    (#"{"type":"stop"}"#, "type is 'stop', not 'start' or 'data'"),
    (#"{"type":"data"}"#, "uuid is missing: a text is expected"),
    (
      #"{"type":"data","uuid":"s","timestamp":"nan"}"#,
      "timestamp is a text where seconds since 1970 as a text is expected"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":"0x10"}"#,
      "timestamp is a text where seconds since 1970 as a text is expected"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":-1}"#,
      "timestamp is no moment of the years 1970 to 9999"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":"1","attitude":{"pitch":[nan]}}"#,
      "the body is not JSON: byte 63: expected a value"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":"1","attitude":{"pitch":[1],"roll":[1]}}"#,
      "attitude.yaw is missing: an array of numbers is expected"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":"1","rotation":{"x":[1],"y":[1,2],"z":[1]}}"#,
      "rotation.y has 2 numbers where 1 are expected"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":"1","rotation":{"x":[1e999],"y":[1],"z":[1]}}"#,
      "rotation.x has a number out of range at place 1"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":"1","rotation":{"x":[null],"y":[1],"z":[1]}}"#,
      "rotation.x has null at place 1 where a number is expected"
    ),
    (
      #"{"type":"data","uuid":"s","timestamp":"1","rotation":null}"#,
      "rotation.x is missing: an array of numbers is expected"
    ),
    (
      #"{"type":"start","timestamp":"1","device":{"name":"Anna's "phone""}}"#,
      "the body is not JSON: byte 58: expected ',' or '}'"
    ),
    (
      #"{"type":"start","timestamp":"1","device":{"identifierForVendor":7}}"#,
      "device.identifierForVendor is a number where a text is expected"
    ),
    (String(repeating: "[", count: 9), "the body is not JSON: byte 8: nested more than 8 deep"),
  ]

  @Test(arguments: mistakes)
  func `a body that is none of the protocol is refused with its place`(
    text: String, message: String
  ) {
    let error = failure { _ = try MotionRequest(body: Array(text.utf8)) }
    #expect(error?.code == .invalidData)
    #expect(error?.message == message)
  }

  @Test func `bodies have limits`() {
    let many = "[" + String(repeating: "0,", count: 10_000) + "0]"
    let bodies: [([UInt8], String)] = [
      (
        [UInt8](repeating: 0x20, count: (1 << 20) + 1),
        "the body has 1048577 bytes, and 1048576 are the most that is read"
      ),
      ([0x22, 0xFF, 0x22], "the body is not UTF-8"),
      (
        Array(#"{"type":"data","uuid":"\#(String(repeating: "u", count: 1025))"}"#.utf8),
        "uuid has 1025 bytes, and 1024 are the most"
      ),
      (
        Array(#"{"type":"data","uuid":"s","timestamp":1,"rotation":{"x":\#(many)}}"#.utf8),
        "rotation.x has 10001 numbers, and 10000 are the most"
      ),
    ]
    for (body, message) in bodies {
      #expect(failure { _ = try MotionRequest(body: body) }?.message == message)
    }
  }

  @Test func `sample times go back from the time of sending`() throws {
    let samples = MotionSample.samples(
      of: [MotionReading](repeating: MotionReading(), count: 5), sentAt: 100, rate: 50)
    #expect(samples.map(\.time) == [99.92, 99.94, 99.96, 99.98, 100])
  }
}

/// The error that `body` throws.
func failure(_ body: () throws -> Void) -> FieldpackError? {
  do {
    try body()
    Issue.record("nothing was thrown")
  } catch let error as FieldpackError {
    return error
  } catch {
    Issue.record("\(error)")
  }
  return nil
}
