import CSQLite
import FieldpackThreads

/// The rules by which a connection borrows SpatiaLite's functions.
public struct LendingRules: Sendable {
  /// Whether SpatiaLite may be given a blob; a function with a refused blob answers NULL.
  public var admits: @Sendable (RawSpan) -> Bool
  /// The name of our function that replaces a function of SpatiaLite, where it takes as many
  /// arguments; both names are in lower case.
  public var substitute: @Sendable (String) -> String?
  /// The functions that are refused, by their names in lower case, with the reason.
  public var refused: [String: String]
  /// The longest text in bytes that a function may be given, by the function's name in lower case.
  public var longestText: @Sendable (String) -> Int
  /// The replacement of a blob that SpatiaLite answers; `nil` keeps the blob.
  public var converted: @Sendable (RawSpan) -> [UInt8]?

  public init(
    refused: [String: String], substitute: @escaping @Sendable (String) -> String?,
    longestText: @escaping @Sendable (String) -> Int,
    admits: @escaping @Sendable (RawSpan) -> Bool,
    converted: @escaping @Sendable (RawSpan) -> [UInt8]?
  ) {
    self.refused = refused
    self.substitute = substitute
    self.longestText = longestText
    self.admits = admits
    self.converted = converted
  }
}

/// The name of a function and its number of arguments.
struct FunctionSignature: Hashable {
  let name: String
  let argumentCount: Int
}

/// SpatiaLite on its own connection in memory, whose functions another connection calls.
///
/// SpatiaLite ends the process for some geometries that it does not expect, so arguments have to be
/// checked before its functions get them. SQLite offers no way to put a check before a registered
/// function, hence the second connection.
final class SpatiaLiteSandbox {
  struct LentFunction {
    let signature: FunctionSignature
    let flags: FunctionFlags
    let isAggregate: Bool
  }

  let rules: LendingRules
  private(set) var functions: [LentFunction] = []
  private let connection: Connection
  private let gate = Gate()
  private var statements: [FunctionSignature: Statement] = [:]

  init(_ rules: LendingRules) throws(SQLiteError) {
    self.rules = rules
    connection = try Connection(inMemory: .foreign)
    try connection.executeScript(Self.geoPackageTables)
    let before = Set(try connection.knownFunctions().map(\.signature))
    try connection.loadSpatiaLite()
    try connection.execute("CREATE TABLE gathered (\(Self.columns(Self.mostGathered)))")
    functions = try connection.knownFunctions().filter { !before.contains($0.signature) }
    let gate = gate
    connection.setAuthorizer(.custom { gate.permits($0) })
  }

  /// SpatiaLite accepts GeoPackage's geometries only in a database with these tables.
  private static let geoPackageTables = """
    CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY,
      organization TEXT, organization_coordsys_id INTEGER, definition TEXT, description TEXT);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT,
      geometry_type_name TEXT, srs_id INTEGER, z INTEGER, m INTEGER);
    """

  /// Calls a function with the arguments of `call`, and sets the result of `call` to its answer.
  func answer(_ signature: FunctionSignature, to call: FunctionContext) throws(SQLiteError) {
    let statement = try statement(
      of: signature,
      "SELECT \"\(signature.name)\"(\(Self.marks(signature.argumentCount)))")
    defer { statement.clearBindings() }
    for index in 0..<signature.argumentCount { try call.lend(index, to: statement) }
    try setAnswer(of: statement, to: call)
  }

  /// Calls an aggregate function with a group's rows of arguments.
  func answer(
    _ signature: FunctionSignature, over rows: [[SQLiteValue]], to call: FunctionContext
  ) throws(SQLiteError) {
    let columns = Self.columns(signature.argumentCount)
    let statement = try statement(
      of: signature, "SELECT \"\(signature.name)\"(\(columns)) FROM gathered")
    try gate.open { () throws(SQLiteError) in
      try connection.execute("DELETE FROM gathered")
      let insert = try connection.prepare(
        "INSERT INTO gathered (\(columns)) VALUES (\(Self.marks(signature.argumentCount)))",
        caching: false)
      for row in rows {
        try insert.bind(row)
        try insert.run()
      }
    }
    try setAnswer(of: statement, to: call)
    try gate.open { () throws(SQLiteError) in try connection.execute("DELETE FROM gathered") }
  }

