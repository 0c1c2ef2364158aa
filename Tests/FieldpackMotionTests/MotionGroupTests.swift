import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackTestSupport
import Testing

/// Requests of many devices that become few transactions.
@Suite struct MotionGroupTests {
  private func data(_ session: String, _ time: Double) throws -> [UInt8] {
    try MadeMotion.rising(session: session, at: time, from: time)
  }

  /// Starts sessions, one after the other.
  private func start(_ count: Int, _ groups: MotionGroups) async throws -> [String] {
    var sessions: [String] = []
    for _ in 0..<count {
      sessions.append(try await groups.answer(Array(MotionBodies.start.utf8)).body)
    }
    return sessions
  }

  @Test func `a group waits for the sessions of the one before, half a second at most`()
    async throws
  {
    let package = try FieldFile()
    let time = TestClock()
    try await package.withStore { store in
      let groups = MotionGroups(MotionReceiver(store), clock: time.clock)
      let sessions = try await start(2, groups)
      // Nobody is waited for: a group of its own.
      #expect(try await groups.answer(data(sessions[0], 1)).status == 200)
      // The one before was of the first session alone, so that this group ends at once, too.
      #expect(try await groups.answer(data(sessions[0], 2)).status == 200)
      // The second one alone waits for the first.
      async let second = groups.answer(data(sessions[1], 3))
      await time.untilAsleep(1)
      #expect(try package.rows("SELECT count(*) FROM daco_batch") == ["2"])
      async let first = groups.answer(data(sessions[0], 3))
      let both = try await [first.status, second.status]
      #expect(both == [200, 200])
      #expect(
        try package.rows("SELECT count(DISTINCT received_at_unix) FROM daco_batch") == ["1"])
      // Where the first is gone, the second waits half a second.
      async let last = groups.answer(data(sessions[1], 4))
      await time.untilAsleep(1)
      time.advance(by: .milliseconds(499))
      #expect(try package.rows("SELECT count(*) FROM daco_batch") == ["4"])
      time.advance(by: .milliseconds(1))
      #expect(try await last.status == 200)
      #expect(try package.rows("SELECT count(*) FROM daco_batch") == ["5"])
    }
  }

  @Test func `what is no request waits for nobody`() async throws {
    let package = try FieldFile()
    let responses = try await package.withStore { store in
      let groups = MotionGroups(MotionReceiver(store), clock: TestClock().clock)
      return try await [groups.answer(Array("nan".utf8)), groups.answer(data("x", 1))]
    }
    #expect(responses.map(\.status) == [400, 401])
  }
}
