extension Store {
  /// Reads the answer to `query` once and gives the statistics of its columns, layer by layer.
  ///
  ///     let statistics = try await store.statistics(of: Query("wells"))
  ///     for column in statistics[0].columns {
  ///       print(column.column, column.nullCount, column.distinctCount, column.mean ?? 0)
  ///     }
  ///
  /// A layer without a row is there, too. The mean of reals is summed with compensation (A. Neumaier,
  /// "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974), that of
  /// integers is exact before it is rounded. Distinct values are counted exactly up to 10,000, and
  /// estimated beyond by a HyperLogLog of 16,384 registers (P. Flajolet and others, "HyperLogLog",
  /// 2007) with the estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog
  /// sketches" (2017).
  /// - Complexity: O(rows). Memory does not grow with the rows: a few MiB for each column and thread.
  public func statistics(
    of query: Query
  ) async throws(FieldpackError) -> [LayerStatistics] {
    try await prepare(query).statistics()
  }
}

extension PreparedQuery {
  /// The statistics of the answer, layer by layer; see ``Store/statistics(of:)``.
  public func statistics() async throws(FieldpackError) -> [LayerStatistics] {
    let tallies = TallyPool()
    let pieces = try await pieces { TallyPiece(tallies: tallies) }
    let iterator = pieces.makeAsyncIterator()
    while let piece = try await iterator.next() { piece.giveBack() }
    var found: [LayerStatistics] = []
    for layer in layers {
      let total = tallies.take(layer.schema)
      for other in tallies.takeAll(layer.schema) { total.merge(other) }
      found.append(total.statistics)
    }
    return found
  }
}

/// Counts the rows of one piece in a tally that no other piece uses meanwhile.
struct TallyPiece: PieceSink {
  let tallies: TallyPool
  private var tally: LayerTally?

  init(tallies: TallyPool) { self.tallies = tallies }

  var isFull: Bool { false }

  mutating func begin(_ schema: Schema) { tally = tallies.take(schema) }

  func feature(_ row: borrowing some FeatureRow & ~Copyable) { tally?.add(row) }

  func giveBack() {
    if let tally { tallies.give(tally) }
  }
}

/// The tallies of an answer. There are as many for a layer as pieces exist at once, and not one for
/// each piece.
final class TallyPool: Sendable {
  private let spare = Locked<[LayerID: [LayerTally]]>([:])

  func take(_ schema: Schema) -> LayerTally {
    spare.withLock { $0[schema.layer]?.popLast() } ?? LayerTally(schema)
  }

  func give(_ tally: LayerTally) {
    spare.withLock { $0[tally.schema.layer, default: []].append(tally) }
  }

  func takeAll(_ schema: Schema) -> [LayerTally] {
    spare.withLock { $0.removeValue(forKey: schema.layer) } ?? []
  }
}
