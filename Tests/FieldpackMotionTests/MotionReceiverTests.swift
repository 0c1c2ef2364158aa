import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackTestSupport
import Testing

@Suite(.programs) struct MotionReceiverTests {
  private static let id = "00000000-0000-0000-0000-000000000000"

  @Test func `the documented bodies become rows number for number`() async throws {
    let package = try FieldFile()
    let samples = try await package.withStore { store in
      let receiver = MotionReceiver(store, newSession: { Self.id })
      let start = try await receiver.answer([Array(MotionBodies.start.utf8)], at: 1_719_634_845)
      #expect(start == [.init(200, Self.id)])
      let data = try await receiver.answer([Array(MotionBodies.data.utf8)], at: 1_719_634_846)
      #expect(data == [.init(200)])
      return try await store.motionSamples(ofSession: Self.id)
    }
    guard case .data(let body) = try MotionRequest(body: Array(MotionBodies.data.utf8)) else {
      return
    }
    #expect(
      samples
        == MotionSample.samples(of: body.readings, sentAt: 1719634844.78179, rate: 50))
    #expect(
      try package.rows("SELECT * FROM daco_device") == [
        "1|\(Self.id)|iPhone|iPhone|iPhone|iOS|17.0.1|2024-06-29T04:20:45.000Z"
      ])
    #expect(
      try package.rows("SELECT * FROM daco_session")
        == ["1|\(Self.id)|1|1719634845.0|NULL|50.0"])
    #expect(
      try package.rows("SELECT * FROM daco_batch")
        == ["1|1|1719634844.78179|1719634846.0|5|15"])
    #expect(try package.findings() == [])
    #expect(try await package.verdicts() == [])
  }

  @Test func `requests that bring nothing leave the file as it was`() async throws {
    let package = try FieldFile()
    let responses = try await package.withStore { store in
      try await MotionReceiver(store).answer(
        [Array(MotionBodies.data.utf8), Array("nan".utf8)], at: 0)
    }
    #expect(responses.map(\.status) == [401, 400])
    #expect(try package.rows("SELECT table_name FROM gpkg_contents") == [])
  }

  @Test func `a group is answered in order, in one transaction`() async throws {
    let package = try FieldFile()
    let responses = try await package.withStore { store in
      try await MotionReceiver(store, newSession: { "s" }).answer(
        [
          try MadeMotion.rising(session: "s", at: 10, from: 0), Array(MotionBodies.start.utf8),
          Array("{}".utf8), try MadeMotion.rising(session: "s", at: 11, from: 5),
        ], at: 12)
    }
    #expect(responses.map(\.status) == [401, 200, 400, 200])
    #expect(
      try package.rows(
        "SELECT b.sections, s.i, s.t_unix, s.pitch, s.az FROM daco_batch b "
          + "JOIN daco_sample s ON s.batch_id = b.id ORDER BY s.id") == [
          "2|0|10.92|NULL|5.0", "2|1|10.94|NULL|6.0", "2|2|10.96|NULL|7.0", "2|3|10.98|NULL|8.0",
          "2|4|11.0|NULL|9.0",
        ])
  }

  @Test func `a revoked session gets 401 from every receiver`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      let receiver = MotionReceiver(store, newSession: { "s" })
      _ = try await receiver.answer([Array(MotionBodies.start.utf8)], at: 0)
      try await receiver.revoke("s", at: 5)
      try await receiver.revoke("s", at: 6)
      let body = try MadeMotion.rising(session: "s", at: 7, from: 0)
      #expect(try await MotionReceiver(store).answer([body], at: 7).map(\.status) == [401])
      await #expect(throws: FieldpackError.self) { try await receiver.revoke("t", at: 5) }
    }
    #expect(try package.rows("SELECT revoked_at_unix FROM daco_session") == ["5.0"])
  }

  @Test func `a batch that is sent again is acknowledged and stored once`() async throws {
    let package = try FieldFile()
    let body = try MadeMotion.rising(session: "s", at: 10, from: 0)
    let other = try MadeMotion.rising(session: "s", at: 10, from: 1)
    let responses = try await package.withStore { store in
      let receiver = MotionReceiver(store, newSession: { "s" })
      _ = try await receiver.answer([Array(MotionBodies.start.utf8)], at: 0)
      return [
        try await receiver.answer([body, body], at: 10),
        try await MotionReceiver(store).answer([body, other], at: 11),
      ]
    }
    #expect(responses == Array(repeating: [.init(200), .init(200)], count: 2))
    #expect(
      try package.rows(
        "SELECT b.id, received_at_unix, min(az) FROM daco_batch b "
          + "JOIN daco_sample s ON s.batch_id = b.id GROUP BY 1") == ["1|10.0|0.0", "2|11.0|1.0"])
  }

  @Test func `a device that starts again is one device with its newest names`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      let receiver = MotionReceiver(store)
      for name in ["old", "new"] {
        var device = MadeMotion.device(1)
        device.name = name
        let body = try MotionRequest.start(.init(timestamp: 0, device: device)).body()
        _ = try await receiver.answer([body], at: 1)
      }
    }
    #expect(try package.rows("SELECT id, name FROM daco_device") == ["1|new"])
    #expect(try package.rows("SELECT device_id FROM daco_session") == ["1", "1"])
  }

  @Test func `a group that cannot be stored is not answered and leaves nothing`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      let ids = Locked(["s", "t", "s"])
      let receiver = MotionReceiver(store, newSession: { ids.withLock { $0.removeFirst() } })
      let start = Array(MotionBodies.start.utf8)
      _ = try await receiver.answer([start], at: 0)
      // The second of these gets an id that is taken.
      await #expect(throws: FieldpackError.self) {
        try await receiver.answer([start, start], at: 1)
      }
    }
    #expect(try package.rows("SELECT uuid FROM daco_session") == ["s"])
  }

  @Test func `sixty thousand samples of twenty devices are there in order, bit by bit`()
    async throws
  {
    let package = try FieldFile()
    let (devices, seconds) = (20, 60)
    try await package.withStore { store in
      var longest = 0
      let count = Locked(0)
      let receiver = MotionReceiver(
        store,
        newSession: {
          count.withLock { count in
            count += 1
            return "session-\(count - 1)"
          }
        })
      let starts = try (0..<devices).map { number in
        try MotionRequest.start(.init(timestamp: 0, device: MadeMotion.device(number))).body()
      }
      _ = try await receiver.answer(starts, at: 0)
      for second in 0..<seconds {
        var bodies: [[UInt8]] = []
        for (part, number) in (0..<10).flatMap({ part in (0..<devices).map { (part, $0) } }) {
          let first = second * 50 + part * 5
          bodies.append(
            try MadeMotion.data(
              session: "session-\(number)", at: Double(first + 4) / 50,
              (0..<5).map { MadeMotion.reading(number, first + $0) }))
        }
        let responses = try await receiver.answer(bodies, at: Double(second))
        #expect(responses == Array(repeating: .init(200), count: 200))
        longest = max(longest, try package.size(of: package.path + "-wal"))
      }
      // SQLite's checkpoints come at 1,000 pages of 4 KiB; a group is 15 of them.
      #expect((1...6 << 20).contains(longest), "\(longest)")
      for number in 0..<devices {
        let samples = try await store.motionSamples(ofSession: "session-\(number)")
        let expected = (0..<seconds * 50).map { MadeMotion.reading(number, $0) }
        #expect(samples.map(\.reading) == expected)
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time })
      }
    }
    #expect(try package.rows("SELECT count(*) FROM daco_sample") == ["60000"])
  }
}
