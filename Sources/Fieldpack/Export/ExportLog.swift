import FieldpackCore

/// Logs what an export does.
struct ExportLog {
  private let logger: Logger
  private let begun = ContinuousClock.now

  init(_ logger: Logger, format: Format) {
    self.logger = logger.labelled("fieldpack.export", ["format": .text(format.name)])
    self.logger.info("export begins")
  }

  /// Runs `body` and logs how it ended.
  func running(
    _ body: () async throws(FieldpackError) -> ExportReport
  ) async throws(FieldpackError) -> ExportReport {
    do throws(FieldpackError) {
      let report = try await body()
      for layer in report.layers {
        logger.debug(
          "layer exported",
          [
            "store": .text(layer.store.rawValue), "layer": .text(layer.layer.rawValue),
            "count": .count(layer.count),
          ])
      }
      logger.info(
        "export ends",
        [
          "count": .count(report.count), "layer_count": .count(report.layers.count),
          "skipped_count": .count(report.skipped.count),
          "failed_store_count": .count(report.failures.count), "duration_ms": .real(elapsed),
        ])
      return report
    } catch {
      logger.error("export fails", ["code": .text(error.code.name), "duration_ms": .real(elapsed)])
      throw error
    }
  }

  private var elapsed: Double { (ContinuousClock.now - begun).milliseconds }
}
