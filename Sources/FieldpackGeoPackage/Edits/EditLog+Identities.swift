package import FieldpackCore
import FieldpackSQLite

/// What features are called in all copies of a file, and where they are in this one.
extension EditLog {
  /// What a feature is called in all copies of the file: the UUID of its insertion, else the origin of
  /// the log and the id.
  ///
  /// - Parameter number: the edit at whose time the feature had the id. Ids are used again.
  package func identity(
    of feature: Int64, at number: Int64 = .max
  ) throws(FieldpackError) -> String {
    let inserted = try statements.row(
      .identity, [.integer(feature), .integer(number)],
      "SELECT \(shape.own(.number)), \(shape.own(.edit)) FROM \(quoted(shape.log)) "
        + "WHERE \(shape.feature) = ? AND \(shape.own(.number)) <= ? AND \(shape.own(.operation)) = 1 "
        + "ORDER BY \(shape.own(.number)) DESC LIMIT 1")
    let told =
      try hasIdentities()
      ? statements.row(
        .identityTold, [.text(shape.table), .integer(feature), .integer(number)],
        "SELECT since, identity FROM \(LogTables.identities) WHERE table_name = ? AND feature = ? "
          + "AND since <= ? ORDER BY since DESC LIMIT 1") : nil
    let rows = [inserted, told].compactMap { row -> (Int64, String)? in
      guard let row, let since = row[0].integerValue, let name = row[1].textValue else {
        return nil
      }
      return (since, name)
    }
    return rows.max { $0.0 < $1.0 }?.1 ?? "\(origin):\(feature)"
  }

  /// What the feature of an edit is called.
  package func identity(of edit: LoggedEdit) throws(FieldpackError) -> String {
    if edit.operation == .insert, let id = edit.id, try !hasIdentities() { return id }
    return try identity(of: edit.feature, at: edit.number)
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

    package init(feature: Int64, start: Int64, end: Int64) {
      (self.feature, self.start, self.end) = (feature, start, end)
    }
  }

  /// Where a feature is, or was last, in this file; `nil` where it never was here.
  package func place(of identity: String) throws(FieldpackError) -> Place? {
    let told =
      try hasIdentities()
      ? statements.row(
        .placeTold, [.text(shape.table), .text(identity)],
        "SELECT feature, since FROM \(LogTables.identities) WHERE table_name = ? AND identity = ? "
          + "ORDER BY since DESC LIMIT 1") : nil
    var start = told
    if start == nil {
      start = try statements.row(
        .insertion, [.text(identity)],
        "SELECT \(shape.feature), \(shape.own(.number)) FROM \(quoted(shape.log)) "
          + "WHERE \(shape.own(.edit)) = ? AND \(shape.own(.operation)) = 1")
    }
    if let start, let feature = start[0].integerValue, let number = start[1].integerValue {
      return try place(feature, number)
    }
    guard let colon = identity.utf8.lastIndex(of: UInt8(ascii: ":")),
      let number = Int64(identity[identity.utf8.index(after: colon)...]),
      identity == "\(origin):\(number)"
    else { return nil }
    return try place(number, 0)
  }

  private func place(_ feature: Int64, _ start: Int64) throws(FieldpackError) -> Place {
    let inserted = try statements.integer(
      .end, [.integer(feature), .integer(start)],
      "SELECT min(\(shape.own(.number))) FROM \(quoted(shape.log)) WHERE \(shape.feature) = ? "
        + "AND \(shape.own(.number)) > ? AND \(shape.own(.operation)) = 1")
    let told =
      try hasIdentities()
      ? statements.integer(
        .endTold, [.text(shape.table), .integer(feature), .integer(start)],
        "SELECT min(since) FROM \(LogTables.identities) WHERE table_name = ? AND feature = ? "
          + "AND since > ?") : nil
    return Place(feature: feature, start: start, end: min(inserted ?? .max, told ?? .max))
  }

  /// The numbers and UUIDs of the edits of a feature after one, in order, without deletions and states.
  package func changes(
    of place: Place, after number: Int64
  ) throws(FieldpackError) -> [(number: Int64, id: String)] {
    let statement = try statements(
      .changes, [max(number, place.start - 1), place.end, place.feature].map(SQLiteValue.integer),
      "SELECT \(shape.own(.number)), \(shape.own(.edit)) FROM \(quoted(shape.log)) "
        + "WHERE \(shape.own(.number)) > ? AND \(shape.own(.number)) < ? AND \(shape.feature) = ? "
        + "AND \(shape.own(.operation)) IN (1, 2) ORDER BY \(shape.own(.number))")
    defer { statement.reset() }
    var found: [(Int64, String)] = []
    while try statement.step() {
      if let id = statement.row.string(1) { found.append((statement.row.integer(0), id)) }
    }
    return found
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

  /// Whether the table of identities has any of this log. Most files have none, and it is looked up once.
  func hasIdentities() throws(FieldpackError) -> Bool {
    if let known = knownIdentities { return known }
    let found = try file.integer(
      "SELECT 1 FROM \(LogTables.identities) WHERE table_name = ? LIMIT 1", [.text(shape.table)])
    knownIdentities = found != nil
    return found != nil
  }

  /// Writes what a feature is called, from an edit on.
  package func setIdentity(
    _ identity: String, of feature: Int64, since number: Int64
  ) throws(FieldpackError) {
    knownIdentities = true
    try file.execute(
      "INSERT OR REPLACE INTO \(LogTables.identities) (table_name, feature, since, identity) "
        + "VALUES (?, ?, ?, ?)",
      [.text(shape.table), .integer(feature), .integer(number), .text(identity)])
  }
}
