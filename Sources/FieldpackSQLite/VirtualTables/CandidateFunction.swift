import CSQLite

/// The ids that a call of a `CandidateFunction` answers, in ascending order, each once. Some of
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
    // Unless the range of ids is sparse, a bit for each id of it costs less than sorting: a word of 64
    // bits is looked at in a fraction of the time in which an id is sorted. More than 8 MiB of them are only
    // taken where sorting needs as much memory.
    let mostWords = max(ids.count, min(ids.count * 8, 1 << 20))
    if ids.count > 256, !overflows, span / 64 <= mostWords {
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

extension Connection {
  /// Registers a table-valued function whose rows are ids in ascending order:
  /// `SELECT … FROM name(argument, …)`. The file's triggers and views cannot use it.
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
    let function = CandidateFunction(
      name: name, idColumn: idColumn, unmarkedColumn: unmarkedColumn,
      argumentCount: argumentCount, body: body)
    let module = TableModule(isFunction: true) { (_) throws(SQLiteError) in function }
    // SQLite makes these calls for every row that a box finds. They name the class, so that they reach
    // it directly.
    module.callbacks.pointee.xNext = { moving($0) { (own: CandidateCursor) in own.advance() } }
    module.callbacks.pointee.xColumn = { cursor, context, column in
      guard let context else { return SQLITE_MISUSE }
      return trying(cursor) { (own: CandidateCursor) in
        own.give(column: Int(column), to: ColumnResult(context: context))
      }
    }
    try register(name, module)
  }
}

/// A table-valued function whose rows are ids in ascending order, which SQLite is told.
private final class CandidateFunction: VirtualTable {
  private let name: String
  private let argumentCount: Int
  let declaration: String
  fileprivate let body: ([SQLiteValue]) throws(SQLiteError) -> IDList

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
  }

  func makeCursor() -> VirtualCursor { CandidateCursor(self) }

  /// Requires all arguments and takes them in their order; after them the ends of a range of ids, the
  /// lower one first, which SQLite also tests itself.
  func choose(_ request: inout IndexRequest) throws(SQLiteError) {
    for argument in 0..<argumentCount {
      let given = request.constraints.first {
        $0.column == argument + 2 && $0.operation == .equal
      }
      guard let given else {
        throw SQLiteError(
          extendedCode: SQLITE_ERROR, message: "\(name)() takes \(argumentCount) arguments")
      }
      // This code rules out a plan (https://www.sqlite.org/vtab.html#return_value).
      guard given.isUsable else {
        throw SQLiteError(extendedCode: SQLITE_CONSTRAINT, message: "an argument is not known yet")
      }
      request.take(given, isExact: true)
    }
    var ends: RangeEnds = []
    for (operation, end) in [
      (IndexRequest.Operation.greaterOrEqual, RangeEnds.lower), (.lessOrEqual, .upper),
    ] {
      let found = request.constraints.first {
        $0.column == 0 && $0.isUsable && $0.operation == operation
      }
      guard let found else { continue }
      request.take(found, isExact: false)
      ends.insert(end)
    }
    request.plan = ends.rawValue
    request.estimate(cost: 100, rows: 100)
    if request.order.count == 1, request.order[0] == (0, false) { request.setOrdered() }
  }
}

/// The ends of a range of ids that follow the arguments of a call.
private struct RangeEnds: OptionSet {
  let rawValue: Int
  static let lower = RangeEnds(rawValue: 1)
  static let upper = RangeEnds(rawValue: 2)
}

/// Walks the ids of one call.
private final class CandidateCursor: VirtualCursor {
  // SQLite keeps the table while a cursor of it is open.
  private unowned let function: CandidateFunction
  private var list = IDList([])
  private var index = 0
  private var end = 0
  private var id: Int64 = 0
  /// Index of the first marked id that is not less than `id`.
  private var mark = 0
  private var markedID: Int64?

  init(_ function: CandidateFunction) { self.function = function }

  override func begin(plan: Int, _ arguments: LentArguments) throws(SQLiteError) -> Bool {
    var values = (0..<arguments.count).map { arguments.value($0) }
    let ends = RangeEnds(rawValue: plan)
    var (first, last) = (Int64.min, Int64.max)
    // Ends that are not integers are left to SQLite, which tests them itself.
    if ends.contains(.upper), case .integer(let id)? = values.popLast() { last = id }
    if ends.contains(.lower), case .integer(let id)? = values.popLast() { first = id }
    list = try function.body(values)
    index = list.ids.firstIndex(from: first)
    end = last == .max ? list.ids.count : list.ids.firstIndex(from: last + 1)
    setMark(list.marked.firstIndex(from: first))
    return settle()
  }

  override func advance() -> Bool {
    index += 1
    return settle()
  }

  /// Reads the id at `index`, where there is one.
  private func settle() -> Bool {
    guard index < end else { return false }
    id = list.ids[index]
    while let markedID, markedID < id { setMark(mark + 1) }
    return true
  }

  private func setMark(_ index: Int) {
    mark = index
    markedID = index < list.marked.count ? list.marked[index] : nil
  }

  override var rowID: Int64 { Int64(index) }

  override func give(column: Int, to result: ColumnResult) {
    if column == 0 {
      result.set(id)
    } else if column == 1 {
      result.set(markedID == id ? 0 : 1)
    }
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
