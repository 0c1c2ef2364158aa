import CSQLite

extension Connection {
  /// Calls `body` after each statement has run, with its SQL and its duration; parameters are not
  /// written into the SQL. `nil` ends the tracing.
  ///
  /// - Parameter body: called on the connection's thread; must not use the connection.
  public func trace(_ body: ((_ sql: String, _ duration: Duration) -> Void)?) {
    tracer = body.map(Tracer.init)
    let context = tracer.map { Unmanaged.passUnretained($0).toOpaque() }
    let events = UInt32(context == nil ? 0 : SQLITE_TRACE_PROFILE)
    sqlite3_trace_v2(handle, events, context == nil ? nil : traceCallback, context)
  }
}

/// An object whose address SQLite keeps while traces are received.
final class Tracer {
  let body: (String, Duration) -> Void

  init(body: @escaping (String, Duration) -> Void) { self.body = body }
}

private let traceCallback:
  @convention(c) (
    UInt32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
  ) -> Int32 = { _, context, statement, nanoseconds in
    guard let context, let statement, let nanoseconds,
      let sql = sqlite3_sql(OpaquePointer(statement))
    else { return 0 }
    let duration = Duration.nanoseconds(nanoseconds.load(as: Int64.self))
    Unmanaged<Tracer>.fromOpaque(context).takeUnretainedValue()
      .body(String(cString: sql), duration)
    return 0
  }
