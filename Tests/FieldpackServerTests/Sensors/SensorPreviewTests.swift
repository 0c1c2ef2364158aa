import FieldpackCore
import FieldpackHTTP
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// What the sensor of an item sees, for the operators who look at it.
  @Suite(.programs) struct SensorPreviewTests {
    /// A simulated sensor whose frames a test makes.
    private final class Sensor: RequestHandling {
      /// How many streams were asked for.
      let streams = Locked(0)
      /// Tells each stream whose client has gone.
      let left = AsyncStream.makeStream(of: Void.self)
      private let simulator: SensorSimulatorHandler
      private let make: @Sendable (Int) -> [UInt8]?

      /// - Parameter make: gives a frame by its number from 0 on; `nil` ends the stream.
      init(_ make: @escaping @Sendable (Int) -> [UInt8]?) {
        var options = SensorSimulator.Options(modality: "Finger", submodality: ["LeftSlap"])
        options.picture.longerSide = 40
        simulator = SensorSimulatorHandler(SensorSimulator(options))
        self.make = make
      }

      func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? { nil }
      func answerAtOnce(_ request: ServerRequest) -> ServerResponse? { nil }
      func answer(_ request: ServerRequest) async -> ServerResponse {
        guard request.path.first == "stream" else { return await simulator.answer(request) }
        streams.withLock { $0 += 1 }
        let fields: HTTPFields = ["Content-Type": "multipart/x-mixed-replace;boundary=x"]
        let source = Frames(make) { [left] in left.continuation.yield() }
        return ServerResponse(200, fields: fields, body: .stream(ResponseStream(source)))
      }
    }

    /// Frames as fast as they are taken.
    private final class Frames: ByteSource {
      private let state = Locked((bytes: [UInt8](), taken: 0, number: 0))
      private let make: @Sendable (Int) -> [UInt8]?
      private let leave: @Sendable () -> Void

      init(_ make: @escaping @Sendable (Int) -> [UInt8]?, leave: @escaping @Sendable () -> Void) {
        (self.make, self.leave) = (make, leave)
      }

      func take(
        into buffer: UnsafeMutableRawBufferPointer, orPause pause: () -> @Sendable () -> Void
      ) -> ResponseStream.Piece {
        state.withLock { state in
          if state.taken == state.bytes.count {
            guard let frame = make(state.number) else { return .end }
            state.bytes = Array("--x\r\nContent-Type: image/jpeg\r\n\r\n".utf8) + frame + [13, 10]
            (state.taken, state.number) = (0, state.number + 1)
          }
          let count = min(buffer.count, state.bytes.count - state.taken)
          buffer.copyBytes(from: state.bytes[state.taken..<state.taken + count])
          state.taken += count
          return .bytes(count)
        }
      }

      func stop() {}
      func abandon() { leave() }
    }

    /// One who looks at the sensor of item 1.
    private final class Viewer {
      let status: Int
      private let stream: HTTPStream
      private var reader: PreviewReader?
      private var frames: [PreviewFrame] = []
      private(set) var count = 0

      init(_ server: TestServer) async throws {
        var configuration = HTTPConfiguration()
        configuration.timeout = nil
        configuration.lowSpeed = 0
        var request = HTTPRequest(.get, server.address + "/sensors/items/1/preview")
        request.maximumLength = .max
        stream = try await HTTPClient(configuration).stream(request)
        status = stream.head.status
        reader = try? PreviewReader(contentType: stream.head.fields["Content-Type"] ?? "")
      }

      /// The next frame; `nil` at the end.
      func next() async throws -> PreviewFrame? {
        while frames.isEmpty {
          guard let bytes = try await stream.next() else { return nil }
          frames = try reader?.push(bytes) ?? []
        }
        count += 1
        return frames.removeFirst()
      }
    }

    private func server(of sensor: String?, cameras: Set<String> = []) async throws -> TestServer {
      let server = try await TestServer(
        isWritable: true,
        configure: { options, _ in (options.hasSensors, options.cameras) = (true, cameras) })
      let persons = PersonCatalogue(server.store)
      let person = try await persons.add()
      let address = sensor.flatMap { SensorAddress(typed: $0) }
      try await persons.add(
        ItemDraft(
          modality: .finger, captureType: .leftSlap, device: address.map { SensorDevice($0) }),
        to: person.key)
      return server
    }

    private func listen(_ sensor: Sensor) throws -> (ServerListener, String) {
      let listener = try ServerListener(ListenAddress(port: 0), handler: sensor)
      return (listener, "http://127.0.0.1:\(listener.port)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `all who look share one stream, which ends with the last of them`() async throws {
      let sensor = Sensor { SimulatedPicture().make($0, 40) }
      let (listener, address) = try listen(sensor)
      let server = try await server(of: address)
      var viewers: [Viewer] = []
      for _ in 0..<3 { viewers.append(try await Viewer(server)) }
      for viewer in viewers {
        let frame = try #require(try await viewer.next())
        // The sensor said that it is a JPEG.
        #expect(frame.contentType == "image/bmp")
        #expect(frame.bytes.count == SimulatedPicture().make(0, 40).count)
      }
      viewers.removeLast(2)
      for _ in 0..<20 { _ = try #require(try await viewers[0].next()) }
      #expect(sensor.streams.withLock { $0 } == 1)
      viewers = []
      for await _ in sensor.left.stream { break }
      let again = try await Viewer(server)
      _ = try #require(try await again.next())
      #expect(sensor.streams.withLock { $0 } == 2)
      await server.close()
      await listener.close()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a capture makes a pause`() async throws {
      let sensor = Sensor { SimulatedPicture().make($0, 40) }
      let (listener, address) = try listen(sensor)
      let server = try await server(of: address)
      let viewer = try await Viewer(server)
      _ = try #require(try await viewer.next())
      #expect(try await server.get("/sensors/items/1/tap", "POST", body: "").status == 200)
      for await _ in sensor.left.stream { break }
      while sensor.streams.withLock({ $0 }) < 2 { _ = try #require(try await viewer.next()) }
      let persons = PersonCatalogue(server.store)
      #expect(try await persons.item("1").hasData)
      let count = viewer.count
      while viewer.count < count + 5 { _ = try #require(try await viewer.next()) }
      await server.close()
      await listener.close()
    }

    private static let page = Array("<svg onload='alert(1)'/>".utf8)
    /// A BMP that says it is 65,500 pixels wide and tall.
    private static let huge: [UInt8] = {
      var bytes = SimulatedPicture().make(1, 40)
      for offset in [18, 22] { bytes.replaceSubrange(offset..<offset + 2, with: [0xDC, 0xFF]) }
      return bytes
    }()

    private static let hostile: [(name: String, make: @Sendable (Int) -> [UInt8]?)] = [
      ("no pictures", { _ in page }), ("pictures of another size", { _ in huge }),
      ("empty frames", { _ in [] }), ("no frame", { _ in nil }),
      ("a frame without an end", { _ in [UInt8](repeating: 66, count: 20 << 20) }),
    ]

    @Test(.timeLimit(.minutes(2)), arguments: 0..<hostile.count)
    func `what is no picture goes to nobody, and the stream ends`(index: Int) async throws {
      let (name, make) = Self.hostile[index]
      let sensor = Sensor(make)
      let (listener, address) = try listen(sensor)
      let server = try await server(of: address)
      let viewer = try await Viewer(server)
      #expect(viewer.status == 200)
      #expect(try await viewer.next() == nil, "\(name)")
      #expect(try await server.get("/sensors/state").status == 200)
      await server.close()
      await listener.close()
    }

    @Test func `a camera of the server is seen where its path is allowed`() async throws {
      let folder = try TemporaryFolder()
      let file = folder.file("face.bmp")
      let picture = SimulatedPicture().make(7, 40)
      try Data(picture).write(to: file)
      for cameras in [[file.path], [folder.url.path], []] as [Set<String>] {
        let server = try await server(of: "cam://\(file.path)", cameras: cameras)
        let check = try await server.get(
          "/sensors/check?modality=Face&submodality=Face2d&uri=cam://\(file.path)")
        let isAllowed = cameras == [file.path]
        #expect(try check.json["result"] == .text(isAllowed ? "found" : "not_found"))
        let viewer = try await Viewer(server)
        #expect(viewer.status == (isAllowed ? 200 : 403))
        if isAllowed { #expect(try await viewer.next()?.bytes == picture) }
        await server.close()
      }
    }

    @Test(
      arguments: [
        (nil, 404), ("http://127.0.0.1:1", 503), ("cam:///dev/video0", 403),
      ] as [(String?, Int)])
    func `a preview that cannot be had is told`(sensor: String?, status: Int) async throws {
      let server = try await server(of: sensor)
      let path = "/sensors/items/1/preview"
      let answer = try await server.get(path)
      #expect(answer.status == status, "\(answer.text)")
      #expect(try await server.get(path, "HEAD").status == 200)
      // A page of another site could show it as a picture.
      for site in ["cross-site", "same-site"] {
        let foreign = try await server.get(path, fields: ["Sec-Fetch-Site": site])
        #expect(foreign.status == 403)
        #expect(foreign.text.contains("Pages of other sites may not ask this."))
      }
      let own = try await server.get(path, fields: ["Sec-Fetch-Site": "same-origin"])
      #expect(own.status == status)
      await server.close()
    }
  }
#endif
