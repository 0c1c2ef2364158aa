import FieldpackCore

/// Logs what an import does.
struct ImportLog {
  private let logger: Logger
  private let begun = ContinuousClock.now

  init(_ logger: Logger, store: StoreID, files: [ByteInput]) {
    self.logger = logger.labelled("fieldpack.import", ["store": .text(store.rawValue)])
    let bytes = files.reduce(0) { $0 + $1.size }
    self.logger.info("import begins", ["files": .count(files.count), "bytes": .count(bytes)])
  }

  func end(_ report: ImportReport) {
    for part in report.imported {
      logger.debug(
        "file imported",
        [
          "file": .text(part.file), "layer": .text(part.layer.rawValue),
          "features": .count(part.count), "columns": .count(part.schema.columns.count),
        ])
    }
    logger.info(
      "import ends",
      [
        "features": .count(report.count), "layers": .count(report.layers.count),
        "skipped": .count(report.skipped.count), "notes": .count(report.notes.count),
        "dryRun": .boolean(report.isDryRun), "ms": .real(elapsed),
      ])
  }

  func fail(_ error: FieldpackError) {
    logger.error("import fails", ["code": .text(error.code.name), "ms": .real(elapsed)])
  }

  private var elapsed: Double { (ContinuousClock.now - begun).milliseconds }
}
