import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// One export from what it asks to its report.
struct ExportRun: Sendable {
  let workspace: Workspace
  let query: Query
  let options: ExportOptions

  // MARK: Plan

  struct Plan {
    var prepared: PreparedQuery
    var writing: ExportPlan
    var report = ExportReport()
  }

  func plan(as format: some StreamedFormat) async throws(FieldpackError) -> Plan {
    var prepared = try await workspace.prepare(query)
    var notes: [Note] = []
    if prepared.targets.isEmpty { try await refuseTilesAlone() }
    try prepared.targets.check(for: format, options)
    switch format.srsRule {
    case .ofEachLayer: break
    case .wgs84(let elsewhere):
      if let srs = query.srs {
        guard srs != .wgs84 else { break }
        notes.append(
          "the coordinates are in \(srs), not in RFC 7946's WGS 84; \(elsewhere)")
      } else if let raw = prepared.targets.first(where: \.hasUndefinedSRS) {
        notes.append("layer '\(raw.layer)' has no SRS; its coordinates are written as they are")
      } else if let (layer, name) = try await localSystem(of: prepared.targets) {
        notes.append(
          Note(
            "layer '\(layer)' is in the local system '\(name)', which is tied to no place on Earth; "
              + "its coordinates are written as they are"))
      } else {
        prepared = try await inWGS84(prepared)
      }
    case .onlyWGS84:
      if let srs = query.srs, srs != .wgs84 {
        throw FieldpackError(
          .invalidArgument, "\(format.title) is in WGS 84 and cannot be in \(srs)",
          advice: .keepWGS84)
      }
      prepared = try await inWGS84(prepared)
    }
    var targets = prepared.targets
    notes += try await format.describe(&targets, of: self)
    let read = targets
    for index in targets.indices {
      targets[index].schema.layer = options.name(of: read[index].layer, in: read[index].store)
    }
    var plan = Plan(
      prepared: prepared,
      writing: ExportPlan(
        targets: targets, options: options,
        srs: prepared.query.srs == .wgs84 ? nil : prepared.query.srs))
    plan.report.notes = notes
    plan.report.transformations = prepared.moved
    plan.report.layers = read.map { .init(store: $0.store, layer: $0.layer, count: 0) }
    return plan
  }

  /// The same query with what is in another SRS transformed to WGS 84.
  private func inWGS84(_ prepared: PreparedQuery) async throws(FieldpackError) -> PreparedQuery {
    let isElsewhere = prepared.targets.contains {
      $0.schema.geometry.map { $0.srs != .wgs84 } ?? false
    }
    return isElsewhere ? try await workspace.prepare(query.transformed(to: .wgs84)) : prepared
  }

  // MARK: To a file

  func write(
    as format: some StreamedFormat, toPath path: String
  ) async throws(FieldpackError) -> ExportReport {
    var plan = try await plan(as: format)
    let worker = try ExportWorker(format)
    do throws(FieldpackError) {
      try await worker.open(plan.writing, at: path)
      let contents = try await transfer(plan.prepared, to: worker, &plan.report)
      let state = await worker.state
      plan.report.notes += try await finish(worker, state).map { Note($0) }
      plan.report.add(contents, state)
    } catch {
      await worker.abandon()
      throw error
    }
    return plan.report
  }

  /// Writes all features; gives what the query had to tell.
  private func transfer(
    _ prepared: PreparedQuery, to worker: ExportWorker<some StreamedFormat>,
    _ report: inout ExportReport
  ) async throws(FieldpackError) -> QueryReport.Contents {
    if let store = onlyStore(of: prepared),
      let encoder = try await worker.encoder(skipsErrors: options.skipsErrors)
    {
      return try await copyPieces(of: prepared, store, encoder, requiresAll: true, &report) {
        (piece) async throws(FieldpackError) in try await worker.take(piece)
      }
    }
    let batches = try await prepared.batches()
    try requireAll(batches.report)
    try await copy(batches, to: worker, &report)
    try requireAll(batches.report)
    return batches.report.current
  }

  /// The store whose readers encode the rows; `nil` where batches are written. Layers get other
  /// names in batches only.
  private func onlyStore(of prepared: PreparedQuery) -> StoreID? {
    options.prefixesStores ? nil : prepared.onlyStore
  }

  /// The batch under the name that its layer gets in the file.
  private func named(_ batch: FeatureBatch) -> FeatureBatch {
    var batch = batch
    batch.schema.layer = options.name(of: batch.schema.layer, in: batch.store)
    return batch
  }

