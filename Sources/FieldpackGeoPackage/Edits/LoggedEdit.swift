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
  package var time: Instant?
  /// When the receiver said that it has the edit.
  package var sent: Instant?
  /// When the edit came from elsewhere; `nil` for one that was made in this file.
  package var received: Instant?
  /// The UUID of the edit; `nil` for a state.
  package var id: String?
  package var author: String?
  package var device: String?
}

extension EditLog {
  /// Edits in their order.
  ///
  /// - Parameter condition: in SQL, of columns of ``LogShape``.
  private func edits(
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
    func instant(_ index: Int) -> Instant? { row[index].textValue.flatMap { Instant($0) } }
    return LoggedEdit(
      number: number, feature: feature, operation: operation, values: Array(row[9...]),
      time: instant(2), sent: instant(3), received: instant(4), id: row[5].textValue,
      author: row[6].textValue, device: row[7].textValue)
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
    try edits(
      where: "\(shape.feature) = ? AND \(shape.own(.number)) < ?",
      [.integer(feature), .integer(number)], limit: 1, newestFirst: true
    ).first
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

  /// How many edits there are.
  package func count() throws(FieldpackError) -> Int {
    let count = try file.integer(
      "SELECT count(*) FROM \(quoted(shape.log)) WHERE \(shape.own(.operation)) <> 0")
    return Int(clamping: count ?? 0)
  }

  /// The number of the last edit; 0 where there is none.
  package func head() throws(FieldpackError) -> Int64 {
    try file.integer("SELECT max(\(shape.own(.number))) FROM \(quoted(shape.log))") ?? 0
  }

  /// The columns whose values an edit changed, of those that the log has, without the id.
  package func changedColumns(_ edit: LoggedEdit) throws(FieldpackError) -> [Int] {
    guard edit.operation == .update, let before = try last(of: edit.feature, before: edit.number)
    else { return valueColumns }
    // A feature that came back under this id has nothing to do with the one that had it before.
    if before.operation == .delete, try isStart(edit) { return valueColumns }
    return valueColumns.filter { !before.values[$0].isIdentical(to: edit.values[$0]) }
  }

  /// Whether the table of identities has an entry that begins with this edit.
  private func isStart(_ edit: LoggedEdit) throws(FieldpackError) -> Bool {
    try file.integer(
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

  // MARK: Identities

  /// What a feature is called in all copies of the file: the UUID of its insertion, else the origin of
  /// the log and the id.
  ///
  /// - Parameter number: the edit at whose time the feature had the id. Ids are used again.
  package func identity(
    of feature: Int64, at number: Int64 = .max
  ) throws(FieldpackError) -> String {
    let inserted = try file.rows(
      "SELECT \(shape.own(.number)), \(shape.own(.edit)) FROM \(quoted(shape.log)) "
        + "WHERE \(shape.feature) = ? AND \(shape.own(.number)) <= ? AND \(shape.own(.operation)) = 1 "
        + "ORDER BY \(shape.own(.number)) DESC LIMIT 1", [.integer(feature), .integer(number)]
    ).first
    let told = try file.rows(
      "SELECT since, identity FROM \(LogTables.identities) WHERE table_name = ? AND feature = ? "
        + "AND since <= ? ORDER BY since DESC LIMIT 1",
      [.text(shape.table), .integer(feature), .integer(number)]
    ).first
    let rows = [inserted, told].compactMap { row -> (Int64, String)? in
      guard let row, let since = row[0].integerValue, let name = row[1].textValue else {
        return nil
      }
      return (since, name)
    }
    return rows.max { $0.0 < $1.0 }?.1 ?? "\(origin):\(feature)"
  }

  /// The id of a feature in this file, and the range of edits for which the feature has the id.
  package struct Place: Hashable, Sendable {
    package var feature: Int64
    /// The first edit that the id is for.
    package var start: Int64
    /// The edit with which another feature got the id; the largest number where none has.
    package var end: Int64
    /// Whether the feature still has the id, there or deleted.
    package var isCurrent: Bool { end == .max }
  }

  /// Where a feature is, or was last, in this file; `nil` where it never was here.
  package func place(of identity: String) throws(FieldpackError) -> Place? {
    let told = try file.rows(
      "SELECT feature, since FROM \(LogTables.identities) WHERE table_name = ? AND identity = ? "
        + "ORDER BY since DESC LIMIT 1", [.text(shape.table), .text(identity)]
    ).first
    if let told, let feature = told[0].integerValue, let since = told[1].integerValue {
      return try place(feature, since)
    }
    if let edit = try edit(identity), edit.operation == .insert {
      return try place(edit.feature, edit.number)
    }
    guard let number = identity.split(separator: ":").last.flatMap({ Int64($0) }),
      identity == "\(origin):\(number)"
    else { return nil }
    return try place(number, 0)
  }

  private func place(_ feature: Int64, _ start: Int64) throws(FieldpackError) -> Place {
    let inserted = try file.integer(
      "SELECT min(\(shape.own(.number))) FROM \(quoted(shape.log)) WHERE \(shape.feature) = ? "
        + "AND \(shape.own(.number)) > ? AND \(shape.own(.operation)) = 1",
      [.integer(feature), .integer(start)])
    let told = try file.integer(
      "SELECT min(since) FROM \(LogTables.identities) WHERE table_name = ? AND feature = ? "
        + "AND since > ?", [.text(shape.table), .integer(feature), .integer(start)])
    return Place(feature: feature, start: start, end: min(inserted ?? .max, told ?? .max))
  }

  /// The edits of a feature after one, in order.
  package func history(
    of place: Place, after number: Int64
  ) throws(FieldpackError) -> [LoggedEdit] {
    try edits(
      where: "\(shape.feature) = ? AND \(shape.own(.number)) > ? AND \(shape.own(.number)) >= ? "
        + "AND \(shape.own(.number)) < ?",
      [.integer(place.feature), .integer(number), .integer(place.start), .integer(place.end)])
  }

  /// Writes what a feature is called, from an edit on.
  package func setIdentity(
    _ identity: String, of feature: Int64, since number: Int64
  ) throws(FieldpackError) {
    try file.execute(
      "INSERT OR REPLACE INTO \(LogTables.identities) (table_name, feature, since, identity) "
        + "VALUES (?, ?, ?, ?)",
      [.text(shape.table), .integer(feature), .integer(number), .text(identity)])
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