  static let mostGathered = 8

  private static func columns(_ count: Int) -> String {
    (0..<count).map { "c\($0)" }.joined(separator: ",")
  }

  private static func marks(_ count: Int) -> String {
    Array(repeating: "?", count: count).joined(separator: ",")
  }

  private func statement(
    of signature: FunctionSignature, _ sql: @autoclosure () -> String
  ) throws(SQLiteError) -> Statement {
    if let known = statements[signature] { return known }
    let sql = sql()
    let made = try gate.open { () throws(SQLiteError) in
      try connection.prepare(sql, caching: false)
    }
    statements[signature] = made
    return made
  }

  private func setAnswer(of statement: Statement, to call: FunctionContext) throws(SQLiteError) {
    gate.close()
    defer { statement.reset() }
    let hasRow = try statement.step()
    guard !gate.hasRefused else {
      throw .misuse("it works on the database itself, which SpatiaLite is kept from here")
    }
    if hasRow { call.set(statement, by: rules) }
  }
}

/// Keeps SpatiaLite's functions from changing the database in which they run.
private final class Gate: Sendable {
  private let state = Locked((isOpen: false, isRefusing: false))

  var hasRefused: Bool { state.withLock { $0.isRefusing } }

  /// Allows all statements that `body` prepares.
  func open<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    state.withLock { $0.isOpen = true }
    defer { state.withLock { $0.isOpen = false } }
    return try body()
  }

  func close() { state.withLock { $0.isRefusing = false } }

  func permits(_ action: AuthorizedAction) -> Bool {
    state.withLock {
      if $0.isOpen || Self.isHarmless(action) { return true }
      $0.isRefusing = true
      return false
    }
  }

  /// Whether an action only finds out which reference systems there are.
  private static func isHarmless(_ action: AuthorizedAction) -> Bool {
    switch action.kind {
    case .select, .function: true
    case .read: action.first == "gathered" || action.first == "gpkg_spatial_ref_sys"
    case .pragma: action.first == "table_info"
    default: false
    }
  }
}

/// The rows of a group, kept until SpatiaLite is called for the answer.
private final class LentGroup: AggregateState {
  private let lender: SpatiaLiteSandbox
  private let signature: FunctionSignature
  private var rows: [[SQLiteValue]] = []

  init(_ lender: SpatiaLiteSandbox, _ signature: FunctionSignature) {
    self.lender = lender
    self.signature = signature
  }

  func add(_ row: FunctionContext) {
    do throws(SQLiteError) {
      guard try row.areAdmitted(to: signature.name, by: lender.rules) else { return }
      rows.append((0..<row.argumentCount).map { row.value($0) })
    } catch {
      row.setError("\(signature.name)(): \(error.message)")
    }
  }

  func finish(_ result: FunctionContext) {
    // SpatiaLite's own aggregates end the process for a group without rows.
    if rows.isEmpty { return }
    do throws(SQLiteError) {
      try lender.answer(signature, over: rows, to: result)
    } catch {
      result.setError("\(signature.name)(): \(error.message)")
    }
  }
}

extension Connection {
  /// Registers functions with SpatiaLite's names that call SpatiaLite on its own connection; later
  /// calls do nothing. Functions that this connection already has stay in force.
  public func borrowSpatiaLite(_ rules: LendingRules) throws(SQLiteError) {
    guard lender == nil else { return }
    let lender = try SpatiaLiteSandbox(rules)
    let known = try withoutAuthorizer { () throws(SQLiteError) in
      Set(try knownFunctions().map(\.signature))
    }
    var own: [FunctionSignature: Function] = [:]
    for function in functions {
      let count = Int(function.argumentCount)
      own[FunctionSignature(name: function.name.lowercased(), argumentCount: count)] = function
    }
    for lent in lender.functions where !known.contains(lent.signature) {
      let (name, count) = (lent.signature.name, lent.signature.argumentCount)
      let substitute = rules.substitute(name).flatMap {
        own[FunctionSignature(name: $0, argumentCount: count)]
      }
      try register(
        name, arguments: count, flags: substitute?.flags ?? lent.flags,
        substitute?.body ?? Self.body(of: lent, from: lender))
    }
    self.lender = lender
  }

