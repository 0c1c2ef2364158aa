import FieldpackCore
import FieldpackHTTP
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// A simulated sensor on the network.
  @Suite(.programs) struct SensorSimulatorServerTests {
    private func serve(
      _ change: (inout SensorSimulator.Options) -> Void = { _ in }
    ) throws -> (SensorSimulatorServer, String) {
      var options = SensorSimulator.Options()
      options.picture.longerSide = 40
      change(&options)
      let server = SensorSimulatorServer(SensorSimulator(options))
      let address = try server.listen(on: ListenAddress(port: 0))
      return (server, "http://\(address)")
    }

    @Test func `curl captures and downloads`() async throws {
      let (server, address) = try serve()
      func curl(_ method: String, _ path: String) async throws -> SensorResult {
        let result = try await Program.run("curl", ["-sf", "-X", method, address + path])
        return try SensorResult(xml: Array(result.outputBytes))
      }
      let session = try #require(try await curl("POST", "/register").sessionId)
      for path in ["/lock/", "/initialize/"] {
        #expect(try await curl("POST", path + session).statusText == "success")
      }
      let id = try #require(try await curl("POST", "/capture/" + session).captureIds.first)
      let download = try await curl("GET", "/download/" + id)
      let data = try #require(download.data)
      #expect(try data.prefix(data.count) == SimulatedPicture().make(1, 40))
      #expect(try await curl("DELETE", "/register/" + session).statusText == "success")
      await server.close()
    }

    @Test func `the client's preview shows the frames of the stream`() async throws {
      let (server, address) = try serve()
      let client = try SensorClient(address)
      let information = try await client.perform(SensorRequest(.getCommonInfo)).result
      let resource = try #require(information.metadata?.preview)
      let preview = try SensorPreview(resource, of: client.base, http: SensorClient.http())
      var frames: [PreviewFrame] = []
      while frames.count < 2, let frame = try await preview.next() { frames.append(frame) }
      preview.stop()
      #expect(frames.allSatisfy { $0.contentType == "image/bmp" })
      #expect(Set(frames.map(\.bytes)).count == 2)
      #expect(frames.first?.bytes == SimulatedPicture().make(0, 40))
      await server.close()
    }

    @Test func `an answer without an end is an error, and the sensor goes on`() async throws {
      let (server, address) = try serve {
        $0.faults = [SensorFault(.getCommonInfo, .endless, times: 1)]
      }
      let client = try SensorClient(address)
      let error = await #expect(throws: FieldpackError.self) {
        try await client.perform(SensorRequest(.getCommonInfo))
      }
      #expect(error?.code == .invalidData)
      #expect(try await client.perform(SensorRequest(.getCommonInfo)).result.isSuccess)
      await server.close()
    }

    @Test func `a body that is too long is refused`() {
      let handler = SensorSimulatorHandler(SensorSimulator())
      let head = ServerRequest("POST", ["configure", "x"])
      #expect(handler.refusal(of: head, bodyLength: 2 << 20)?.status == 413)
      #expect(handler.refusal(of: head, bodyLength: 1000)?.status == nil)
    }
  }
#endif
