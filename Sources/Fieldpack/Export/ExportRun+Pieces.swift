import FieldpackCore

extension ExportRun {
  /// Writes the answer of one store in pieces, which its readers encode each on its own thread.
  ///
  /// Gives what the query had to tell, and `nil`, with nothing written, where there is no encoder
  /// or several stores answer.
  /// - Parameter requiresAll: whether a store that does not answer is an error.
  func copyPieces(
    of prepared: PreparedQuery, as encoder: FeatureFileWriter.Encoder?, requiresAll: Bool,
    _ report: inout ExportReport,
    to take: (FeatureFileWriter.Encoder) async throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> QueryReport.Contents? {
    switch encoder {
    case .geoJSON(let encoder)?:
      try await copyPieces(
        of: prepared, encoder, requiresAll, &report, as: { .geoJSON($0) }, to: take)
    case .gpx(let encoder)?:
      try await copyPieces(of: prepared, encoder, requiresAll, &report, as: { .gpx($0) }, to: take)
    case .csv(let encoder)?:
      try await copyPieces(of: prepared, encoder, requiresAll, &report, as: { .csv($0) }, to: take)
    case .geoPackage(let encoder)?:
      try await copyPieces(
        of: prepared, encoder, requiresAll, &report, as: { .geoPackage($0) }, to: take)
    case nil: nil
    }
  }

  private func copyPieces<Piece: PieceSink>(
    of prepared: PreparedQuery, _ encoder: Piece, _ requiresAll: Bool, _ report: inout ExportReport,
    as wrapped: (Piece) -> FeatureFileWriter.Encoder,
    to take: (FeatureFileWriter.Encoder) async throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> QueryReport.Contents? {
    guard let store = prepared.onlyStore else { return nil }
    let pieces = try await prepared.pieces { encoder }
    if requiresAll { try requireAll(pieces.report) }
    let iterator = pieces.makeAsyncIterator()
    while let piece = try await iterator.next() {
      let piece = wrapped(piece)
      try await take(piece)
      if let layer = piece.layer { report.add(piece.count, store, layer) }
      options.progress?(report.count)
      try checkCancellation()
    }
    if requiresAll { try requireAll(pieces.report) }
    return pieces.report.current
  }
}
