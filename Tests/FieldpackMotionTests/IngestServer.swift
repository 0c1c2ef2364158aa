import FieldpackCore
import FieldpackField
import FieldpackMotion
import FieldpackTestSupport

extension MotionClient.Options {
  /// Options that note the waits after failures, in seconds, of which chance takes nothing away.
  static func noting(_ pauses: Locked<[Double]>) -> MotionClient.Options {
    var options = MotionClient.Options()
    options.backOff.jitter = 0
    options.onEvent = { event in
      if case .waiting(let seconds) = event { pauses.withLock { $0.append(seconds) } }
    }
    return options
  }
}

/// A server that answers with an ingest, except where it is told otherwise.
final class IngestServer: Sendable {
  let ingest: Locked<MotionIngest>
  let records = Locked<[MotionRecord]>([])
  let bodies = Locked<[MotionRequest]>([])
  private let faults: Locked<[Int?]>

  /// - Parameter faults: the status of each answer; `nil` is what the ingest gives.
  init(_ faults: [Int?] = []) {
    self.faults = Locked(faults)
    let count = Locked(0)
    ingest = Locked(
      MotionIngest(newSession: {
        count.withLock { count in
          count += 1
          return "s\(count)"
        }
      }))
  }

  func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Reply {
    if let body = try? MotionRequest(body: request.body) { bodies.withLock { $0.append(body) } }
    let fault = faults.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let fault { return .text(fault, "no") }
    let (response, record) = ingest.withLock { $0.answer(request.body, at: 5) }
    if let record { records.withLock { $0.append(record) } }
    return .text(response.status, response.body.isEmpty ? "taken" : response.body)
  }

  /// `start`, or the session of readings with the first number of their first reading.
  var seen: [String] {
    bodies.withLock { bodies in
      bodies.map { body in
        guard case .data(let data) = body else { return "start" }
        return "\(data.session) \(Int(data.readings.first?[.az] ?? -1))"
      }
    }
  }

  func readings(of session: String) -> [MotionReading] {
    records.withLock { records in
      records.flatMap { record -> [MotionReading] in
        guard case .received(let batch) = record, batch.session == session else { return [] }
        return batch.samples.map(\.reading)
      }
    }
  }
}
