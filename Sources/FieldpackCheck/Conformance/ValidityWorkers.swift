import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackThreads
import FieldpackTopology

/// Finds geometries that are not valid, on threads of its own while the next rows are read.
///
/// Rows are handed over in batches. The answers come in the order of the rows.
final class ValidityWorkers: Sendable {
  /// A geometry that is not valid.
  struct Invalid: Sendable {
    var row: Int64?
    var reason: String
    var place: Position?
    /// Whether a repair can mend it.
    var isMendable = false
    /// Whether it has arcs, which GEOS sees as lines.
    var isCurved = false
  }

  /// Some geometries one behind the other.
  private struct Batch: Sendable {
    var number = 0
    var bytes: [UInt8] = []
    var rows: [(id: Int64?, end: Int)] = []

    /// The batch, which is empty after this.
    mutating func taken() -> Batch {
      let full = self
      self = Batch()
      bytes.reserveCapacity(full.bytes.count + 4_096)
      return full
    }
  }

  private struct State: Sendable {
    var queue: [Batch] = []
    var answers: [Int: Result<[Invalid], TopologyError>] = [:]
    /// The numbers of the next batch to fill, and of the next answer to give.
    var filled = 0
    var given = 0
    var isEnded = false
  }

  private let state = Locked(State())
  private let filling = Locked(Batch())
  private let threadCount: Int

  private static let bytesAtOnce = 128 << 10
  private static let rowsAtOnce = 512

  init() {
    let state = state
    threadCount = (0..<PieceReaders.mostReaders).count { _ in
      SystemThread.start { Self.work(on: state) }
    }
  }

  deinit { state.change { $0.isEnded = true } }

  /// Takes the geometry of a row, and gives what was found meanwhile; waits while too much waits.
  func add(_ wkb: RawSpan, _ row: Int64?) throws(FieldpackError) -> [Invalid] {
    let full = filling.withLock { batch -> Batch? in
      wkb.withUnsafeBytes { batch.bytes.append(contentsOf: $0) }
      batch.rows.append((row, batch.bytes.count))
      guard batch.bytes.count >= Self.bytesAtOnce || batch.rows.count >= Self.rowsAtOnce
      else { return nil }
      return batch.taken()
    }
    guard let full else { return [] }
    submit(full)
    return try answers(waits: false)
  }

  /// Waits for all answers.
  func finish() throws(FieldpackError) -> [Invalid] {
    let rest = filling.withLock { $0.rows.isEmpty ? nil : $0.taken() }
    if let rest { submit(rest) }
    return try answers(waits: true)
  }

  private func submit(_ batch: Batch) {
    guard threadCount > 0 else {
      let answer = Self.examine(batch, in: try? TopologyContext())
      return state.change { state in
        state.answers[state.filled] = answer
        state.filled += 1
      }
    }
    let limit = 2 * threadCount
    state.wait { state -> Void? in
      guard state.queue.count < limit else { return nil }
      var batch = batch
      batch.number = state.filled
      state.filled += 1
      state.queue.append(batch)
      return ()
    }
  }

  private func answers(waits: Bool) throws(FieldpackError) -> [Invalid] {
    let answers = state.wait { state -> [Result<[Invalid], TopologyError>]? in
      if waits, state.given + state.answers.count < state.filled { return nil }
      var answers: [Result<[Invalid], TopologyError>] = []
      while let answer = state.answers.removeValue(forKey: state.given) {
        answers.append(answer)
        state.given += 1
      }
      return answers
    }
    do throws(TopologyError) {
      var found: [Invalid] = []
      for answer in answers { found += try answer.get() }
      return found
    } catch {
      throw FieldpackError(.unavailable, error.message)
    }
  }

  // MARK: Threads

  private static func work(on state: Locked<State>) {
    let context = try? TopologyContext()
    while true {
      let batch = state.wait { state -> Batch?? in
        if state.isEnded { return .some(nil) }
        // A `nil` beside the batch would be an inner one, which ends the thread.
        guard !state.queue.isEmpty else { return nil }
        return .some(state.queue.removeFirst())
      }
      guard let batch = batch ?? nil else { return }
      let answer = examine(batch, in: context)
      state.change { $0.answers[batch.number] = answer }
    }
  }

  private static func examine(
    _ batch: Batch, in context: TopologyContext?
  ) -> Result<[Invalid], TopologyError> {
    guard let context else {
      return .failure(TopologyError(.unavailable, "GEOS cannot make a context: out of memory"))
    }
    var found: [Invalid] = []
    var start = 0
    for row in batch.rows {
      let wkb = batch.bytes.span.bytes.extracting(start..<row.end)
      start = row.end
      do throws(TopologyError) {
        let (validity, isCurved) = try validity(of: wkb, in: context)
        guard case .invalid(let reason, let place) = validity else { continue }
        let made = GeometryRepair.mended(wkb, in: context)
        found.append(
          Invalid(
            row: row.id, reason: reason, place: place, isMendable: made != nil,
            isCurved: isCurved))
      } catch {
        found.append(Invalid(row: row.id, reason: error.message))
      }
    }
    return .success(found)
  }

  /// A geometry with arcs is invalid where it is so with short lines for its arcs, too: longer ones may
  /// cut what lies close beside an arc.
  private static func validity(
    of wkb: RawSpan, in context: TopologyContext
  ) throws(TopologyError) -> (Validity, isCurved: Bool) {
    let validity = try context.validity(of: wkb)
    guard validity != .valid, GeometrySurvey.hasCurves(wkb), let curve = try? WKB.read(wkb) else {
      return (validity, false)
    }
    return (try context.read(curve.linearized(segmentsPerQuarter: 256)).validity(), true)
  }
}
