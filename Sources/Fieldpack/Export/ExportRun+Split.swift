import FieldpackCore

extension ExportRun {
  /// Writes a file for each value of `column` into `folder`: all of them, or none.
  ///
  /// The values are counted first. Then the features are read sorted by the column, so that one file is
  /// open at a time.
  ///
  /// - Parameter limit: more files are taken for a mistake, such as a column of ids.
  func split(
    as format: some StreamedFormat, by column: String, into folder: String,
    atMost limit: Int = 10_000
  ) async throws(FieldpackError) -> ExportReport {
    let run = try sorted(by: column)
    var plan = try await run.plan(as: format)
    guard let target = plan.writing.targets.first, plan.writing.targets.count == 1 else {
      let names = plan.writing.targets.map(\.layer.rawValue).joined(separator: ", ")
      throw FieldpackError(
        .invalidArgument,
        names.isEmpty
          ? "there is no layer to split"
          : "features of one layer are split by their values, and these are several layers: "
            + "\(names). Try: name one of them")
    }
    guard let index = target.schema.columnIndex(column) else {
      throw FieldpackError(
        .invalidArgument,
        "every feature has a '\(column)' of its own, so that it splits nothing. "
          + "Try: a column whose values several features share",
        location: .init(layer: target.layer))
    }
    try await requireFewValues(of: target.schema.columns[index].name, atMost: limit)
    plan.report.layers[0].count = 0
    var files = try SplitFiles(
      run, format, plan, column: index,
      into: PendingFolder(target: folder, overwrite: options.overwrite), named: folder)
    let batches = try await plan.prepared.batches()
    try requireAll(batches.report)
    let iterator = batches.makeAsyncIterator()
    while let batch = try await iterator.next() {
      try await files.write(batch)
      try checkCancellation()
    }
    try requireAll(batches.report)
    return try await files.finish(batches.report.current)
  }

  /// Counts the values as they are split, so that too many are told before a file is written.
  private func requireFewValues(
    of column: String, atMost limit: Int
  ) async throws(FieldpackError) {
    let values = query.order(by: [Order(column)]).select(column).withoutGeometry()
    let iterator = try await workspace.query(values).makeAsyncIterator()
    var (count, last) = (0, Value?.none)
    while let batch = try await iterator.next() {
      try checkCancellation()
      guard let index = batch.schema.columnIndex(column) else { continue }
      for row in 0..<batch.count {
        let value = batch[row].value(at: index, of: batch.schema.columns[index].type)
        if last.map({ $0.isAlike(value) }) ?? false { continue }
        (count, last) = (count + 1, value)
      }
    }
    guard count > limit else { return }
    throw FieldpackError(
      .invalidArgument,
      "column '\(column)' has \(count) values, and \(limit) files are written at most")
  }

  /// The run with its features sorted by the column, which each row has.
  private func sorted(by column: String) throws(FieldpackError) -> ExportRun {
    guard query.limit == nil, query.offset == 0, query.nearest == nil else {
      throw FieldpackError(
        .invalidArgument,
        "features are split in the order of their values, so that a number of features and their "
          + "distance say nothing. Try: a condition instead")
    }
    var sorted = query.order(by: [Order(column)] + query.order)
    if let columns = query.columns,
      !columns.contains(where: { $0.lowercased() == column.lowercased() })
    {
      sorted = sorted.select(columns + [column])
    }
    return ExportRun(workspace: workspace, query: sorted, options: options)
  }
}

/// The files of a split export, which come one after the other.
private struct SplitFiles<Kind: StreamedFormat> {
  private let run: ExportRun
  private let plan: ExportRun.Plan
  private let column: Int
  private let folder: PendingFolder
  private let folderPath: String
  private let worker: ExportWorker<Kind>
  private var names: SplitFileNames
  private var report: ExportReport
  private var current: (value: Value, path: String)?

  init(
    _ run: ExportRun, _ format: Kind, _ plan: ExportRun.Plan, column: Int,
    into folder: PendingFolder, named path: String
  ) throws(FieldpackError) {
    (self.run, self.plan, self.column) = (run, plan, column)
    self.folder = folder
    folderPath = path.hasSuffix("/") ? path : path + "/"
    worker = try ExportWorker(format)
    let hasShapes = plan.writing.targets[0].schema.geometry != nil
    names = SplitFileNames(
      fileExtension: format.name == "shp" && !hasShapes ? "dbf" : format.extensions[0])
    report = plan.report
  }

  mutating func write(_ batch: FeatureBatch) async throws(FieldpackError) {
    let type = batch.schema.columns[column].type
    var start = 0
    while start < batch.count {
      let value = batch[start].value(at: column, of: type)
      var end = start + 1
      while end < batch.count, value.isAlike(batch[end].value(at: column, of: type)) { end += 1 }
      if current.map({ !$0.value.isAlike(value) }) ?? true { try await open(value) }
      try await add(end - start == batch.count ? batch : batch.rows(start..<end))
      start = end
    }
  }

  private mutating func open(_ value: Value) async throws(FieldpackError) {
    try await close()
    let name = names.name(for: value)
    try run.workspace.refuseInput(as: folderPath + name)
    let path = try folder.place(for: name)
    current = (value, path)
    report.files.append(.init(name: name, value: value, count: 0))
    try await naming { () async throws(FieldpackError) in
      try await worker.open(plan.writing, at: path)
    }
  }

  private mutating func add(_ batch: FeatureBatch) async throws(FieldpackError) {
    let count = try await worker.write(batch).get()
    report.files[report.files.count - 1].count += count
    report.layers[0].count += count
    run.options.progress?(report.count)
  }

  /// Completes the current file.
  private mutating func close() async throws(FieldpackError) {
    guard current != nil else { return }
    let state = await worker.state
    report.skipped.add(state.skipped)
    let notes = try await naming { () async throws(FieldpackError) in
      try await run.finish(worker, state)
    }
    for note in (state.notes + notes).map({ Note($0) }) where !report.notes.contains(note) {
      report.notes.append(note)
    }
    await worker.abandon()
  }

  /// Lets errors name the file that is written, and not its hidden place.
  private func naming<R>(
    _ body: () async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    do throws(FieldpackError) { return try await body() } catch {
      guard let path = current?.path, let name = report.files.last?.name else { throw error }
      throw error.naming(folderPath + name, insteadOf: path)
    }
  }

  /// Gives all files their names.
  mutating func finish(
    _ contents: QueryReport.Contents
  ) async throws(FieldpackError) -> ExportReport {
    try await close()
    try run.checkCancellation()
    try folder.commit()
    report.add(contents)
    return report
  }
}

extension Value {
  /// Whether results are sorted by neither before the other, as 1 and 1.0.
  fileprivate func isAlike(_ other: Value) -> Bool {
    self == other || !sorts(before: other) && !other.sorts(before: self)
  }
}
