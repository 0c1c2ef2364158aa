import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// The simulator answers what the service of NIST answered that was recorded (W1, W3).
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct TranscriptTests {
  /// What a moment or a random order decides is compared by its meaning.
  private static let notByBytes: Set = [9, 19, 20, 21]

  @Test func allThirtyNineExchangesAreReplayed() async throws {
    let transcripts = try Transcript.service()
    let results = try transcripts.map { $0.status == 200 ? try SensorResult(xml: $0.body) : nil }
    let time = TestClock(.byHand)
    let simulator = SensorSimulator(try options(results), clock: time.clock)
    for (index, transcript) in transcripts.enumerated() {
      let number = index + 1
      // The recorder waited until the lock could be stolen.
      if number == 29 { time.advance(by: .seconds(1)) }
      let parts = transcript.path.split(separator: "/").map(String.init)
      let response = await simulator.answer(
        transcript.method, parts, body: transcript.requestBody)
      #expect(response.status == transcript.status)
      guard case .bytes(let bytes) = response.body else {
        Issue.record("\(number) has no body")
        continue
      }
      guard Self.notByBytes.contains(number), let recorded = results[index] else {
        #expect(
          timeless(bytes) == timeless(transcript.body),
          "exchange \(number)")
        continue
      }
      let result = try SensorResult(xml: bytes)
      #expect(result.statusText == recorded.statusText)
      #expect(try result.data?.all() == recorded.data?.all())
      guard number != 21 else { continue }
      #expect(keys(result) == keys(recorded))
    }
  }

  /// Without the moment at which somebody set the configuration.
  private func timeless(_ body: [UInt8]) -> String {
    String(decoding: body, as: UTF8.self)
      .replacing(#/dateTime">2026-11-20T08:06:2[0-9.]+Z/#, with: "dateTime\">")
  }

  private func keys(_ result: SensorResult) -> [String]? {
    result.metadata?.items.map(\.key)
  }

  /// The service that was recorded: what it said of itself, its ids and its pictures.
  private func options(_ results: [SensorResult?]) throws -> SensorSimulator.Options {
    var options = SensorSimulator.Options()
    options.dialect = .java
    options.namespace = SensorNamespace.all[3]
    options.parameters = try #require(results[0]?.metadata)
    options.configurationKeys = results[12]?.metadata?.items.map(\.key)
    options.preventionPeriod = .seconds(1)
    options.inactivityTimeout = nil
    let ids = Locked([
      results[2]?.sessionId, results[3]?.sessionId, results[17]?.captureIds.first,
      results[25]?.captureIds.first,
    ])
    options.makeId = { ids.withLock { ($0.isEmpty ? nil : $0.removeFirst()) ?? "" } }
    let (whole, small) = (try results[19]?.data?.all() ?? [], try results[20]?.data?.all() ?? [])
    options.picture.contentType = "image/png"
    options.picture.make = { $1 == 64 ? small : whole }
    return options
  }
}
