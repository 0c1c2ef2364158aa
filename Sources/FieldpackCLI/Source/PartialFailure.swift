import Fieldpack
import FieldpackCore

extension Invocation {
  /// Runs `body`; what stops it at one feature or store, which `--skip-errors` would pass over, is
  /// reported and gives status 1.
  func stoppingAtBadFeatures(
    _ body: () async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    do throws(FieldpackError) {
      return try await body()
    } catch {
      guard error.isPartialFailure else { throw error }
      console.report(error)
      return ExitStatus.failure
    }
  }

  /// Names the stores that gave no answer on standard error.
  func report(_ failures: [StoreFailure]) {
    for failure in failures {
      console.report(failure.error.adding(location: .init(store: failure.store)))
    }
  }

  /// Tells of features that were passed over: the first few, and how many more.
  func report(_ skipped: SkippedFeatures) {
    for feature in skipped.listed.prefix(10) { console.note("skipped: \(feature.line)") }
    let more = skipped.count - min(10, skipped.listed.count)
    if more > 0 { console.note("skipped: \(more) more") }
  }

  /// The status of a command that came to its end.
  func status(failures: [StoreFailure], skippedCount: Int, skipsErrors: Bool) -> Int32 {
    if skippedCount == 0, failures.isEmpty { return ExitStatus.success }
    logger.warning(
      "not everything answered",
      [
        "failed_store_count": .integer(Int64(failures.count)),
        "skipped_count": .integer(Int64(skippedCount)),
      ])
    return skipsErrors ? ExitStatus.skippedFeatures : ExitStatus.failure
  }
}

extension FieldpackError {
  /// Whether one feature or store is at fault, and the others could go on.
  var isPartialFailure: Bool {
    if underlying is IncompleteExport { return true }
    return location.feature != nil && [.invalidData, .constraint, .unsupported].contains(code)
  }
}
