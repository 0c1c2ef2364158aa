import FieldpackCore
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// The client asks NIST's service, as it was recorded, over HTTP: another implementation answers.
@Suite(.programs, .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct RecordedServiceTests {
  @Test func `the client asks as was recorded, and reads all answers`() async throws {
    let transcripts = try Transcript.service()
    let number = Locked(0)
    let server = try LoopbackServer { _ in
      let transcript = number.withLock { number in
        defer { number += 1 }
        return transcripts[number]
      }
      return .response(
        transcript.status, fields: [["Content-Type", "text/xml"]], body: transcript.body)
    }
    let client = try SensorClient(server.address + "/simulatedservice")
    var statuses: [Int] = []
    for (index, transcript) in transcripts.enumerated() {
      let answer = await answer(of: client, to: try request(transcript))
      let sent = try #require(server.requests.last)
      #expect(
        "\(sent.method) \(sent.target)"
          == "\(transcript.method) /simulatedservice\(transcript.path)")
      if !transcript.requestBody.isEmpty { try await check(sent.body, transcript.requestBody) }
      switch answer {
      case .success(let answer):
        statuses.append(answer.httpStatus ?? 0)
        let recorded = try SensorResult(xml: transcript.body)
        let result = answer.result
        #expect(result.statusText == recorded.statusText, "exchange \(index + 1)")
        #expect(result.sessionId == recorded.sessionId)
        #expect(result.captureIds == recorded.captureIds)
        #expect(result.badFields == recorded.badFields)
        #expect(result.metadata == recorded.metadata)
        #expect(try result.data?.all() == recorded.data?.all())
      case .failure(let error):
        statuses.append(404)
        #expect(error.code == .notFound)
      }
    }
    #expect(statuses == transcripts.map(\.status))
    // From its first answer on, the service is asked in its own namespace.
    #expect(client.namespace == SensorNamespace.all[3])
  }

  private func answer(
    of client: SensorClient, to request: SensorRequest
  ) async -> Result<SensorAnswer, FieldpackError> {
    do throws(FieldpackError) { return .success(try await client.perform(request)) } catch {
      return .failure(error)
    }
  }

  /// A body says what the recorded one says, and another program finds it valid.
  private func check(_ body: [UInt8], _ recorded: [UInt8]) async throws {
    #expect(
      try SensorDictionary(configuration: body) == SensorDictionary(configuration: recorded))
    let folder = try TemporaryFolder()
    let file = folder.file("body.xml")
    try Data(body).write(to: file)
    let schema = Transcript.schema("wsbd-1.0_jWSBD.xsd").path
    let result = try await Program.run("xmllint", ["--noout", "--schema", schema, file.path])
    #expect(result.status == 0, "\(result)")
  }

  /// What asks for an exchange.
  private func request(_ transcript: Transcript) throws -> SensorRequest {
    let parts = transcript.path.split(separator: "/").map(String.init)
    let id = parts.count > 1 ? parts[1] : nil
    let operation: SensorOperation
    switch (transcript.method, parts[0], parts.count > 2 ? parts[2] : "") {
    case ("POST", "register", _): operation = .register
    case ("DELETE", "register", _): operation = .unregister
    case ("POST", "lock", _): operation = .lock
    case ("PUT", "lock", _): operation = .stealLock
    case ("DELETE", "lock", _): operation = .unlock
    case ("GET", "info", _): operation = .getCommonInfo
    case ("GET", "status", _): operation = .getStatus
    case ("POST", "initialize", _): operation = .initialize
    case ("DELETE", "initialize", _): operation = .uninitialize
    case ("GET", "configure", _): operation = .getConfiguration
    case ("POST", "configure", _): operation = .configure
    case ("POST", "capture", "async"): operation = .beginCapture
    case ("PUT", "capture", "async"): operation = .endCapture
    case ("POST", "capture", _): operation = .capture
    case ("POST", "cancel", _): operation = .cancel
    case ("GET", "download", ""): operation = .download
    case ("GET", "download", "info"): operation = .getContentType
    default: operation = .thriftyDownload
    }
    var request = SensorRequest(
      operation, session: id, capture: id, maximumSize: parts.last.flatMap { Int($0) })
    if operation == .configure {
      request.configuration = try SensorDictionary(configuration: transcript.requestBody)
    }
    return request
  }
}
