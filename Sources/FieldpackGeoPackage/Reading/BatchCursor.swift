import FieldpackCore
import FieldpackSQLite

/// Gives a query's rows in batches.
struct BatchCursor: Sendable {
  private let lease: CursorLease<Walk>
  private let plan: QueryPlan
  private let report: QueryReport
  private let store: StoreID

  init(pools: StorePools, store: StoreID, plan: QueryPlan, report: QueryReport) {
    lease = CursorLease(pools: pools, store: store)
    self.store = store
    self.plan = plan
    self.report = report
  }

  func next() async throws(FieldpackError) -> FeatureBatch? {
    let (plan, report, store) = (plan, report, store)
    return try await lease.next { (file, walk) throws(FieldpackError) in
      if walk == nil {
        try file.execute("BEGIN")
        walk = Walk(try GeoPackageSnapshot(file, report: report).rows(plan))
      }
      return try walk?.batch(of: store)
    }
  }

  /// The state of the walk, left with the reader between batches.
  private final class Walk {
    private let rows: QueryWalk
    private var held: LayerCursor?

    init(_ rows: QueryWalk) { self.rows = rows }

    /// The next rows of one layer; a row of another layer waits for the next call.
    func batch(of store: StoreID) throws(FieldpackError) -> FeatureBatch? {
      let waiting = held
      held = nil
      guard let first = if let waiting { waiting } else { try rows.next() } else { return nil }
      var batch = FeatureBatch(store: store, schema: first.schema)
      batch.append(first.row)
      while !batch.isFull, let cursor = try rows.next() {
        guard cursor === first else {
          held = cursor
          break
        }
        batch.append(cursor.row)
      }
      return batch
    }
  }
}
