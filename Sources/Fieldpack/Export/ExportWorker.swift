import FieldpackCore

/// Writes a file on a thread of its own, so that neither disk nor SQLite blocks other tasks.
actor ExportWorker<Kind: StreamedFormat> {
  private let executor: ThreadExecutor
  private let format: Kind
  /// `nil` before the file is opened, and when it is given up.
  private var writer: Kind.Writer?

  init(_ format: Kind) throws(FieldpackError) {
    self.format = format
    executor = try .started()
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  var state: ExportState { ExportState(writer) }

  func open(_ plan: ExportPlan, at path: String) throws(FieldpackError) {
    writer = try format.writer(plan, to: .path(path))
    for target in plan.targets { try writer?.begin(target) }
  }

  /// Writes the batch; gives how many of its rows were not passed over.
  func write(_ batch: FeatureBatch) -> Result<Int, FieldpackError> {
    Result { () throws(FieldpackError) in
      let before = writer?.skipped.count ?? 0
      try writer?.write(batch)
      return batch.count - ((writer?.skipped.count ?? 0) - before)
    }
  }

  func encoder(skipsErrors: Bool) throws(FieldpackError) -> Kind.Writer.Encoder? {
    try writer?.encoder(skipsErrors: skipsErrors)
  }

  /// Writes what a piece holds.
  func take(_ piece: Kind.Writer.Encoder) throws(FieldpackError) {
    var piece = piece
    try writer?.take(from: &piece)
  }

  func finish() -> Result<[String], FieldpackError> {
    Result { () throws(FieldpackError) in try writer?.finish() ?? [] }
  }

  /// Gives the file up; nothing is left of it.
  func abandon() { writer = nil }
}

/// What a writer that has come so far passed over and remarked.
struct ExportState: Sendable {
  var skipped = SkippedFeatures()
  var notes: [String] = []
  var interrupt: (@Sendable () -> Void)?

  init(_ writer: (some FormatWriter)?) {
    guard let writer else { return }
    (skipped, notes, interrupt) = (writer.skipped, writer.notes, writer.interrupt)
  }
}
