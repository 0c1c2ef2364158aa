import FieldpackCore
import FieldpackGeoPackage

/// Writes a file on a thread of its own, so that neither disk nor SQLite blocks other tasks.
actor ExportWorker {
  private let executor: ThreadExecutor
  private var writer = FeatureFileWriter.closed

  init() throws(FieldpackError) { executor = try .started() }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// What a writer that has come so far passed over and remarked.
  struct State: Sendable {
    var skipped = SkippedFeatures()
    var notes: [String] = []
    var interrupt: (@Sendable () -> Void)?
  }

  var state: State {
    State(
      skipped: writer.skipped, notes: writer.notes, interrupt: writer.interrupt)
  }

  func open(_ plan: FeatureFileWriter.Plan, at path: String) throws(FieldpackError) {
    writer = try FeatureFileWriter(plan, to: path)
    for target in plan.targets { try writer.begin(target) }
  }

  /// Writes the batch; gives how many of its rows were not passed over.
  func write(_ batch: FeatureBatch) -> Result<Int, FieldpackError> {
    Result { () throws(FieldpackError) in
      let before = writer.skipped.count
      try writer.write(batch)
      return batch.count - (writer.skipped.count - before)
    }
  }

  func encoder(skipsErrors: Bool) throws(FieldpackError) -> FeatureFileWriter.Encoder? {
    try writer.encoder(skipsErrors: skipsErrors)
  }

  /// Writes what a piece holds.
  func take(_ piece: FeatureFileWriter.Encoder) throws(FieldpackError) { try writer.take(piece) }

  func finish() -> Result<[String], FieldpackError> {
    Result { () throws(FieldpackError) in try writer.finish() }
  }

  /// Gives the file up; nothing is left of it.
  func abandon() { writer = .closed }
}
