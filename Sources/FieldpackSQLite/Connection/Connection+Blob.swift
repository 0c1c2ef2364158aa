import CSQLite

extension Connection {
  /// Reads a range of the bytes of a value, one piece after the other, without having the value in memory.
  ///
  /// - Parameters:
  ///   - row: the rowid.
  ///   - body: called with each piece; what it throws ends the reading.
  package func readBlob<E: SQLiteErrorConvertible>(
    _ column: String, of row: Int64, in table: String, _ range: Range<Int>, piece: Int,
    _ body: ([UInt8]) throws(E) -> Void
  ) throws(E) {
    var blob: OpaquePointer?
    let status = sqlite3_blob_open(handle, "main", table, column, row, 0, &blob)
    guard status == SQLITE_OK, let blob else { throw E(sqlite: failure(status)) }
    defer { sqlite3_blob_close(blob) }
    guard range.upperBound <= Int(sqlite3_blob_bytes(blob)) else {
      throw E(sqlite: SQLiteError(extendedCode: SQLITE_MISMATCH, message: "the value is shorter"))
    }
    var start = range.lowerBound
    while start < range.upperBound {
      let count = min(piece, range.upperBound - start)
      var status = SQLITE_OK
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        status = sqlite3_blob_read(blob, buffer.baseAddress, Int32(count), Int32(start))
        filled = status == SQLITE_OK ? count : 0
      }
      guard status == SQLITE_OK else { throw E(sqlite: failure(status)) }
      try body(bytes)
      start += count
    }
  }

  private func failure(_ status: Int32) -> SQLiteError {
    SQLiteError(extendedCode: status, message: String(cString: sqlite3_errmsg(handle)))
  }
}
