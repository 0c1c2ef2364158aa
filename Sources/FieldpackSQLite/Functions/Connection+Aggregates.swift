import CSQLite

/// The state of an aggregate function over the rows of one group.
public protocol AggregateState: AnyObject {
  /// Adds one row; `setError` ends the statement.
  func add(_ row: FunctionContext)
  /// Sets the group's result; the group may have no rows.
  func finish(_ result: FunctionContext)
}

extension Connection {
  /// Registers an SQL function over the rows of a group; everything else is as in
  /// ``register(function:arguments:flags:_:)``.
  ///
  /// - Parameter make: makes the state of one group. It must not hold the connection strongly.
  public func register(
    aggregate name: String, arguments: Int, flags: FunctionFlags = [],
    _ make: @escaping () -> any AggregateState
  ) throws(SQLiteError) {
    try register(name, arguments: arguments, flags: flags, .aggregate(make))
  }
}

/// The object that SQLite's memory for a group points to.
private final class Group {
  let state: any AggregateState

  init(_ state: any AggregateState) { self.state = state }
}

private func makeGroup(_ context: OpaquePointer) -> Group? {
  guard let data = sqlite3_user_data(context) else { return nil }
  return Unmanaged<Function>.fromOpaque(data)._withUnsafeGuaranteedRef {
    if case .aggregate(let make) = $0.body { Group(make()) } else { nil }
  }
}

let stepCallback:
  @convention(c) (
    OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
  ) -> Void = { context, count, arguments in
    guard let context else { return }
    let size = Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
    guard let memory = sqlite3_aggregate_context(context, size) else {
      return sqlite3_result_error_nomem(context)
    }
    let pointer = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    if pointer.pointee == nil, let group = makeGroup(context) {
      pointer.pointee = Unmanaged.passRetained(group).toOpaque()
    }
    guard let kept = pointer.pointee else { return }
    Unmanaged<Group>.fromOpaque(kept).takeUnretainedValue().state.add(
      FunctionContext(context: context, count: count, arguments: arguments))
  }

// SQLite also calls this for a statement that ends early.
let finalCallback: @convention(c) (OpaquePointer?) -> Void = { context in
  guard let context else { return }
  let result = FunctionContext(context: context, count: 0, arguments: nil)
  let memory = sqlite3_aggregate_context(context, 0)
  let pointer = memory?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  guard let pointer, let kept = pointer.pointee else {
    makeGroup(context)?.state.finish(result)
    return
  }
  pointer.pointee = nil
  Unmanaged<Group>.fromOpaque(kept).takeRetainedValue().state.finish(result)
}
