package import FieldpackCore
package import FieldpackSQLite

/// One row of a change log.
package struct LoggedEdit: Hashable, Sendable {
  package enum Operation: Int64, Hashable, Sendable, CaseIterable {
    /// The row as it was before its first edit; it is nobody's edit.
    case state = 0
    case insert = 1
    case update = 2
    case delete = 3
  }

  /// The number of the edit in its log, which grows.
  package var number: Int64
  /// The id of the row.
  package var feature: Int64
  package var operation: Operation
  /// The row as the edit left it, or of a deletion as it was before, for the columns of the log.
  package var values: [SQLiteValue]
  package var time: Instant? { times.made.flatMap { Instant($0) } }
  /// When the receiver said that it has the edit.
  package var sent: Instant? { times.sent.flatMap { Instant($0) } }
  /// When the edit came from elsewhere; `nil` for one that was made in this file.
  package var received: Instant? { times.received.flatMap { Instant($0) } }
  /// The UUID of the edit; `nil` for a state.
  package var id: String?
  package var author: String?
  package var device: String?
  /// The times as texts of the file. Few callers need the times, and to parse them costs more than to
  /// read the row.
  fileprivate var times: Times

  fileprivate struct Times: Hashable, Sendable {
    var made, sent, received: String?
  }
}

extension EditLog {
  /// Edits in their order.
  ///
  /// - Parameter condition: in SQL, of columns of ``LogShape``.
  func edits(
    where condition: String, _ values: [SQLiteValue], limit: Int? = nil, newestFirst: Bool = false,
    withValues: Bool = true
  ) throws(FieldpackError) -> [LoggedEdit] {
    let statement = try file.prepare(
      "SELECT \(withValues ? selection : ownSelection) FROM \(quoted(shape.log)) WHERE \(condition) "
        + "ORDER BY \(shape.own(.number))\(newestFirst ? " DESC" : "") LIMIT ?",
      values + [.integer(Int64(limit ?? -1))], in: layer)
    defer { statement.reset() }
    var edits: [LoggedEdit] = []
    while try statement.step() {
      if let edit = Self.edit(statement.row.values) { edits.append(edit) }
    }
    return edits
  }

  private static func edit(_ row: [SQLiteValue]) -> LoggedEdit? {
    guard let number = row[0].integerValue, let feature = row[8].integerValue,
      let operation = row[1].integerValue.flatMap(LoggedEdit.Operation.init)
    else { return nil }
    return LoggedEdit(
      number: number, feature: feature, operation: operation, values: Array(row[9...]),
      id: row[5].textValue, author: row[6].textValue, device: row[7].textValue,
      times: .init(
        made: row[2].textValue, sent: row[3].textValue, received: row[4].textValue))
  }

  /// The edits that are not sent, in their order; the index of those that are pending finds them.
  package func pending(
    after number: Int64 = 0, limit: Int
  ) throws(FieldpackError) -> [LoggedEdit] {
    try edits(
      where: "\(shape.own(.sent)) IS NULL AND \(shape.own(.number)) > ?", [.integer(number)],
      limit: limit)
  }

  /// The last edit that is not sent.
  package func lastPending() throws(FieldpackError) -> LoggedEdit? {
    try edits(where: "\(shape.own(.sent)) IS NULL", [], limit: 1, newestFirst: true).first
  }

  /// The edits after one, in their order.
  package func edits(
    after number: Int64, limit: Int
  ) throws(FieldpackError) -> [LoggedEdit] {
    try edits(where: "\(shape.own(.number)) > ?", [.integer(number)], limit: limit)
  }

  /// Which edits are listed.
  package struct Selection: Sendable {
    /// Only those that are not sent.
    package var isPending = false
    package var since: Instant?
    package var author: String?

    package init() {}
  }

  /// Chosen edits after one, in their order and without the values of the row. States are left out.
  package func edits(
    _ chosen: Selection, after number: Int64, limit: Int
  ) throws(FieldpackError) -> [LoggedEdit] {
    var conditions = ["\(shape.own(.number)) > ?", "\(shape.own(.operation)) <> 0"]
    var values: [SQLiteValue] = [.integer(number)]
    if chosen.isPending { conditions.append("\(shape.own(.sent)) IS NULL") }
    if let since = chosen.since {
      // Other programs write times in other forms.
      conditions.append("julianday(\(shape.own(.time))) >= julianday(?)")
      values.append(.text(since.description))
    }
    if let author = chosen.author {
      conditions.append("\(shape.own(.author)) = ?")
      values.append(.text(author))
    }
    return try edits(
      where: conditions.joined(separator: " AND "), values, limit: limit, withValues: false)
  }

