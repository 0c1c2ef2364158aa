import CSQLite

/// What SQLite may assume of a function.
public struct FunctionFlags: OptionSet, Sendable, Hashable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The same arguments always give the same result, so SQLite evaluates constant calls once, and
  /// indexes may use the function.
  public static let deterministic = FunctionFlags(rawValue: SQLITE_DETERMINISTIC)
  /// Harmless for any arguments: allowed in triggers and views of files that are not trusted.
  public static let innocuous = FunctionFlags(rawValue: SQLITE_INNOCUOUS)
  /// Refused in triggers, views and constraints of the file.
  public static let directOnly = FunctionFlags(rawValue: SQLITE_DIRECTONLY)
}

/// A registered function, kept so that it can be registered again.
package final class Function {
  package let name: String
  package let argumentCount: Int32
  package let flags: FunctionFlags
  package let body: Body

  package enum Body {
    case scalar((FunctionContext) -> Void)
    /// A function that makes the state for the rows of one group.
    case aggregate(() -> any AggregateState)
  }

  init(name: String, argumentCount: Int32, flags: FunctionFlags, body: Body) {
    self.name = name
    self.argumentCount = argumentCount
    self.flags = flags
    self.body = body
  }
}

extension Connection {
  /// Registers an SQL function on this connection. Of two with the same name and argument count the
  /// last is in force, also after SpatiaLite has been loaded.
  ///
  /// - Parameters:
  ///   - arguments: the number of arguments; -1 for any number.
  ///   - body: called on the thread that steps the statement. It must not keep the context, and
  ///     must not hold the connection strongly.
  public func register(
    function name: String, arguments: Int, flags: FunctionFlags = [],
    _ body: @escaping (FunctionContext) -> Void
  ) throws(SQLiteError) {
    try register(name, arguments: arguments, flags: flags, .scalar(body))
  }

  package func register(
    _ name: String, arguments: Int, flags: FunctionFlags, _ body: Function.Body
  ) throws(SQLiteError) {
    guard let count = Int32(exactly: arguments) else {
      throw .misuse("function \(name) cannot take \(arguments) arguments")
    }
    let function = Function(name: name, argumentCount: count, flags: flags, body: body)
    try register(function)
    functions.append(function)
  }

  /// Registers a collation for texts, given as UTF-8.
  /// - Parameter compare: returns a negative number, zero or a positive number where the first text
  ///   comes before, with or after the second.
  public func register(
    collation name: String,
    _ compare: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
  ) throws(SQLiteError) {
    let context = Unmanaged.passRetained(Collation(compare: compare)).toOpaque()
    let code = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, context, collationCallback, releaseCallback)
    // Unlike the other registrations this one does not release the context when it fails.
    if code != SQLITE_OK { releaseCallback(context) }
    try check(code)
  }

  func registerFunctionsAgain() throws(SQLiteError) {
    for function in functions { try register(function) }
  }

  private func register(_ function: Function) throws(SQLiteError) {
    let context = Unmanaged.passRetained(function).toOpaque()
    let isAggregate = if case .aggregate = function.body { true } else { false }
    try check(
      sqlite3_create_function_v2(
        handle, function.name, function.argumentCount, SQLITE_UTF8 | function.flags.rawValue,
        context, isAggregate ? nil : functionCallback, isAggregate ? stepCallback : nil,
        isAggregate ? finalCallback : nil, releaseCallback))
  }
}

private final class Collation {
  let compare: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int

  init(compare: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int) {
    self.compare = compare
  }
}

let functionCallback:
  @convention(c) (
    OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
  ) -> Void = { context, count, arguments in
    guard let context, let function = sqlite3_user_data(context) else { return }
    Unmanaged<Function>.fromOpaque(function)._withUnsafeGuaranteedRef {
      guard case .scalar(let body) = $0.body else { return }
      body(FunctionContext(context: context, count: count, arguments: arguments))
    }
  }

private let collationCallback:
  @convention(c) (
    UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
  ) -> Int32 = { context, leftCount, left, rightCount, right in
    guard let context else { return 0 }
    let collation = Unmanaged<Collation>.fromOpaque(context).takeUnretainedValue()
    let order = collation.compare(
      UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
      UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    return Int32(order.signum())
  }
