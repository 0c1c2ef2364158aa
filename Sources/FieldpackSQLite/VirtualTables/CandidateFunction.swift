import CSQLite

/// The ids that a call of a ``CandidateFunction`` answers, in ascending order, each once. Some of
/// them are marked.
public struct IDList: Sendable {
  public let ids: [Int64]
  /// The marked ids among ``ids``, ascending.
  public let marked: [Int64]

  /// Both lists may be in any order and may name an id more than once.
  public init(_ ids: [Int64], marked: [Int64] = []) {
    self.ids = Self.ascending(ids)
    self.marked = Self.ascending(marked)
  }

  private static func ascending(_ ids: [Int64]) -> [Int64] {
    guard ids.count > 1, var least = ids.first else { return ids }
    var greatest = least
    var isAscending = true
    for (id, next) in zip(ids, ids.dropFirst()) {
      if id >= next { isAscending = false }
      least = min(least, next)
      greatest = max(greatest, next)
    }
    if isAscending { return ids }
    let (span, overflows) = greatest.subtractingReportingOverflow(least)
    // Unless the range of ids is sparse, a bit for each id of it costs less than sorting.
    if ids.count > 256, !overflows, span / 64 <= ids.count {
      return fromBits(ids, least: least, span: span)
    }
    return distinct(ids.sorted())
  }

  private static func distinct(_ sorted: [Int64]) -> [Int64] {
    var kept: [Int64] = []
    kept.reserveCapacity(sorted.count)
    for id in sorted where id != kept.last { kept.append(id) }
    return kept
  }

