import CSQLite

/// What a statement asks of a virtual table: constraints to choose from, an order, and columns.
///
/// ``VirtualCursor/begin(plan:_:)`` gets the values of the constraints that are taken, in the order
/// of taking.
public struct IndexRequest {
  public enum Operation: Hashable, Sendable {
    case equal, less, lessOrEqual, greater, greaterOrEqual
    /// The operator `IS`, for which NULL equals NULL.
    case same
    case isNull, isNotNull
    /// The function with this index, the `index` of ``FunctionOverload``, with the column as first
    /// argument.
    case function(Int)
    case other(Int32)
  }

  public struct Constraint {
    let index: Int
    /// The index of the column; -1 is the rowid.
    public let column: Int
    public let operation: Operation
    /// Whether the constraint's value is known under the plan that SQLite considers.
    public let isUsable: Bool
  }

  private let information: UnsafeMutablePointer<sqlite3_index_info>
  private var taken: Int32 = 0
  public let constraints: [Constraint]

  init(_ information: UnsafeMutablePointer<sqlite3_index_info>) {
    self.information = information
    let all = UnsafeBufferPointer(
      start: information.pointee.aConstraint, count: Int(information.pointee.nConstraint))
    constraints = all.enumerated().map { index, constraint in
      Constraint(
        index: index, column: Int(constraint.iColumn), operation: Operation(constraint.op),
        isUsable: constraint.usable != 0)
    }
  }

  /// Takes a constraint, whose value the cursor then gets.
  /// - Parameter isExact: whether every row given satisfies the constraint, so that SQLite need not
  ///   test it again.
  public mutating func take(_ constraint: Constraint, isExact: Bool) {
    taken += 1
    information.pointee.aConstraintUsage[constraint.index].argvIndex = taken
    information.pointee.aConstraintUsage[constraint.index].omit = isExact ? 1 : 0
  }

  /// The collation by which a constraint compares texts.
  public func collation(of constraint: Constraint) -> String {
    sqlite3_vtab_collation(information, Int32(constraint.index)).map { String(cString: $0) }
      ?? "BINARY"
  }

  /// The columns by which the statement wants its rows ordered.
  public var order: [(column: Int, isDescending: Bool)] {
    UnsafeBufferPointer(
      start: information.pointee.aOrderBy, count: Int(information.pointee.nOrderBy)
    ).map { (Int($0.iColumn), $0.desc != 0) }
  }

  /// Whether the statement reads a column; all columns from the 64th on share one answer.
  public func reads(column: Int) -> Bool {
    information.pointee.colUsed & (1 << UInt64(min(max(0, column), 63))) != 0
  }

  /// The number of the plan, which the cursor gets.
  public var plan: Int {
    get { Int(information.pointee.idxNum) }
    nonmutating set { information.pointee.idxNum = Int32(clamping: newValue) }
  }

  /// Sets the text that `EXPLAIN QUERY PLAN` shows for the plan.
  public func describe(_ text: String) {
    guard information.pointee.needToFreeIdxStr == 0 else { return }
    information.pointee.idxStr = copyForSQLite(text)
    information.pointee.needToFreeIdxStr = 1
  }

  /// States that the rows come in the order asked for.
  public func setOrdered() { information.pointee.orderByConsumed = 1 }

  /// - Parameter isUnique: whether there is at most one row.
  public func estimate(cost: Double, rows: Double, isUnique: Bool = false) {
    information.pointee.estimatedCost = cost
    information.pointee.estimatedRows = Int64(max(1, min(rows, 1e15)))
    if isUnique { information.pointee.idxFlags |= SQLITE_INDEX_SCAN_UNIQUE }
  }
}

extension IndexRequest.Operation {
  init(_ code: UInt8) {
    switch Int32(code) {
    case SQLITE_INDEX_CONSTRAINT_EQ: self = .equal
    case SQLITE_INDEX_CONSTRAINT_IS: self = .same
    case SQLITE_INDEX_CONSTRAINT_LT: self = .less
    case SQLITE_INDEX_CONSTRAINT_LE: self = .lessOrEqual
    case SQLITE_INDEX_CONSTRAINT_GT: self = .greater
    case SQLITE_INDEX_CONSTRAINT_GE: self = .greaterOrEqual
    case SQLITE_INDEX_CONSTRAINT_ISNULL: self = .isNull
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL: self = .isNotNull
    case SQLITE_INDEX_CONSTRAINT_FUNCTION...255:
      self = .function(Int(code) - Int(SQLITE_INDEX_CONSTRAINT_FUNCTION))
    default: self = .other(Int32(code))
    }
  }
}

/// A copy of a text in memory that SQLite frees.
func copyForSQLite(_ text: String) -> UnsafeMutablePointer<CChar>? {
  let bytes = Array(text.utf8CString)
  let copy = sqlite3_malloc64(UInt64(bytes.count))
  copy?.copyMemory(from: bytes, byteCount: bytes.count)
  return copy?.assumingMemoryBound(to: CChar.self)
}
