import CSQLite

/// `fieldpack_row(…)`: gives its arguments to who runs the step and answers 0, or 1 where no more
/// are wanted.
///
/// In a `WHERE` clause it makes one step out of many rows, and its arguments are read where SQLite
/// has them, which together take a third off the time of a scan.
final class RowFunction {
  fileprivate unowned(unsafe) let connection: Connection
  /// Where rows go, for the length of a step.
  fileprivate var target: (values: LentValues, receive: () -> Bool)?

  fileprivate init(connection: Connection) { self.connection = connection }
}

extension Connection {
  /// The name of the function that gives its arguments to who runs the step.
  public static let rowFunctionName = "fieldpack_row"

  /// Registers `fieldpack_row` for statements that are stepped by
  /// ``Statement/step(lending:to:)``, once.
  public func registerRowFunction() throws(SQLiteError) {
    guard rowFunction == nil else { return }
    let function = RowFunction(connection: self)
    // The connection holds the function, and closes before it lets go of it.
    try check(
      sqlite3_create_function_v2(
        handle, Self.rowFunctionName, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
        Unmanaged.passUnretained(function).toOpaque(), rowCallback, nil, nil, nil))
    rowFunction = function
  }
}

extension Statement {
  /// Reads the rows on which the statement calls `fieldpack_row` into `values` and calls `receive`
  /// for each, until it gives false; false at the end.
  public func step(
    lending values: LentValues, to receive: () -> Bool
  ) throws(SQLiteError) -> Bool {
    guard let function = connection.rowFunction else {
      throw .misuse("\(Connection.rowFunctionName) has not been registered")
    }
    let result = withoutActuallyEscaping(receive) { receive in
      function.target = (values, receive)
      defer { function.target = nil }
      return Result { () throws(SQLiteError) in try step() }
    }
    return try result.get()
  }
}

private let rowCallback:
  @convention(c) (
    OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
  ) -> Void = { context, count, arguments in
    guard let context, let arguments, let data = sqlite3_user_data(context) else { return }
    Unmanaged<RowFunction>.fromOpaque(data)._withUnsafeGuaranteedRef { function in
      guard let target = function.target, target.values.count == Int(count) else {
        sqlite3_result_error(context, "nobody takes these rows", -1)
        return
      }
      target.values.read(arguments, storesUTF8: function.connection.storesUTF8)
      sqlite3_result_int(context, target.receive() ? 0 : 1)
    }
  }
