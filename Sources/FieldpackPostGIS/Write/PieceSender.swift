#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage

  /// Sends encoded rows by COPY.
  struct PieceSender: Sendable {
    let target: LoadTarget
    let store: StoreID
    /// Whether rows that the server refuses are found and left out.
    let skipsErrors: Bool

    struct Sent: Sendable {
      var count = 0
      var skipped: [SkippedFeature] = []
    }

    func send(
      _ piece: CopyPiece, on connection: PostgresConnection
    ) throws(FieldpackError) -> Sent {
      guard piece.count > 0 else { return Sent() }
      guard skipsErrors else {
        do throws(FieldpackError) {
          return Sent(count: try copy(piece.bytes[...], on: connection))
        } catch {
          throw error.adding(location: location(nil)).advisingToSkipRow()
        }
      }
      var sent = Sent()
      try send(piece, 0..<piece.rows.count, on: connection, &sent)
      return sent
    }

    private func location(_ feature: FeatureID?) -> KeyTuple.Partial {
      KeyTuple.Partial(store: store, layer: target.layer, feature: feature)
    }

    private func copy(
      _ bytes: ArraySlice<UInt8>, on connection: PostgresConnection
    ) throws(FieldpackError) -> Int {
      try connection.copyIn(target.copy) { (writer) throws(FieldpackError) in
        try Self.write(CopyEncoder.header[...], to: &writer)
        try Self.write(bytes, to: &writer)
        try Self.write(CopyEncoder.trailer[...], to: &writer)
      }
    }

    private static func write(
      _ bytes: ArraySlice<UInt8>, to writer: inout CopyWriter
    ) throws(FieldpackError) {
      let result = bytes.withUnsafeBytes { buffer in
        Result { () throws(FieldpackError) in try writer.write(buffer) }
      }
      try result.get()
    }

    /// Sends rows, and halves them where one is refused, until the bad ones stand alone.
    private func send(
      _ piece: CopyPiece, _ rows: Range<Int>, on connection: PostgresConnection, _ sent: inout Sent
    ) throws(FieldpackError) {
      guard !rows.isEmpty else { return }
      let start = rows.lowerBound == 0 ? 0 : piece.rows[rows.lowerBound - 1].end
      let end = piece.rows[rows.upperBound - 1].end
      let failure: FieldpackError
      do throws(FieldpackError) {
        sent.count += try connection.savepoint { () throws(FieldpackError) in
          try copy(piece.bytes[start..<end], on: connection)
        }
        return
      } catch {
        failure = error
      }
      guard failure.isOfRow else { throw failure.adding(location: location(nil)) }
      if rows.count == 1 {
        let id = piece.rows[rows.lowerBound].id
        sent.skipped.append(SkippedFeature(failure.adding(location: location(id))))
        return
      }
      let middle = rows.lowerBound + rows.count / 2
      try send(piece, rows.lowerBound..<middle, on: connection, &sent)
      try send(piece, middle..<rows.upperBound, on: connection, &sent)
    }
  }

  extension FieldpackError {
    /// Whether the server refused a row, so that it can be left out: its values, what a constraint or a
    /// trigger says of them, or a geometry that PostGIS does not take.
    var isOfRow: Bool {
      guard let state = sqlState?.text else { return false }
      return ["22", "23", "P0", "XX"].contains(String(state.prefix(2)))
    }
  }
#endif
