import CSQLite

/// A module of virtual tables with its callbacks for SQLite.
final class TableModule {
  fileprivate let make: ([String]) throws(SQLiteError) -> any VirtualTable
  /// Whether the module has a single table under its own name, which a statement calls as a function.
  /// The file's triggers and views cannot.
  fileprivate let isFunction: Bool
  let callbacks: UnsafeMutablePointer<sqlite3_module>

  init(
    isFunction: Bool, make: @escaping ([String]) throws(SQLiteError) -> any VirtualTable
  ) {
    self.isFunction = isFunction
    self.make = make
    callbacks = .allocate(capacity: 1)
    callbacks.initialize(to: makeCallbacks())
    // Without xCreate the module has this table alone
    // (https://www.sqlite.org/vtab.html#eponymous_only_virtual_tables).
    if isFunction { callbacks.pointee.xCreate = nil }
  }

  deinit {
    callbacks.deinitialize(count: 1)
    callbacks.deallocate()
  }
}

/// A virtual table that SQLite holds.
private final class HeldTable {
  let table: any VirtualTable
  /// The functions to which SQLite has pointers.
  var functions: [String: FunctionOverload?] = [:]

  init(_ table: any VirtualTable) { self.table = table }
}

private func makeCallbacks() -> sqlite3_module {
  var module = sqlite3_module()
  // xCreate and xConnect must differ: with one function for both, the table would exist under the
  // module's name (https://www.sqlite.org/vtab.html#eponymous_virtual_tables).
  module.xCreate = { connect($0, $1, $2, $3, $4, $5) }
  module.xConnect = { reconnect($0, $1, $2, $3, $4, $5) }
  module.xBestIndex = { bestIndex($0, $1) }
  module.xDisconnect = { disconnect($0) }
  module.xDestroy = { disconnect($0) }
  module.xOpen = { open($0, $1) }
  module.xClose = { close($0) }
  module.xFilter = { cursor, plan, _, count, arguments in
    moving(cursor) { (own: VirtualCursor) throws(SQLiteError) in
      try own.begin(plan: Int(plan), LentArguments(count: count, arguments))
    }
  }
  module.xNext = { moving($0) { (own: VirtualCursor) throws(SQLiteError) in try own.advance() } }
  module.xEof = { cursor in cursor.map { held($0).pointee.has_row } == 1 ? 0 : 1 }
  module.xColumn = { cursor, context, column in
    guard let context else { return SQLITE_MISUSE }
    return trying(cursor) { (own: VirtualCursor) throws(SQLiteError) in
      try own.give(column: Int(column), to: ColumnResult(context: context))
    }
  }
  module.xRowid = { cursor, result in
    trying(cursor) { (own: VirtualCursor) in result?.pointee = own.rowID }
  }
  module.xFindFunction = { findFunction($0, $1, $2, $3, $4) }
  return module
}

private typealias Texts = UnsafePointer<UnsafePointer<CChar>?>
private typealias Message = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
private typealias TableResult = UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>

private func connect(
  _ database: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ count: Int32,
  _ texts: Texts?, _ result: TableResult?, _ message: Message?
) -> Int32 {
  guard let context, let texts else { return SQLITE_MISUSE }
  let module = Unmanaged<TableModule>.fromOpaque(context).takeUnretainedValue()
  // The first three texts are the names of module, schema and table.
  let arguments = (3..<max(3, Int(count))).map { texts[$0].map { String(cString: $0) } ?? "" }
  do throws(SQLiteError) {
    let held = HeldTable(try module.make(arguments))
    let code = sqlite3_declare_vtab(database, held.table.declaration)
    guard code == SQLITE_OK else { return code }
    if module.isFunction { _ = fieldpack_sqlite_make_direct_only(database) }
    let made = UnsafeMutablePointer<fieldpack_vtab>.allocate(capacity: 1)
    made.initialize(to: fieldpack_vtab())
    made.pointee.table = Unmanaged.passRetained(held).toOpaque()
    result?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
    return SQLITE_OK
  } catch {
    message?.pointee = copyForSQLite(error.message)
    return error.extendedCode
  }
}

private func reconnect(
  _ database: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ count: Int32,
  _ texts: Texts?, _ result: TableResult?, _ message: Message?
) -> Int32 {
  connect(database, context, count, texts, result, message)
}

