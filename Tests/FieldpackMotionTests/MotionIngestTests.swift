import FieldpackCore
import FieldpackMotion
import FieldpackTestSupport
import Testing

@Suite struct MotionIngestTests {
  private static func ingest() -> MotionIngest {
    let count = Locked(0)
    return MotionIngest(newSession: {
      count.withLock { count in
        count += 1
        return "session-\(count)"
      }
    })
  }

  private static let data = MotionBodies.data.replacing(
    "00000000-0000-0000-0000-000000000000", with: "session-1")

  @Test func `a start gives a session, and its readings become samples`() throws {
    var ingest = Self.ingest()
    let start = ingest.answer(Array(MotionBodies.start.utf8), at: 7)
    #expect(start.response == .init(200, "session-1"))
    guard case .started(let session)? = start.record else {
      Issue.record("\(start)")
      return
    }
    #expect(session.startedAt == 7 && session.revokedAt == nil && session.rate == 50)
    #expect(session.device.systemVersion == "17.0.1")
    let answer = ingest.answer(Array(Self.data.utf8), at: 8)
    #expect(answer.response == .init(200, ""))
    guard case .received(let batch)? = answer.record else {
      Issue.record("\(answer)")
      return
    }
    #expect(batch.session == "session-1" && batch.sentAt == 1719634844.78179)
    #expect(batch.receivedAt == 8 && batch.sections == .all)
    let times: [Double] = [4, 3, 2, 1, 0].map { 1719634844.78179 - $0 / 50 }
    #expect(batch.samples.map(\.time) == times)
    #expect(
      MotionChannel.allCases.map { batch.samples[4].reading[$0] } == MotionBodies.lastReading)
  }

  @Test func `an unknown or revoked session gets 401`() {
    var ingest = Self.ingest()
    #expect(ingest.answer(Array(Self.data.utf8), at: 0).response.status == 401)
    _ = ingest.answer(Array(MotionBodies.start.utf8), at: 0)
    #expect(ingest.accepts("session-1"))
    #expect(ingest.revoke("session-1", at: 5) == .revoked(session: "session-1", at: 5))
    #expect(ingest.revoke("session-1", at: 6) == nil)
    #expect(ingest.revoke("session-2", at: 6) == nil)
    let answer = ingest.answer(Array(Self.data.utf8), at: 6)
    #expect(answer.response == .init(401, "there is no such session"))
    #expect(answer.record == nil)
  }

  @Test func `bad JSON gets 400 and leaves the session`() {
    var ingest = Self.ingest()
    _ = ingest.answer(Array(MotionBodies.start.utf8), at: 0)
    for body in ["", Self.data.replacing("0.6947476993167052", with: "nan"), "\"\u{0}"] {
      let answer = ingest.answer(Array(body.utf8), at: 1)
      #expect(answer.response.status == 400)
      #expect(answer.record == nil)
    }
    #expect(ingest.answer(Array(Self.data.utf8), at: 1).response.status == 200)
  }

  /// Bodies that would cost much, and such as programs write by mistake.
  private static let hostile: [(name: String, body: String, message: String)] = [
    (
      "deep", data.replacing("\"attitude\"", with: "\"x\":\(deep),\"attitude\""),
      "the body is not JSON: byte 76: nested more than 8 deep"
    ),
    (
      "many numbers", data.replacing("\"pitch\":[", with: "\"pitch\":[\(many)"),
      "attitude.pitch has 10005 numbers, and 10000 are the most"
    ),
    (
      "a long name", data.replacing("session-1", with: String(repeating: "n", count: 1025)),
      "uuid has 1025 bytes, and 1024 are the most"
    ),
    (
      "an unknown type",
      data.replacing("\"data\"", with: "\"\(String(repeating: "t", count: 99))\""),
      "type is '\(String(repeating: "t", count: 40))', not 'start' or 'data'"
    ),
    (
      "a number as type", data.replacing("\"data\"", with: "7"),
      "type is a number where a text is expected"
    ),
    (
      "an object as list", data.replacing("\"pitch\":[", with: "\"pitch\":{},\"p\":["),
      "attitude.pitch is an object where an array of numbers is expected"
    ),
    (
      "a text as number", data.replacing("0.6947476993167052", with: "\"1\""),
      "attitude.pitch has a text at place 1 where a number is expected"
    ),
    (
      "Infinity", data.replacing("0.6947476993167052", with: "Infinity"),
      "the body is not JSON: byte 86: expected a value"
    ),
    (
      "a member twice, of which the last counts",
      data.replacing("\"uuid\":\"session-1\"", with: "\"uuid\":\"session-1\",\"uuid\":7"),
      "uuid is a number where a text is expected"
    ),
    (
      "half of it", String(data.prefix(100)),
      "the body is not JSON: byte 100: expected ',' or ']'"
    ),
  ]

  private static let deep =
    String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
  private static let many = String(repeating: "0,", count: 10_000)

  @Test func `hostile bodies get 400 with a reason, and their session goes on`() {
    var ingest = Self.ingest()
    _ = ingest.answer(Array(MotionBodies.start.utf8), at: 0)
    let huge = ingest.answer([UInt8](repeating: 0x20, count: 100_000_000), at: 1)
    #expect(
      huge.response
        == .init(400, "the body has 100000000 bytes, and 1048576 are the most that is read"))
    for (name, body, message) in Self.hostile {
      let answer = ingest.answer(Array(body.utf8), at: 1)
      #expect(answer.response == .init(400, message), "\(name)")
      #expect(answer.record == nil && ingest.accepts("session-1"))
      #expect(ingest.answer(Array(Self.data.utf8), at: 1).response.status == 200)
    }
  }

  @Test func `sessions known from before are taken, revoked ones not`() {
    let device = MotionDevice(systemName: "", systemVersion: "", name: "", model: "")
    var ingest = MotionIngest(sessions: [
      MotionSession(id: "session-1", device: device, startedAt: 0, rate: 1),
      MotionSession(id: "session-2", device: device, startedAt: 0, revokedAt: 1),
    ])
    guard case .received(let batch)? = ingest.answer(Array(Self.data.utf8), at: 1).record else {
      Issue.record("not taken")
      return
    }
    let times: [Double] = [4, 3, 2, 1, 0].map { 1719634844.78179 - $0 }
    #expect(batch.samples.map(\.time) == times)
    let other = Self.data.replacing("session-1", with: "session-2")
    #expect(ingest.answer(Array(other.utf8), at: 1).response.status == 401)
  }

  @Test func `more sessions than the limit are refused`() {
    var ingest = Self.ingest()
    ingest.maximumSessions = 1
    #expect(ingest.answer(Array(MotionBodies.start.utf8), at: 0).response.status == 200)
    #expect(
      ingest.answer(Array(MotionBodies.start.utf8), at: 0).response
        == .init(503, "there are too many sessions"))
  }
}