  /// Reads the next batch while the last one is written.
  private func copy(
    _ batches: FeatureBatches, to worker: ExportWorker<some StreamedFormat>,
    _ report: inout ExportReport
  ) async throws(FieldpackError) {
    let iterator = batches.makeAsyncIterator()
    var next = try await iterator.next()
    while let batch = next {
      async let written = worker.write(named(batch))
      let following: Result<FeatureBatch?, FieldpackError>
      do throws(FieldpackError) {
        following = .success(try await iterator.next())
      } catch {
        following = .failure(error)
      }
      report.add(try await written.get(), batch.store, batch.schema.layer)
      options.progress?(report.count)
      next = try following.get()
      try checkCancellation()
    }
  }

  func finish(
    _ worker: ExportWorker<some StreamedFormat>, _ state: ExportState
  ) async throws(FieldpackError) -> [String] {
    try checkCancellation()
    let result = await withTaskCancellationHandler {
      await worker.finish()
    } onCancel: {
      state.interrupt?()
    }
    return try result.get()
  }

  func checkCancellation() throws(FieldpackError) {
    if Task.isCancelled {
      throw FieldpackError(.interrupted, "interrupted; nothing was written")
    }
  }

  func requireAll(_ report: QueryReport) throws(FieldpackError) {
    guard !options.skipsErrors, let error = FieldpackError(incomplete: report.current.failures)
    else { return }
    throw error
  }

  // MARK: To bytes

  func write(
    as format: some StreamedFormat, to output: ByteOutput
  ) async throws(FieldpackError) -> ExportReport {
    var plan = try await plan(as: format)
    var writer = try format.writer(plan.writing, to: .output(output))
    for target in plan.writing.targets { try writer.begin(target) }
    let told =
      if let store = onlyStore(of: plan.prepared),
        let encoder = try writer.encoder(skipsErrors: options.skipsErrors)
      {
        try await copyPieces(
          of: plan.prepared, store, encoder, requiresAll: false, &plan.report
        ) { (piece) async throws(FieldpackError) in
          var piece = piece
          try writer.take(from: &piece)
        }
      } else {
        try await copyBatches(of: plan.prepared, to: &writer, &plan.report)
      }
    let state = ExportState(writer)
    _ = try writer.finish()
    plan.report.add(told, state)
    return plan.report
  }

  private func copyBatches(
    of prepared: PreparedQuery, to writer: inout some FormatWriter,
    _ report: inout ExportReport
  ) async throws(FieldpackError) -> QueryReport.Contents {
    let batches = try await prepared.batches()
    let iterator = batches.makeAsyncIterator()
    while let batch = try await iterator.next() {
      let before = writer.skipped.count
      try writer.write(named(batch))
      let count = batch.count - (writer.skipped.count - before)
      report.add(count, batch.store, batch.schema.layer)
      options.progress?(report.count)
      try checkCancellation()
    }
    return batches.report.current
  }
}

extension ExportRun {
  /// Writes the answer of one store in pieces, which its readers encode each on its own thread.
  ///
  /// - Parameter requiresAll: whether a store that does not answer is an error.
  /// - Returns: what the query had to tell.
  private func copyPieces<Encoder: FeatureEncoder>(
    of prepared: PreparedQuery, _ store: StoreID, _ encoder: Encoder, requiresAll: Bool,
    _ report: inout ExportReport, to take: (Encoder) async throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> QueryReport.Contents {
    let pieces = try await prepared.pieces { encoder }
    if requiresAll { try requireAll(pieces.report) }
    let iterator = pieces.makeAsyncIterator()
    while let piece = try await iterator.next() {
      try await take(piece)
      if let layer = piece.layer { report.add(piece.count, store, layer) }
      options.progress?(report.count)
      try checkCancellation()
    }
    if requiresAll { try requireAll(pieces.report) }
    return pieces.report.current
  }
}

extension ExportReport {
  mutating func add(_ count: Int, _ store: StoreID, _ layer: LayerID) {
    if let index = layers.firstIndex(where: { $0.store == store && $0.layer == layer }) {
      layers[index].count += count
    } else {
      layers.append(.init(store: store, layer: layer, count: count))
    }
  }

  fileprivate mutating func add(
    _ contents: QueryReport.Contents, _ state: ExportState
  ) {
    add(contents)
    skipped.add(state.skipped)
    notes += state.notes.map { Note($0) }
  }

  /// Adds what the query had to tell.
  mutating func add(_ contents: QueryReport.Contents) {
    skipped.add(contents.skipped)
    failures = contents.failures
    notes += contents.notes
  }
}