  private static func body(
    of lent: SpatiaLiteSandbox.LentFunction, from lender: SpatiaLiteSandbox
  ) -> Function.Body {
    let signature = lent.signature
    if let reason = lender.rules.refused[signature.name] {
      return .scalar { $0.setError("\(signature.name)() is refused: \(reason)") }
    }
    if lent.isAggregate { return .aggregate { LentGroup(lender, signature) } }
    return .scalar { call in
      do throws(SQLiteError) {
        guard try call.areAdmitted(to: signature.name, by: lender.rules) else { return }
        try lender.answer(
          FunctionSignature(name: signature.name, argumentCount: call.argumentCount), to: call)
      } catch {
        call.setError("\(signature.name)(): \(error.message)")
      }
    }
  }

  fileprivate func knownFunctions() throws(SQLiteError) -> [SpatiaLiteSandbox.LentFunction] {
    let statement = try prepare(
      "SELECT DISTINCT lower(name), narg, flags, type FROM pragma_function_list", caching: false)
    var functions: [SpatiaLiteSandbox.LentFunction] = []
    while try statement.step() {
      let flags = FunctionFlags(rawValue: Int32(truncatingIfNeeded: statement.integer(2)))
      functions.append(
        SpatiaLiteSandbox.LentFunction(
          signature: FunctionSignature(
            name: statement.string(0) ?? "", argumentCount: Int(statement.integer(1))),
          flags: flags.intersection([.deterministic, .innocuous, .directOnly]),
          isAggregate: statement.string(3) != "s"))
    }
    return functions
  }
}

extension FunctionContext {
  fileprivate func areAdmitted(
    to name: String, by rules: LendingRules
  ) throws(SQLiteError) -> Bool {
    var areAdmitted = true
    for index in 0..<argumentCount {
      switch kind(index) {
      case .text:
        let most = rules.longestText(name)
        guard unsafeBytes(index).count <= most else {
          throw .misuse(
            "argument \(index + 1) has more than the \(most) bytes SpatiaLite can take")
        }
      case .blob: areAdmitted = areAdmitted && withBytes(index) { rules.admits($0) }
      default: break
      }
    }
    return areAdmitted
  }

  fileprivate func value(_ index: Int) -> SQLiteValue {
    switch kind(index) {
    case .null: .null
    case .integer: .integer(integer(index))
    case .real: .real(real(index))
    case .text: .text(string(index) ?? "")
    case .blob: .blob(blob(index) ?? [])
    }
  }

  /// Binds an argument. Text and blobs are not copied: their bytes stay valid until the call ends.
  fileprivate func lend(_ index: Int, to statement: Statement) throws(SQLiteError) {
    switch kind(index) {
    case .null: break
    case .integer: try statement.bind(integer(index), at: index + 1)
    case .real: try statement.bind(real(index), at: index + 1)
    case .text: try statement.bindUnowned(utf8: unsafeBytes(index), at: index + 1)
    case .blob: try statement.bindUnowned(unsafeBytes(index), at: index + 1)
    }
  }

  /// Answers the first column of the current row.
  fileprivate func set(_ row: Statement, by rules: LendingRules) {
    switch row.kind(0) {
    case .null: setNull()
    case .integer: set(row.integer(0))
    case .real: set(row.real(0))
    case .text: row.withBytes(0) { set(utf8: $0) }
    case .blob:
      row.withBytes(0) { blob in
        if let other = rules.converted(blob) { set(other) } else { set(blob) }
      }
    }
  }
}
