import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Devices that post motion.
  @Suite struct MotionServingTests {
    private static func device(_ number: Int) -> MotionDevice {
      MotionDevice(
        systemName: "Linux", systemVersion: "6.1", name: "sensor \(number)",
        identifierForVendor: "vendor-\(number)", model: "board")
    }

    private static func readings(_ device: Int, _ count: Int) -> [MotionReading] {
      (0..<count).map { index in
        MotionReading(
          acceleration: .init(x: Double(device), y: Double(index) / 3, z: 1),
          rotation: .init(x: 0, y: 0, z: Double(index)))
      }
    }

    private func post(
      _ server: TestServer, _ body: [UInt8], type: String = "application/json"
    ) async throws -> TestServer.Answer {
      try await server.send("POST", "/motion", body, fields: ["Content-Type": type])
    }

    private func start(_ server: TestServer, _ number: Int) async throws -> String {
      let request = MotionRequest.start(.init(timestamp: 100, device: Self.device(number)))
      return try await post(server, request.body()).text
    }

    @Test func `sessions are started, fed and ended as the protocol has it`() async throws {
      let server = try await TestServer(isWritable: true)
      let session = try await start(server, 1)
      #expect(UUID(uuidString: session) != nil)
      let readings = Self.readings(1, 5)
      let data = try MotionRequest.data(
        .init(session: session, timestamp: 200, readings: readings)
      ).body()
      for _ in 0..<2 {
        let answer = try await post(server, data, type: "Application/JSON; charset=utf-8")
        #expect("\(answer.status) \(answer.text)" == "200 ")
        #expect(answer.fields["Content-Type"] == "text/plain; charset=utf-8")
        // Stored by now, and once.
        let samples = try await server.store.motionSamples(ofSession: session)
        #expect(samples.map(\.reading) == readings)
      }
      let text = String(decoding: data, as: UTF8.self)
      for bad in ["", "{", text.replacing("1.0", with: "nan"), #"{"type":"other"}"#] {
        #expect(try await post(server, Array(bad.utf8)).status == 400, "\(bad)")
      }
      // The session goes on.
      let more = try MotionRequest.data(
        .init(session: session, timestamp: 201, readings: readings)
      ).body()
      #expect(try await post(server, more).status == 200)
      #expect(try await post(server, more, type: "text/plain").status == 415)
      let unknown = MotionRequest.data(.init(session: "x", timestamp: 1, readings: readings))
      #expect(try await post(server, unknown.body()).status == 401)
      try await MotionReceiver(server.store).revoke(session, at: 300)
      #expect(try await post(server, more).status == 401)
      let get = try await server.get("/motion")
      #expect("\(get.status) \(get.fields["Allow"] ?? "")" == "405 POST, OPTIONS")
      await server.close()
    }

    @Test func `twenty devices at a time are stored in order`() async throws {
      let server = try await TestServer(isWritable: true)
      let (devices, posts) = (20, 10)
      let sessions = try await withThrowingTaskGroup(of: (Int, String).self) { group in
        for device in 0..<devices {
          group.addTask {
            let session = try await start(server, device)
            let readings = Self.readings(device, posts * 5)
            for number in 0..<posts {
              let request = MotionRequest.data(
                .init(
                  session: session, timestamp: 1000 + Double(number) / 10,
                  readings: Array(readings[number * 5..<number * 5 + 5])))
              let answer = try await post(server, request.body())
              #expect(answer.status == 200)
            }
            return (device, session)
          }
        }
        return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
      }
      #expect(sessions.count == devices)
      for (device, session) in sessions {
        let samples = try await server.store.motionSamples(ofSession: session)
        #expect(samples.map(\.reading) == Self.readings(device, posts * 5))
      }
      await server.close()
    }

    @Test func `our own client runs against it`() async throws {
      let server = try await TestServer(isWritable: true)
      let readings = Self.readings(3, 23)
      let client = try MotionClient(
        MotionServer(server.address + "/motion"), device: Self.device(3))
      let report = try await client.run(MotionReplay(readings))
      #expect(report.sent == 5)
      #expect(report.lost == 0)
      let sessions = try await server.store.motionSessions()
      #expect(sessions.map(\.session.device.name) == ["sensor 3"])
      let stored = try await server.store.motionSamples(ofSession: sessions[0].session.id)
      // Times come from the rate and the moment of sending, which a busy machine moves.
      let inOrder = stored.map(\.reading).sorted {
        ($0.rotation?.z ?? 0) < ($1.rotation?.z ?? 0)
      }
      #expect(inOrder == readings)
      await server.close()
    }
  }
#endif
