#if PostGIS
  import CPQ
  package import FieldpackCore

  /// Takes the data of a COPY, in pieces of any length.
  package struct CopyWriter {
    fileprivate let connection: PostgresConnection

    package func write(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
      var rest = bytes
      while !rest.isEmpty {
        if connection.canceller.isRequested { throw FieldpackError(.interrupted, "interrupted") }
        // The server reads a message to its end before it looks at the rows in it.
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 16))
        let start = part.baseAddress?.assumingMemoryBound(to: CChar.self)
        try connection.send { PQputCopyData($0, start, Int32(part.count)) }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
      }
    }

    /// Writes all rows of a COPY, between its header and its trailer.
    func write(all rows: ArraySlice<UInt8>) throws(FieldpackError) {
      for part in [CopyEncoder.header[...], rows, CopyEncoder.trailer[...]] { try write(part) }
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(FieldpackError) {
      let result = bytes.withUnsafeBytes { buffer in
        Result { () throws(FieldpackError) in try write(buffer) }
      }
      try result.get()
    }
  }

  extension PostgresConnection {
    /// Runs a statement `COPY … FROM STDIN` with the data that `body` writes.
    ///
    /// An error of `body` ends the statement without any row.
    /// - Returns: the number of rows that the server has taken.
    @discardableResult
    package func copyIn(
      _ sql: String, _ body: (inout CopyWriter) throws(FieldpackError) -> Void
    ) throws(FieldpackError) -> Int {
      var writer = try beginCopy(sql)
      do throws(FieldpackError) { try body(&writer) } catch { throw givenUpCopy(error) }
      return try endCopy()
    }

    /// Begins a statement `COPY … FROM STDIN`; nothing else may be asked before ``endCopy()``.
    func beginCopy(_ sql: String) throws(FieldpackError) -> CopyWriter {
      fieldpack_pq_set_sending(PQsocket(handle), Self.sentAhead)
      try begin(copy: sql, PGRES_COPY_IN)
      return CopyWriter(connection: self)
    }

    /// How many bytes a Unix socket holds, so that the server has rows while this machine has others to do;
    /// the system finds a number for TCP itself.
    private static let sentAhead: Int32 = 1 << 21

    /// Takes the data of a COPY that has begun.
    var openCopy: CopyWriter { CopyWriter(connection: self) }

    /// Ends the data of a COPY.
    ///
    /// - Returns: the number of rows that the server has taken.
    func endCopy() throws(FieldpackError) -> Int {
      try closeCopy()
      return try endOfCopy()
    }

    /// Ends the data of a COPY without waiting for the server, which ``endOfCopy()`` does.
    func closeCopy() throws(FieldpackError) {
      try send { PQputCopyEnd($0, nil) }
    }

    /// Gives data of a COPY to libpq, and waits until the server takes them: libpq itself would wait on
    /// where a task is cancelled.
    ///
    /// - Parameter give: whether it was successful, as libpq tells it.
    func send(_ give: (OpaquePointer) -> Int32) throws(FieldpackError) {
      PQsetnonblocking(handle, 1)
      // It stays so while something is left, for which nobody waits then.
      defer { PQsetnonblocking(handle, 0) }
      guard give(handle) == 1 else { throw lost() }
      while true {
        let state = PQflush(handle)
        if state == 0 { return }
        guard state == 1 else { throw lost() }
        if try waitForServer(orToSend: true) { try consume() }
      }
    }

    /// Ends a COPY without any row, because of an error. An error of the server explains more than the end
    /// of the data.
    func givenUpCopy(_ error: FieldpackError) -> FieldpackError {
      guard !isGivenUp, (try? send { PQputCopyEnd($0, "given up") }) != nil else { return error }
      if let told = try? refusalOfCopy(), told.sqlState?.text != "57014",
        error.code == .unavailable
      {
        return told
      }
      return error
    }

    /// Runs a statement `COPY … TO STDOUT` and lends each piece of data to `body`. In the binary format
    /// a piece is the header, a row, or both. An error of `body` cancels the statement.
    package func copyOut(
      _ sql: String, _ body: (UnsafeRawBufferPointer) throws(FieldpackError) -> Void
    ) throws(FieldpackError) {
      try begin(copy: sql, PGRES_COPY_OUT)
      while true {
        var buffer: UnsafeMutablePointer<CChar>?
        let length = PQgetCopyData(handle, &buffer, 1)
        switch length {
        case 0:
          try waitForServer()
          try consume()
        case -1:
          _ = try endOfCopy()
          return
        case ..<0: throw lost()
        default:
          defer { PQfreemem(buffer) }
          guard Int(length) <= answerBytes else { throw tooLong() }
          beginRow()
          do throws(FieldpackError) {
            try body(UnsafeRawBufferPointer(start: buffer, count: Int(length)))
          } catch {
            stopCopyOut()
            throw error
          }
        }
      }
    }

    private func begin(copy sql: String, _ expected: ExecStatusType) throws(FieldpackError) {
      try check()
      beginAnswer()
      guard PQsendQuery(handle, sql) == 1 else { throw lost() }
      guard let result = try nextResult() else { throw lost() }
      defer { PQclear(result) }
      if PQresultStatus(result) == expected { return }
      let failure =
        PQresultStatus(result) == PGRES_FATAL_ERROR
        ? error(of: result)
        : FieldpackError(.invalidArgument, "the statement is no COPY in this direction")
      if PQresultStatus(result) == PGRES_COPY_IN { _ = PQputCopyEnd(handle, "not wanted") }
      if PQresultStatus(result) == PGRES_COPY_OUT { stopCopyOut() }
      drain()
      throw failure
    }

    func endOfCopy() throws(FieldpackError) -> Int {
      var count = 0
      var failure: FieldpackError?
      while let result = try nextResult() {
        defer { PQclear(result) }
        if PQresultStatus(result) == PGRES_COMMAND_OK {
          count = Int(String(cString: PQcmdTuples(result))) ?? 0
        } else {
          failure = failure ?? error(of: result)
        }
      }
      if let failure { throw failure }
      return count
    }

    /// What the server says of a COPY that was ended with an error.
    private func refusalOfCopy() throws(FieldpackError) -> FieldpackError? {
      do throws(FieldpackError) {
        _ = try endOfCopy()
        return nil
      } catch {
        return error
      }
    }

    /// Asks the server to end a COPY to here, and drops what is on its way.
    private func stopCopyOut() {
      cancelStatement()
      beginRow()
      let end = restEnd
      while !isGivenUp {
        var buffer: UnsafeMutablePointer<CChar>?
        let length = PQgetCopyData(handle, &buffer, 1)
        if length < 0 { break }
        if length > 0 { PQfreemem(buffer) } else if !takesRest(until: end) { giveUp() }
      }
      drain()
    }

    /// Drops results until the statement is over. A server that has more to say than is taken, or is
    /// silent, costs the connection.
    func drain() {
      beginRow()
      let end = restEnd
      while !isGivenUp {
        while PQisBusy(handle) == 1 {
          guard takesRest(until: end) else { return giveUp() }
        }
        guard let result = PQgetResult(handle) else { return }
        let status = PQresultStatus(result)
        PQclear(result)
        if status == PGRES_COPY_IN || status == PGRES_COPY_OUT || PQstatus(handle) != CONNECTION_OK
        {
          giveUp()
          return
        }
      }
    }
  }
#endif