  /// All that the log has of a feature, in order, from the edit of that number on.
  package func history(
    of feature: Int64, after number: Int64 = 0
  ) throws(FieldpackError) -> [LoggedEdit] {
    try edits(
      where: "\(shape.feature) = ? AND \(shape.own(.number)) > ?",
      [.integer(feature), .integer(number)])
  }

  /// The last edit of a feature, or the last before the edit of that number.
  package func last(
    of feature: Int64, before number: Int64 = .max
  ) throws(FieldpackError) -> LoggedEdit? {
    try statements.row(
      .last, [.integer(feature), .integer(number)],
      "SELECT \(selection) FROM \(quoted(shape.log)) WHERE \(shape.feature) = ? "
        + "AND \(shape.own(.number)) < ? ORDER BY \(shape.own(.number)) DESC LIMIT 1"
    ).flatMap(Self.edit)
  }

  /// The last edit up to that number, which is no state.
  package func last(upTo number: Int64) throws(FieldpackError) -> LoggedEdit? {
    try edits(
      where: "\(shape.own(.number)) <= ? AND \(shape.own(.operation)) > 0", [.integer(number)],
      limit: 1, newestFirst: true
    ).first
  }

  /// The edit of that UUID.
  package func edit(_ id: String) throws(FieldpackError) -> LoggedEdit? {
    try edits(where: "\(shape.own(.edit)) = ?", [.text(id)], limit: 1).first
  }

  /// The number of the edit of that UUID; `nil` where the log does not have it.
  package func number(of id: String) throws(FieldpackError) -> Int64? {
    try statements.integer(
      .number, [.text(id)],
      "SELECT \(shape.own(.number)) FROM \(quoted(shape.log)) WHERE \(shape.own(.edit)) = ? "
        + "ORDER BY \(shape.own(.number)) LIMIT 1")
  }

  /// How many edits there are.
  package func count() throws(FieldpackError) -> Int {
    let count = try file.integer(
      "SELECT count(*) FROM \(quoted(shape.log)) WHERE \(shape.own(.operation)) <> 0")
    return Int(clamping: count ?? 0)
  }

  /// Whether an edit after one has left a row without a value in a column of the table.
  func leavesNull(in column: String, after number: Int64) throws(FieldpackError) -> Bool {
    let found = try file.integer(
      "SELECT 1 FROM \(quoted(shape.log)) WHERE \(shape.own(.number)) > ? "
        + "AND \(shape.own(.operation)) <> 3 AND \(quoted(column)) ISNULL LIMIT 1",
      [.integer(number)])
    return found != nil
  }

  /// The number of the last edit; 0 where there is none.
  package func head() throws(FieldpackError) -> Int64 {
    try statements.integer(
      .head, [], "SELECT max(\(shape.own(.number))) FROM \(quoted(shape.log))") ?? 0
  }

  /// The columns whose values an edit changed, of those that the log has, without the id.
  package func changedColumns(_ edit: LoggedEdit) throws(FieldpackError) -> [Int] {
    guard edit.operation == .update else { return valueColumns }
    return try changedColumns(edit, after: last(of: edit.feature, before: edit.number))
  }

  /// The same, with the last edit of the feature before it.
  package func changedColumns(
    _ edit: LoggedEdit, after before: LoggedEdit?
  ) throws(FieldpackError) -> [Int] {
    guard edit.operation == .update, let before else { return valueColumns }
    // A feature that came back under this id has nothing to do with the one that had it before.
    if before.operation == .delete, try isStart(edit) { return valueColumns }
    return valueColumns.filter { !before.values[$0].isIdentical(to: edit.values[$0]) }
  }

  /// Whether the table of identities has an entry that begins with this edit.
  private func isStart(_ edit: LoggedEdit) throws(FieldpackError) -> Bool {
    guard try hasIdentities() else { return false }
    return try file.integer(
      "SELECT 1 FROM \(LogTables.identities) WHERE table_name = ? AND feature = ? AND since = ?",
      [.text(shape.table), .integer(edit.feature), .integer(edit.number)]) != nil
  }

  /// Notes that the receiver has all edits up to that number.
  package func markSent(upTo number: Int64, at time: Instant) throws(FieldpackError) {
    try file.execute(
      "UPDATE \(quoted(shape.log)) SET \(shape.own(.sent)) = ? WHERE \(shape.own(.sent)) IS NULL "
        + "AND \(shape.own(.number)) <= ? AND \(shape.own(.operation)) > 0",
      [.text(time.description), .integer(number)])
  }
}

extension SQLiteValue {
  /// Whether both are stored as the same bytes. Texts that look the same may differ in theirs.
  package func isIdentical(to other: SQLiteValue) -> Bool {
    if case .text(let a) = self, case .text(let b) = other {
      return a.utf8.elementsEqual(b.utf8)
    }
    return self == other
  }
}