  private static func fromBits(_ ids: [Int64], least: Int64, span: Int64) -> [Int64] {
    var bits = [UInt64](repeating: 0, count: Int(span / 64) + 1)
    for id in ids {
      let offset = Int(id - least)
      bits[offset >> 6] |= 1 << UInt64(offset & 63)
    }
    var kept: [Int64] = []
    kept.reserveCapacity(ids.count)
    for (index, word) in bits.enumerated() where word != 0 {
      var rest = word
      while rest != 0 {
        kept.append(least + Int64(index << 6 + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return kept
  }
}

/// A table-valued function of a connection whose rows are ids: `SELECT … FROM name(argument, …)`.
///
/// The registration names its two columns: the id, and whether the id is unmarked. The rows come in
/// ascending order, and SQLite is told so. The file's triggers and views cannot use the function.
final class CandidateFunction {
  let name: String
  let argumentCount: Int
  fileprivate let declaration: String
  fileprivate let body: ([SQLiteValue]) throws(SQLiteError) -> IDList
  fileprivate let module: UnsafeMutablePointer<sqlite3_module>

  init(
    name: String, idColumn: String, unmarkedColumn: String, argumentCount: Int,
    body: @escaping ([SQLiteValue]) throws(SQLiteError) -> IDList
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.body = body
    var arguments = ""
    for index in 0..<argumentCount { arguments += ", \"\(name) \(index)\" HIDDEN" }
    declaration =
      "CREATE TABLE x(\"\(idColumn)\" INTEGER, \"\(unmarkedColumn)\" INTEGER\(arguments))"
    module = .allocate(capacity: 1)
    module.initialize(to: makeModule())
  }

  deinit {
    module.deinitialize(count: 1)
    module.deallocate()
  }
}

extension Connection {
  /// Registers a table-valued function whose rows are ids in ascending order.
  ///
  /// - Parameters:
  ///   - idColumn: the name of the first column; an integer.
  ///   - unmarkedColumn: the name of the second: 1, or 0 where the id is marked.
  ///   - argumentCount: how many arguments every call must have.
  ///   - body: called on the thread that steps the statement. It may use the connection, but must
  ///     not hold it strongly. What it throws ends the statement with that error's code.
  public func register(
    idTable name: String, idColumn: String, unmarkedColumn: String, argumentCount: Int,
    _ body: @escaping ([SQLiteValue]) throws(SQLiteError) -> IDList
  ) throws(SQLiteError) {
    let table = CandidateFunction(
      name: name, idColumn: idColumn, unmarkedColumn: unmarkedColumn,
      argumentCount: argumentCount, body: body)
    let context = Unmanaged.passRetained(table).toOpaque()
    // SQLite also releases the context when this fails.
    try check(
      sqlite3_create_module_v2(handle, name, table.module, context, releaseCallback))
  }
}

/// The rows of one call and the index of the current one.
private final class IDRows {
  private let list: IDList
  private var index: Int
  private let end: Int
  private var nextMarked: Int

  init(_ list: IDList, from first: Int64, through last: Int64) {
    self.list = list
    index = list.ids.firstIndex(from: first)
    end = last == .max ? list.ids.count : list.ids.firstIndex(from: last + 1)
    nextMarked = list.marked.firstIndex(from: first)
  }

  var isAtEnd: Bool { index >= end }
  var number: Int64 { Int64(index) }
  var id: Int64 { list.ids[index] }

  var isUnmarked: Bool {
    nextMarked >= list.marked.count || list.marked[nextMarked] != list.ids[index]
  }

  func advance() {
    let passed = list.ids[index]
    while nextMarked < list.marked.count, list.marked[nextMarked] <= passed { nextMarked += 1 }
    index += 1
  }
}

extension [Int64] {
  /// The index of the first of these ascending ids that is not less than `id`.
  fileprivate func firstIndex(from id: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The ends of a range of ids that follow the arguments of a call.
private struct RangeEnds: OptionSet {
  let rawValue: Int32
  static let lower = RangeEnds(rawValue: 1)
  static let upper = RangeEnds(rawValue: 2)

  init(rawValue: Int32) { self.rawValue = rawValue }

  /// The end that a constraint on the id sets; `nil` for other constraints.
  init?(_ constraint: sqlite3_index_constraint) {
    switch Int32(constraint.op) {
    case SQLITE_INDEX_CONSTRAINT_GE: self = .lower
    case SQLITE_INDEX_CONSTRAINT_LE: self = .upper
    default: return nil
    }
  }
}

// MARK: What SQLite calls

private func makeModule() -> sqlite3_module {
  var module = sqlite3_module()
  // Without xCreate the table exists under its own name in every connection that registers it.
  module.xConnect = { connect($0, $1, $4, $5) }
  module.xBestIndex = { bestIndex($0, $1) }
  module.xDisconnect = { table in
    UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: fieldpack_vtab.self).deallocate()
    return SQLITE_OK
  }
  module.xOpen = { _, result in
    let cursor = UnsafeMutablePointer<fieldpack_vtab_cursor>.allocate(capacity: 1)
    cursor.initialize(to: fieldpack_vtab_cursor())
    result?.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(
      to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
  }
  module.xClose = { cursor in
    guard let cursor else { return SQLITE_OK }
    setRows(nil, of: cursor)
    UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: fieldpack_vtab_cursor.self)
      .deallocate()
    return SQLITE_OK
  }
  module.xFilter = { cursor, ends, _, count, arguments in
    filter(cursor, RangeEnds(rawValue: ends), count, arguments)
  }
  module.xNext = { cursor in
    withRows(of: cursor) { $0.advance() }
    return SQLITE_OK
  }
  module.xEof = { cursor in
    (withRows(of: cursor) { $0.isAtEnd } ?? true) ? 1 : 0
  }
  module.xColumn = { cursor, context, column in
    withRows(of: cursor) { rows in
      switch column {
      case 0: sqlite3_result_int64(context, rows.id)
      case 1: sqlite3_result_int(context, rows.isUnmarked ? 1 : 0)
      default: break
      }
    }
    return SQLITE_OK
  }
  module.xRowid = { cursor, result in
    result?.pointee = withRows(of: cursor) { $0.number } ?? 0
    return SQLITE_OK
  }
  return module
}

private func connect(
  _ database: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
  _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  guard let context else { return SQLITE_MISUSE }
  let table = Unmanaged<CandidateFunction>.fromOpaque(context).takeUnretainedValue()
  let code = sqlite3_declare_vtab(database, table.declaration)
  guard code == SQLITE_OK else { return code }
  _ = fieldpack_sqlite_make_direct_only(database)
  let made = UnsafeMutablePointer<fieldpack_vtab>.allocate(capacity: 1)
  made.initialize(to: fieldpack_vtab())
  // The module holds the table until the connection closes.
  made.pointee.table = context
  result?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
  return SQLITE_OK
}

/// Requires all arguments, and passes them to `filter` in their order.
private func bestIndex(
  _ base: UnsafeMutablePointer<sqlite3_vtab>?,
  _ information: UnsafeMutablePointer<sqlite3_index_info>?
) -> Int32 {
  guard let base, let information else { return SQLITE_MISUSE }
  let table = idTable(base)
  let constraints = UnsafeBufferPointer(
    start: information.pointee.aConstraint, count: Int(information.pointee.nConstraint))
  var given = 0
  var ends: RangeEnds = []
  for (index, constraint) in constraints.enumerated() {
    let argument = Int(constraint.iColumn) - 2
    guard argument >= 0, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else { continue }
    if constraint.usable == 0 { return SQLITE_CONSTRAINT }
    information.pointee.aConstraintUsage[index].argvIndex = Int32(argument + 1)
    information.pointee.aConstraintUsage[index].omit = 1
    given |= 1 << argument
  }
  guard given == 1 << table.argumentCount - 1 else {
    setMessage("\(table.name)() takes \(table.argumentCount) arguments", of: base)
    return SQLITE_ERROR
  }
  // The lower end is passed first, whatever the order of the constraints. SQLite also tests both
  // constraints itself.
  var next = Int32(table.argumentCount)
  for wanted in [RangeEnds.lower, .upper] {
    let found = constraints.firstIndex {
      $0.iColumn == 0 && $0.usable != 0 && RangeEnds($0) == wanted
    }
    guard let found else { continue }
    next += 1
    information.pointee.aConstraintUsage[found].argvIndex = next
    ends.insert(wanted)
  }
  information.pointee.idxNum = ends.rawValue
  information.pointee.estimatedCost = 100
  information.pointee.estimatedRows = 100
  if information.pointee.nOrderBy == 1, let order = information.pointee.aOrderBy,
    order.pointee.iColumn == 0, order.pointee.desc == 0
  {
    information.pointee.orderByConsumed = 1
  }
  return SQLITE_OK
}

private func filter(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ ends: RangeEnds, _ count: Int32,
  _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let cursor, let base = cursor.pointee.pVtab else { return SQLITE_MISUSE }
  setRows(nil, of: cursor)
  let table = idTable(base)
  var values = (0..<Int(count)).map { index in
    arguments?[index].map { FunctionValue($0).copy } ?? .null
  }
  var (first, last) = (Int64.min, Int64.max)
  // Ends that are not integers are left to SQLite, which tests them itself.
  if ends.contains(.upper), case .integer(let id)? = values.popLast() { last = id }
  if ends.contains(.lower), case .integer(let id)? = values.popLast() { first = id }
  do throws(SQLiteError) {
    setRows(IDRows(try table.body(values), from: first, through: last), of: cursor)
    return SQLITE_OK
  } catch {
    setMessage(error.message, of: base)
    return error.extendedCode
  }
}

private func idTable(_ base: UnsafeMutablePointer<sqlite3_vtab>) -> CandidateFunction {
  let table = UnsafeMutableRawPointer(base).assumingMemoryBound(to: fieldpack_vtab.self)
  return Unmanaged<CandidateFunction>.fromOpaque(table.pointee.table).takeUnretainedValue()
}

@inline(__always)
private func withRows<R>(
  of cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ body: (IDRows) -> R
) -> R? {
  guard let cursor else { return nil }
  let own = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: fieldpack_vtab_cursor.self)
  guard let rows = own.pointee.rows else { return nil }
  return Unmanaged<IDRows>.fromOpaque(rows)._withUnsafeGuaranteedRef(body)
}

private func setRows(_ rows: IDRows?, of cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>) {
  let own = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: fieldpack_vtab_cursor.self)
  if let old = own.pointee.rows { Unmanaged<IDRows>.fromOpaque(old).release() }
  own.pointee.rows = rows.map { Unmanaged.passRetained($0).toOpaque() }
}

/// Sets the message for `sqlite3_errmsg`.
private func setMessage(_ text: String, of base: UnsafeMutablePointer<sqlite3_vtab>) {
  sqlite3_free(base.pointee.zErrMsg)
  base.pointee.zErrMsg = copyForSQLite(text)
}
