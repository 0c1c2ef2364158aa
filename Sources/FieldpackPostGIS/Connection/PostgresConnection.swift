#if PostGIS
  import CPQ
  package import FieldpackCore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// One connection to a PostgreSQL server. Its calls block, so it lives on the thread of a
  /// ``PostgresActor``, which also cancels it.
  ///
  ///     let rows = try connection.execute("SELECT id FROM t WHERE n > $1", [.integer(4)])
  ///
  /// Values come and go in binary form. An error of the server leaves the connection usable; after the
  /// loss of the connection every call throws `.unavailable`.
  package final class PostgresConnection {
    let handle: OpaquePointer
    package let address: PostgresAddress
    let canceller: PostgresCanceller
    /// The schema that has PostGIS, quoted; `nil` where the database has no PostGIS.
    private(set) var postgisSchema: String?
    private(set) var isGivenUp = false
    private var size: AnswerSize
    /// For how many milliseconds the end of a cancelled statement is waited for.
    private let patience: Int32
    private var lastNumber = 0
    var statements = PreparedStatements()

    /// Connects, and sets what every statement relies on.
    ///
    /// - Parameter leader: the connection on whose thread this one works. Cancelling its run cancels what
    ///   this one does.
    /// - Throws: `.unavailable`, `.permission` or `.notFound`, with the server's reason.
    package init(
      _ address: PostgresAddress, limits: PostgresLimits = PostgresLimits(),
      following leader: PostgresConnection? = nil
    ) throws(FieldpackError) {
      self.address = address
      var opening = try PostgresOpening(address, limits: limits)
      handle = try opening.open()
      patience = Int32(clamping: limits.ending.wholeMilliseconds)
      canceller = PostgresCanceller(
        PQgetCancel(handle), patience: limits.ending, leader: leader?.canceller)
      size = AnswerSize(most: limits.answerBytes, socket: PQsocket(handle))
      guard PQstatus(handle) == CONNECTION_OK else { throw refusal() }
      try prepareSession(limits)
    }

    deinit {
      // A server that works for another connection, such as at the rest of a COPY, would go on.
      if PQtransactionStatus(handle) == PQTRANS_ACTIVE { canceller.passOn() }
      canceller.invalidate()
      // The server is told of the end, but not waited for.
      PQsetnonblocking(handle, 1)
      PQfinish(handle)
    }

    /// What every session has: the time zone, the limits, and PostGIS before what the user's own path
    /// has, so that nobody's functions stand in for those of PostGIS.
    private func prepareSession(_ limits: PostgresLimits) throws(FieldpackError) {
      let statement = limits.statement?.wholeMilliseconds ?? 0
      let settings = [
        ("TimeZone", "UTC"), ("DateStyle", "ISO, YMD"), ("IntervalStyle", "iso_8601"),
        ("extra_float_digits", "3"), ("bytea_output", "hex"), ("standard_conforming_strings", "on"),
        ("cursor_tuple_fraction", "1.0"), ("statement_timeout", "\(statement)"),
        // Parts of divided layers that a condition leaves out are not asked for their count.
        ("constraint_exclusion", "on"),
        ("lock_timeout", "30000"),
        ("idle_in_transaction_session_timeout", "\(limits.idleInTransaction.wholeMilliseconds)"),
      ]
      let calls = settings.map { "pg_catalog.set_config('\($0.0)', '\($0.1)', false)" }
      _ = try execute("SELECT " + calls.joined(separator: ", "))
      let rows = try execute(
        """
        SELECT pg_catalog.quote_ident(n.nspname),
          pg_catalog.set_config('search_path', 'pg_catalog, ' || pg_catalog.quote_ident(n.nspname)
            || ', ' || pg_catalog.current_setting('search_path'), false)
        FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'postgis'
        """)
      if rows.count == 1 { postgisSchema = rows.text(0, 0) }
    }

    // MARK: Statements

    /// Runs one statement and gives all of its rows; statements with many rows are read by a cursor.
    @discardableResult
    package func execute(
      _ sql: String, _ parameters: [PostgresValue] = []
    ) throws(FieldpackError) -> PostgresRows {
      try send(sql, parameters)
      return try PostgresRows(lastResult())
    }

    /// Runs statements that have neither parameters nor rows, such as a script.
    package func run(script: String) throws(FieldpackError) {
      try check()
      guard PQsendQuery(handle, script) == 1 else { throw lost() }
      _ = try lastResult()
    }

    private func send(_ sql: String, _ parameters: [PostgresValue]) throws(FieldpackError) {
      try check()
      // Their number has 16 bits in the protocol.
      guard parameters.count <= 65_535 else {
        throw FieldpackError(
          .invalidArgument,
          "a statement takes at most 65535 values, and this one has \(parameters.count)")
      }
      let arguments = BoundValues(parameters)
      try sent(
        PQsendQueryParams(
          handle, sql, Int32(parameters.count), arguments.types, arguments.pointers,
          arguments.lengths, arguments.formats, 1))
    }

    /// - Parameter answer: libpq's, of a function that sends a statement.
    func sent(_ answer: Int32) throws(FieldpackError) {
      if answer == 1 { return }
      guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
      throw FieldpackError(
        .invalidArgument,
        "the statement was not sent: \(plain(String(cString: PQerrorMessage(handle))))")
    }

    /// The last result of what was sent; the results before it are dropped.
    func lastResult() throws(FieldpackError) -> OpaquePointer {
      var last: OpaquePointer?
      var failure: FieldpackError?
      size.begin()
      while let result = try nextResult() {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
          PQclear(last)
          last = result
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
          // The statement waits for data that nobody has: the connection cannot go on.
          PQclear(result)
          isGivenUp = true
          failure = FieldpackError(.invalidArgument, "a COPY statement is no query")
        default:
          failure = failure ?? error(of: result)
          PQclear(result)
        }
        if isGivenUp { break }
      }
      if let failure {
        PQclear(last)
        throw failure
      }
      guard let last else { throw lost() }
      return last
    }

    /// The next result; `nil` after the last. Waits for it, and gives the connection up where a
    /// cancelled statement does not end.
    func nextResult() throws(FieldpackError) -> OpaquePointer? {
      while PQflush(handle) == 1 || PQisBusy(handle) == 1 {
        try waitForServer()
        try consume()
      }
      guard let result = PQgetResult(handle) else { return nil }
      // On a Unix socket not all that comes is counted while it comes.
      guard PQresultMemorySize(result) <= size.most else {
        PQclear(result)
        throw tooLong()
      }
      return result
    }

    /// Takes what the server has sent.
    ///
    /// - Throws: `.unsupported` where the answer has got too long; then the connection is given up, because
    ///   what comes next would have to be read before everything else.
    func consume() throws(FieldpackError) {
      let (isRead, isShort) = size.count { PQconsumeInput(handle) == 1 }
      if isShort {
        if isRead { return }
        throw lost()
      }
      throw tooLong()
    }

    /// The connection is given up, and with it the memory that libpq keeps for answers as long as the last.
    func tooLong() -> FieldpackError {
      giveUp()
      return FieldpackError(
        .unsupported,
        "\(address.shown) answers a statement with more than \(size.most >> 20) MiB at a time. "
          + "Try: fewer columns, or a condition that leaves out the largest features")
    }

    /// The most bytes of an answer that is held whole, and of a row.
    var answerBytes: Int { size.most }

    func beginAnswer() { size.begin() }
    /// Lets the next row of a COPY be as long as the first.
    func beginRow() { size.beginRow() }

    /// Waits until the server has sent something, or takes more where there is more to send.
    ///
    /// - Returns: whether the server has sent something.
    @discardableResult
    func waitForServer(orToSend isSending: Bool = false) throws(FieldpackError) -> Bool {
      let events = Int16(isSending ? POLLIN | POLLOUT : POLLIN)
      var (patience, isPassedOn) = (patience, false)
      while true {
        var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
        guard descriptor.fd >= 0 else { throw lost() }
        let pause = min(100, patience)
        if poll(&descriptor, 1, pause) > 0 { return descriptor.revents & ~Int16(POLLOUT) != 0 }
        guard canceller.isRequested else { continue }
        if !isPassedOn { canceller.passOn() }
        isPassedOn = true
        patience -= pause
        if patience <= 0 {
          giveUp()
          throw FieldpackError(.interrupted, "interrupted, and \(address.shown) did not answer")
        }
      }
    }

    /// When the rest of a statement that nobody wants has to be here.
    var restEnd: ContinuousClock.Instant { .now + .milliseconds(patience) }

    /// Waits for the rest of a statement that nobody wants, and takes it.
    ///
    /// - Returns: `false` where nothing comes in time, or too much.
    func takesRest(until end: ContinuousClock.Instant) -> Bool {
      var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      let left = Int32(clamping: max(.zero, end - .now).wholeMilliseconds)
      guard descriptor.fd >= 0, poll(&descriptor, 1, left) > 0 else { return false }
      return (try? consume()) != nil
    }

    // MARK: State

    /// Whether the connection can be used again: it is not lost, no transaction is open, and nothing
    /// waits to be read.
    package var isIdle: Bool {
      !isGivenUp && PQstatus(handle) == CONNECTION_OK
        && PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    /// The encoding of the database, as the server told when the session began.
    var serverEncoding: String {
      PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? ""
    }

    package var isInTransaction: Bool {
      let status = PQtransactionStatus(handle)
      return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
    }

    /// Whether the server has said something unasked, such as that it ends the connection, or has closed
    /// it.
    package var hasNews: Bool {
      var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      return descriptor.fd < 0 || poll(&descriptor, 1, 0) > 0
    }

    func check() throws(FieldpackError) {
      if canceller.isRequested { throw FieldpackError(.interrupted, "interrupted") }
      guard !isGivenUp, PQstatus(handle) == CONNECTION_OK else { throw lost() }
    }

    /// Runs `body` to its end although the task is cancelled: what is done elsewhere counts on it.
    ///
    /// - Throws: `.interrupted` where the task was cancelled before.
    func withoutCancelling<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
      guard let outer = canceller.beginKeptRun() else {
        throw FieldpackError(.interrupted, "interrupted")
      }
      defer { if !canceller.endRun(outer: outer) { giveUp() } }
      return try body()
    }

    /// A number that tells the cursors of the connection apart.
    func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }

    /// Gives the connection up: it is in a state from which it cannot go on.
    func giveUp() { isGivenUp = true }

    /// Ends the statement that runs; a server that does not take the request costs the connection.
    func cancelStatement() {
      if !canceller.cancelStatement() { giveUp() }
    }
  }
#endif
