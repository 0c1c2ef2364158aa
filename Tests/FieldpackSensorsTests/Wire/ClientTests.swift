import Dispatch
import FieldpackCore
import FieldpackHTTP
import FieldpackSensors
import FieldpackTestSupport
import Testing

/// A service on this machine, which answers as a simulated one does.
struct ServedSensor {
  let simulator: SensorSimulator
  let server: LoopbackServer

  init(_ options: SensorSimulator.Options = SensorSimulator.Options()) throws {
    let simulator = SensorSimulator(options)
    self.simulator = simulator
    server = try LoopbackServer { request in
      let parts = request.target.split(separator: "/").dropFirst().map(String.init)
      let answer = Locked<SensorSimulator.Response?>(nil)
      let done = DispatchSemaphore(value: 0)
      Task {
        let response = await simulator.answer(request.method, parts, body: request.body)
        answer.withLock { $0 = response }
        done.signal()
      }
      done.wait()
      guard let response = answer.withLock({ $0 }) else { return .nothing }
      let fields = response.fields.fields.map { [$0.name, $0.value] }
      switch response.body {
      case .bytes(let bytes): return .response(response.status, fields: fields, body: bytes)
      case .endless(let piece): return .pieces(length: 1 << 40) { _ in piece }
      case .frames: return .silence
      }
    }
  }

  var uri: String { server.address + "/sensor" }
}

/// The client over HTTP, with a service that behaves and with others.
@Suite struct ClientTests {
  @Test func aCaptureGoesOverTheNetwork() async throws {
    var options = SensorSimulator.Options()
    options.picture.longerSide = 40
    let served = try ServedSensor(options)
    let journal = MemoryJournal()
    let links = try SensorLinks(journal: journal)
    let address = SensorAddress(uri: served.uri, name: "a")
    let target = SensorTarget(address, ["width": .integer(320)], item: LinkedSensor.item)
    #expect(try await links.capture(target)?.isCompleted == true)
    #expect(
      served.server.requests.map { "\($0.method) \($0.target.split(separator: "/")[1])" } == [
        "GET info", "POST register", "POST lock", "POST initialize", "POST configure",
        "POST capture",
        "DELETE lock", "GET download", "GET download",
      ])
    #expect(
      served.server.requests.allSatisfy {
        $0["Content-Type"] == "application/xml; charset=utf-8"
      })
    #expect(await Array(journal.stored.values) == [SimulatedPicture().make(1, 40)])
    #expect(await journal.entries.allSatisfy { $0.httpStatus == 200 && $0.status != nil })
    await links.close()
    #expect(served.simulator.sessionCount == 0)
  }

  @Test func requestsAreInTheNamespaceOfTheService() async throws {
    for namespace in SensorNamespace.all {
      var options = SensorSimulator.Options()
      options.namespace = namespace
      let served = try ServedSensor(options)
      let client = try SensorClient(served.uri + "/")
      #expect(client.namespace == SensorNamespace.standard)
      _ = try await client.perform(SensorRequest(.getCommonInfo))
      let session = try await client.perform(SensorRequest(.register)).result.sessionId
      for operation in [SensorOperation.lock, .initialize, .configure] {
        let result = try await client.perform(
          SensorRequest(operation, session: session, configuration: ["width": .integer(320)])
        ).result
        #expect(result.isSuccess)
      }
      let body = String(decoding: served.server.requests.last?.body ?? [], as: UTF8.self)
      #expect(
        body == "<configuration xmlns=\"\(namespace)\" "
          + "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
          + "xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"><item><key>width</key>"
          + "<value i:type=\"xs:int\">320</value></item></configuration>")
    }
  }

  @Test func rawDownloadsAndStatusesAreRead() async throws {
    let served = try ServedSensor()
    let client = try SensorClient(served.uri)
    let status = try await client.perform(SensorRequest(.getStatus)).result
    #expect(status.metadata?["sensorStatus"] == .string("ready"))
    let session = try await client.perform(SensorRequest(.register)).result.sessionId
    for operation in [SensorOperation.lock, .initialize, .capture] {
      _ = try await client.perform(SensorRequest(operation, session: session))
    }
    let id = served.simulator.captureIds.first
    let raw = try await client.perform(SensorRequest(.rawDownload, capture: id)).result
    #expect(try raw.data?.all() == SimulatedPicture().make(1, 128))
    #expect(raw.metadata?["contentType"] == .string("image/bmp"))
  }

  @Test(arguments: ["", "ftp://a", "http://a/b?c", "http://user@a", "http://a b"])
  func whatIsNoAddressIsRefused(uri: String) {
    let error = #expect(throws: FieldpackError.self) { try SensorClient(uri) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func aSchemeIsAdded() throws {
    #expect(try SensorClient("192.0.2.1:8000/Service/").base == "http://192.0.2.1:8000/Service")
  }
}
