import FieldpackCore

/// One part of a query's answer.
enum PieceSource: Sendable {
  /// The whole query by one reader, with its order and limits.
  case walk
  /// All rows of one layer by one reader.
  case layer(LayerPath)
  /// The rows of one layer in ranges of ascending rowids, by all readers.
  case ranges(LayerPath)
}

/// A piece that a reader has claimed.
struct PieceClaim: Sendable {
  /// Number of the piece in the answer.
  let number: Int
  /// Index of the piece's source in the plan.
  let source: Int
  /// The rowids of the piece, where its source is cut into ranges.
  let range: ClosedRange<Int64>?
}

/// Deals the pieces of an answer out to its readers, in the order of the answer.
///
/// Rowids have gaps. So a range begins at an existing id, and the work of the ranges before decides
/// how many ids it spans.
final class RangeDispenser: Sendable {
  /// The first id of a source that is at least `from`; `nil` where there is none.
  typealias Probe = (_ source: Int, _ from: Int64) throws(FieldpackError) -> Int64?

  private struct State {
    var source = 0
    /// The least id of the next range; `nil` at the end of the ids.
    var from: Int64? = .min
    var width = RangeDispenser.firstWidth
    var isDone = false
  }

  private let sources: [PieceSource]
  private let state = Locked(State())

  private static let firstWidth: Int64 = 2048
  /// The work wanted of a piece, in instructions of SQLite's virtual machine: some milliseconds, or
  /// 10,000 to 20,000 rows.
  private static let wantedSteps = 160_000.0

  init(_ sources: [PieceSource]) { self.sources = sources }

  /// Claims the next piece and opens it in `exchange`; `nil` when all are dealt out.
  func next<Part>(
    for exchange: OrderedChannel<Part>, _ probe: Probe
  ) -> PieceClaim? {
    // Each range depends on the one before, so the lock is held while the next range's first id is
    // sought.
    state.withLock { state in
      guard !state.isDone, !exchange.isOver else { return nil }
      do throws(FieldpackError) {
        if let (source, range) = try advance(&state, probe) {
          return PieceClaim(number: exchange.open(), source: source, range: range)
        }
      } catch {
        exchange.complete(exchange.open(), error)
      }
      state.isDone = true
      exchange.openedAll()
      return nil
    }
  }

  private func advance(
    _ state: inout State, _ probe: Probe
  ) throws(FieldpackError) -> (Int, ClosedRange<Int64>?)? {
    while state.source < sources.count {
      let source = state.source
      guard case .ranges = sources[source] else {
        state.source += 1
        return (source, nil)
      }
      if let from = state.from, let first = try probe(source, from) {
        let (last, isBeyond) = first.addingReportingOverflow(state.width - 1)
        state.from = isBeyond || last == .max ? nil : last + 1
        return (source, first...(isBeyond ? .max : last))
      }
      state.source += 1
      state.from = .min
      state.width = Self.firstWidth
    }
    return nil
  }

  /// Sets the width of the next ranges after a piece was read. A range should be worth the claim,
  /// and give at most two parts, because other readers have to wait for the rest.
  func learn(from claim: PieceClaim, steps: Int, parts: Int) {
    guard let range = claim.range else { return }
    let ids = Double(range.upperBound) - Double(range.lowerBound) + 1
    let bySteps = Self.wantedSteps / Double(max(1, steps))
    let factor = parts > 2 ? min(bySteps, 2 / Double(parts)) : bySteps
    let wanted = ids * min(8, factor)
    state.withLock { state in
      guard state.source == claim.source else { return }
      state.width = Int64(max(1, min(wanted, 0x1p62)))
    }
  }
}