private func disconnect(_ base: UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 {
  guard let base else { return SQLITE_OK }
  let own = UnsafeMutableRawPointer(base).assumingMemoryBound(to: fieldpack_vtab.self)
  if let held = own.pointee.table { Unmanaged<HeldTable>.fromOpaque(held).release() }
  own.deallocate()
  return SQLITE_OK
}

private func heldTable(_ base: UnsafeMutablePointer<sqlite3_vtab>) -> HeldTable {
  let own = UnsafeMutableRawPointer(base).assumingMemoryBound(to: fieldpack_vtab.self)
  return Unmanaged<HeldTable>.fromOpaque(own.pointee.table).takeUnretainedValue()
}

private func bestIndex(
  _ base: UnsafeMutablePointer<sqlite3_vtab>?,
  _ information: UnsafeMutablePointer<sqlite3_index_info>?
) -> Int32 {
  guard let base, let information else { return SQLITE_MISUSE }
  var request = IndexRequest(information)
  do throws(SQLiteError) {
    try heldTable(base).table.choose(&request)
    return SQLITE_OK
  } catch {
    return fail(error, base)
  }
}

private func open(
  _ base: UnsafeMutablePointer<sqlite3_vtab>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
) -> Int32 {
  guard let base else { return SQLITE_MISUSE }
  let made = UnsafeMutablePointer<fieldpack_vtab_cursor>.allocate(capacity: 1)
  made.initialize(to: fieldpack_vtab_cursor())
  made.pointee.cursor = Unmanaged.passRetained(heldTable(base).table.makeCursor()).toOpaque()
  result?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(
    to: sqlite3_vtab_cursor.self)
  return SQLITE_OK
}

private func close(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
  guard let cursor else { return SQLITE_OK }
  let own = held(cursor)
  if let object = own.pointee.cursor { Unmanaged<VirtualCursor>.fromOpaque(object).release() }
  own.deallocate()
  return SQLITE_OK
}

@inline(__always)
private func held(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>
) -> UnsafeMutablePointer<fieldpack_vtab_cursor> {
  UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: fieldpack_vtab_cursor.self)
}

/// Runs `body` on a cursor, of the class that its closure names, and stores its error where SQLite looks
/// for it.
@inline(__always)
func trying<Cursor: VirtualCursor>(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?,
  _ body: (Cursor) throws(SQLiteError) -> Void
) -> Int32 {
  guard let cursor, let own = held(cursor).pointee.cursor else { return SQLITE_MISUSE }
  return Unmanaged<Cursor>.fromOpaque(own)._withUnsafeGuaranteedRef { own -> Int32 in
    do throws(SQLiteError) {
      try body(own)
      return SQLITE_OK
    } catch {
      return fail(error, cursor.pointee.pVtab)
    }
  }
}

/// Runs `body`, which moves the cursor, and notes whether there is a row.
@inline(__always)
func moving<Cursor: VirtualCursor>(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?,
  _ body: (Cursor) throws(SQLiteError) -> Bool
) -> Int32 {
  trying(cursor) { (own: Cursor) throws(SQLiteError) in
    let hasRow = try body(own)
    if let cursor { held(cursor).pointee.has_row = hasRow ? 1 : 0 }
  }
}

private func fail(_ error: SQLiteError, _ base: UnsafeMutablePointer<sqlite3_vtab>) -> Int32 {
  sqlite3_free(base.pointee.zErrMsg)
  base.pointee.zErrMsg = copyForSQLite(error.message)
  return error.extendedCode
}

private typealias FunctionAddress =
  @convention(c) (
    OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
  ) -> Void

private func findFunction(
  _ base: UnsafeMutablePointer<sqlite3_vtab>?, _ count: Int32, _ name: UnsafePointer<CChar>?,
  _ address: UnsafeMutablePointer<FunctionAddress?>?,
  _ argument: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
  guard let base, let name else { return 0 }
  let held = heldTable(base)
  let lower = String(cString: name).lowercased()
  let key = "\(lower) \(count)"
  let overload =
    if let known = held.functions[key] { known } else {
      held.table.overload(function: lower, argumentCount: Int(count))
    }
  held.functions[key] = overload
  guard let overload else { return 0 }
  // SQLite gets an unretained pointer: the table holds the function as long as a statement can call
  // it.
  address?.pointee = functionCallback
  argument?.pointee = Unmanaged.passUnretained(overload.function).toOpaque()
  return overload.code
}
