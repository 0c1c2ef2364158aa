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
      /// The rows that the server says it has taken.
      var count = 0
      /// The bytes in the COPY that is open; its rows are not counted yet.
      var openLength = 0
      var skipped: [SkippedFeature] = []
    }

    /// A COPY takes so many bytes: the server tells only at its end that it refuses a row. With a COPY for
    /// each piece, the server waited between them for a quarter of the time on a busy machine.
    private static let longest = 1 << 25

    /// - Parameter openLength: what the last piece has left, ``Sent/openLength``.
    func send(
      _ piece: CopyPiece, openLength: Int, on connection: PostgresConnection
    ) throws(FieldpackError) -> Sent {
      var sent = Sent(openLength: openLength)
      guard piece.count > 0 else { return sent }
      if skipsErrors {
        try send(piece, 0..<piece.rows.count, on: connection, &sent)
        return sent
      }
      do throws(FieldpackError) {
        let writer = openLength > 0 ? connection.openCopy : try connection.beginCopy(target.copy)
        do throws(FieldpackError) {
          if openLength == 0 { try writer.write(CopyEncoder.header[...]) }
          try writer.write(piece.bytes[...])
        } catch { throw connection.givenUpCopy(error) }
      } catch { throw refused(error) }
      sent.openLength += piece.bytes.count
      if sent.openLength >= Self.longest {
        sent.count = try end(on: connection)
        sent.openLength = 0
      }
      return sent
    }

    /// Sends rows of a divided layer to the servers of their places.
    func send(_ piece: CopyPiece, by shards: ShardLoad) throws(FieldpackError) -> Sent {
      do throws(FieldpackError) { try shards.send(piece) } catch { throw refused(error) }
      return Sent(count: piece.count)
    }

    /// Ends the COPY that is open, and gives the number of its rows.
    func end(on connection: PostgresConnection) throws(FieldpackError) -> Int {
      do throws(FieldpackError) {
        let writer = connection.openCopy
        do throws(FieldpackError) {
          try writer.write(CopyEncoder.trailer[...])
        } catch { throw connection.givenUpCopy(error) }
        return try connection.endCopy()
      } catch { throw refused(error) }
    }

    private func refused(_ error: FieldpackError) -> FieldpackError {
      error.adding(location: location(nil)).advisingToSkipRow()
    }

    private func location(_ feature: FeatureID?) -> KeyTuple.Partial {
      KeyTuple.Partial(store: store, layer: target.layer, feature: feature)
    }

    private func copy(
      _ bytes: ArraySlice<UInt8>, on connection: PostgresConnection
    ) throws(FieldpackError) -> Int {
      try connection.copyIn(target.copy) { (writer) throws(FieldpackError) in
        try writer.write(all: bytes)
      }
    }

    /// Sends rows, and halves them where one is refused, until the bad ones stand alone.
    private func send(
      _ piece: CopyPiece, _ rows: Range<Int>, on connection: PostgresConnection, _ sent: inout Sent
    ) throws(FieldpackError) {
      guard !rows.isEmpty else { return }
      let start = piece.start(of: rows.lowerBound)
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
