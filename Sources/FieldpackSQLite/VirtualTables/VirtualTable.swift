import CSQLite

/// A table whose rows a program supplies, made by `CREATE VIRTUAL TABLE … USING module(…)`.
///
/// Belongs to the thread of its connection. It must not hold the connection strongly.
public protocol VirtualTable: AnyObject {
  /// The text `CREATE TABLE x(…)` that declares the table's columns.
  var declaration: String { get }

  /// Chooses a plan for finding rows before any row is read; called once for each plan that SQLite
  /// considers.
  func choose(_ request: inout IndexRequest) throws(SQLiteError)

  func makeCursor() -> VirtualCursor

  /// The implementation for a call of a function whose first argument is a column of the table;
  /// `nil` keeps the registered function.
  func overload(function name: String, argumentCount: Int) -> FunctionOverload?
}

extension VirtualTable {
  public func overload(function name: String, argumentCount: Int) -> FunctionOverload? { nil }
}

/// Walks the rows of a ``VirtualTable``; a class, because a call through a protocol costs each row more.
open class VirtualCursor {
  public init() {}

  /// Moves to the first row of a plan and gives whether there is one; may be called again with other
  /// arguments.
  /// - Parameters:
  ///   - plan: the number that ``IndexRequest/plan`` was set to.
  ///   - arguments: the values of the constraints taken, in the order of taking; lent for the call.
  open func begin(plan: Int, _ arguments: LentArguments) throws(SQLiteError) -> Bool { false }

  /// Moves to the next row and gives whether there is one.
  open func advance() throws(SQLiteError) -> Bool { false }

  open var rowID: Int64 { 0 }

  open func give(column: Int, to result: ColumnResult) throws(SQLiteError) {}
}

/// A function for the columns of a virtual table.
public struct FunctionOverload {
  let function: Function
  let code: Int32

  /// An overload by the function that is registered on the connection, which answers where the call
  /// is not taken as a constraint; `nil` where there is no such function.
  ///
  /// - Parameter index: 0 to 105; where the function stands as a condition by itself, it reaches
  ///   ``VirtualTable/choose(_:)`` as ``IndexRequest/Operation/function(_:)`` with this index.
  public init?(_ name: String, argumentCount: Int, index: Int, on connection: Connection) {
    precondition((0...105).contains(index), "SQLite has codes for 106 functions")
    let name = name.lowercased()
    let known = connection.functions.last {
      $0.argumentCount == argumentCount && $0.name.lowercased() == name
    }
    guard let known else { return nil }
    function = known
    code = SQLITE_INDEX_CONSTRAINT_FUNCTION + Int32(index)
  }
}

/// Values that SQLite lends to a cursor for one call.
public struct LentArguments {
  public let count: Int
  private let values: UnsafeMutablePointer<OpaquePointer?>?

  init(count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    self.count = values == nil ? 0 : Int(count)
    self.values = values
  }

  public func kind(_ index: Int) -> StorageClass {
    pointer(index).map { FunctionValue($0).kind } ?? .null
  }

  /// Lends the bytes of a blob or text (UTF-8, not validated); no bytes for NULL.
  public func withBytes<R, E: Error>(
    _ index: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    return try body((pointer(index).map { FunctionValue($0).bytes } ?? empty).bytes)
  }

  /// Binds the value unchanged to a parameter; bytes are copied.
  public func bind(
    _ index: Int, to statement: Statement, at parameter: Int
  ) throws(SQLiteError) {
    guard let value = pointer(index) else { return try statement.bindNull(at: parameter) }
    let code = sqlite3_bind_value(statement.handle, Int32(clamping: parameter), value)
    guard code == SQLITE_OK else { throw statement.failure(code) }
  }

  func value(_ index: Int) -> SQLiteValue {
    pointer(index).map { FunctionValue($0).copy } ?? .null
  }

  private func pointer(_ index: Int) -> OpaquePointer? {
    index >= 0 && index < count ? values?[index] : nil
  }
}

/// Receives the value of one column of the cursor's current row.
public struct ColumnResult {
  let context: OpaquePointer

  public func set(_ value: Int64) { sqlite3_result_int64(context, value) }

  /// Answers the value of a column of another statement's current row; SQLite copies it into its
  /// own row.
  public func set(_ statement: Statement, column: Int) {
    sqlite3_result_value(
      context, sqlite3_column_value(statement.handle, Int32(clamping: column)))
  }
}

extension Connection {
  /// Registers a module, for `CREATE VIRTUAL TABLE` on this connection.
  ///
  /// - Parameter make: makes a table from the arguments between the parentheses.
  public func register(
    module name: String, _ make: @escaping ([String]) throws(SQLiteError) -> any VirtualTable
  ) throws(SQLiteError) {
    try register(name, TableModule(isFunction: false, make: make))
  }

  func register(_ name: String, _ module: TableModule) throws(SQLiteError) {
    let context = Unmanaged.passRetained(module).toOpaque()
    // SQLite also releases the context when this fails.
    try check(
      sqlite3_create_module_v2(handle, name, module.callbacks, context, releaseCallback))
  }
}
