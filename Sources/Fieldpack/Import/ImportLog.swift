import FieldpackCore

/// Logs what an import does.
struct ImportLog {
  private let logger: Logger
  private let begun = ContinuousClock.now

  init(_ logger: Logger, store: StoreID, files: [ByteInput]) {
    self.logger = logger.labelled("fieldpack.import", ["store": .text(store.rawValue)])
    let bytes = files.reduce(0) { $0 + $1.size }
    self.logger.info(
      "import begins", ["file_count": .count(files.count), "size_bytes": .count(bytes)])
  }

  func end(_ report: ImportReport) {
    for part in report.imported {
      logger.debug(
        "file imported",
        [
          "file": .text(part.file), "layer": .text(part.layer.rawValue),
          "count": .count(part.count), "column_count": .count(part.schema.columns.count),
        ])
    }
    logger.info(
      "import ends",
      [
        "count": .count(report.count), "layer_count": .count(report.layers.count),
        "skipped_count": .count(report.skipped.count), "note_count": .count(report.notes.count),
        "is_dry_run": .boolean(report.isDryRun), "duration_ms": .real(elapsed),
      ])
  }

  func fail(_ error: FieldpackError) {
    logger.error("import fails", ["code": .text(error.code.name), "duration_ms": .real(elapsed)])
  }

  private var elapsed: Double { (ContinuousClock.now - begun).milliseconds }
}
