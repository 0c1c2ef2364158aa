import FieldpackCore

/// What `read` gives to its body: calls that wait for the service, on a thread of their own.
struct WFSSnapshot: SnapshotReading {
  let store: WFSStore

  func layers() throws(FieldpackError) -> [Layer] {
    try SystemThread.waiting { [store] () async throws(FieldpackError) in try await store.layers() }
  }

  func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    let batches = try SystemThread.waiting { [store] () async throws(FieldpackError) in
      try await store.query(query)
    }
    let iterator = SharedIterator(batches)
    var current: LayerID?
    while let batch = try SystemThread.waiting(for: {
      () async throws(FieldpackError) in try await iterator.next()
    }) {
      try batch.drive(&sink, announcing: batch.schema.layer != current)
      current = batch.schema.layer
    }
  }

  func count(_ query: Query) throws(FieldpackError) -> Int {
    try SystemThread.waiting { [store] () async throws(FieldpackError) in
      try await store.count(query)
    }
  }

  func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature? {
    try SystemThread.waiting { [store] () async throws(FieldpackError) in
      try await store.feature(id, in: layer)
    }
  }

  /// Runs `body` on a snapshot, on a thread that may wait.
  static func run<R: Sendable>(
    _ store: WFSStore,
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await onThread { () throws(FieldpackError) in
      try body(StoreSnapshot(WFSSnapshot(store: store)))
    }
  }

  /// Runs `body` on a thread that may wait.
  static func onThread<R: Sendable>(
    _ body: @Sendable () throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await WaitingThread().run(body)
  }

  /// Runs closures that may wait, away from the cooperative pool.
  private actor WaitingThread {
    private let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init() throws(FieldpackError) { executor = try .started() }

    func run<R: Sendable>(
      _ body: @Sendable () throws(FieldpackError) -> R
    ) throws(FieldpackError) -> R { try body() }
  }

  /// An iterator that several tasks use one after the other.
  private actor SharedIterator {
    private let iterator: FeatureBatches.Iterator
    init(_ batches: FeatureBatches) { iterator = batches.makeAsyncIterator() }
    func next() async throws(FieldpackError) -> FeatureBatch? { try await iterator.next() }
  }
}
