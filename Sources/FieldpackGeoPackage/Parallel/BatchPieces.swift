import FieldpackCore

/// Some batches of one layer, filled together so that handing them over costs little.
struct BatchPiece: PieceSink {
  private let store: StoreID
  private var batches: [FeatureBatch] = []
  private var current: FeatureBatch?
  private var count = 0
  private var byteCount = 0

  init(store: StoreID) { self.store = store }

  var isFull: Bool { count >= 4096 || byteCount >= 768 << 10 }

  /// The batches in order, none of them empty.
  consuming func finished() -> [FeatureBatch] {
    if let current, !current.isEmpty { batches.append(current) }
    return batches
  }

  mutating func begin(_ schema: Schema) {
    current = FeatureBatch(store: store, schema: schema)
  }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    current?.append(row)
    count += 1
    if let last = current?.count, last >= 1024 || (current?.byteCount ?? 0) >= Self.batchBytes {
      startAnother()
    }
  }

  /// Bytes of a batch. Batches filled by several threads are smaller than the maximum, because the
  /// allocator returns larger memory to the system each time.
  private static let batchBytes = 160 << 10

  private mutating func startAnother() {
    guard let filled = current else { return }
    byteCount += filled.byteCount
    batches.append(filled)
    current = FeatureBatch(after: filled)
  }
}

/// Gives a query's rows in batches, which several readers fill at once.
final class BatchPieces: Sendable {
  private let scan: PieceScan<BatchPiece>
  /// Batches that have arrived and were not asked for yet; the next one is last.
  private let waiting = Locked<[FeatureBatch]>([])

  init(pools: StorePools, _ request: PieceReaders.Request) {
    let store = request.store
    scan = PieceScan(pools: pools, request) { BatchPiece(store: store) }
  }

  func next() async throws(FieldpackError) -> FeatureBatch? {
    try scan.checkEnding()
    if let batch = waiting.withLock({ $0.popLast() }) { return batch }
    guard let piece = try await scan.next() else { return nil }
    let batches = piece.finished()
    return waiting.withLock { waiting in
      waiting.insert(contentsOf: batches.reversed(), at: 0)
      return waiting.popLast()
    }
  }
}
