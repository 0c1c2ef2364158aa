public import FieldpackCore
import FieldpackGeometry
package import FieldpackSQLite

/// The change logs of a file, in a transaction.
extension GeoPackageWriter {
  /// Begins to log the edits of a layer in a table `<layer>_audit`, by triggers that every program fires.
  ///
  /// A log of SpatialConnect or GeoGig is upgraded, and one whose layer another program has changed is
  /// mended. A layer that is logged stays as it is. ``OpeningProfile/editor`` says who edits.
  /// - Throws: `.unsupported` for a view; `.cannotCreate` where another table has the log's name.
  public func enableLog(of layer: LayerID) throws(FieldpackError) {
    try logEdits(of: layer)
  }

  /// As ``enableLog(of:)``.
  @discardableResult
  package func logEdits(of layer: LayerID) throws(FieldpackError) -> EditLog {
    let table = try table(layer)
    return try whole { () throws(FieldpackError) in try EditLog.enable(table, in: file) }
  }

  /// Ends the log of a layer that ``enableLog(of:)`` began, and removes the edits in it.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  public func removeLog(of layer: LayerID) throws(FieldpackError) -> Bool {
    let table = try table(layer).table
    guard let log = try EditLog(of: table, in: file) else { return false }
    try whole { () throws(FieldpackError) in try log.remove() }
    return true
  }

  // MARK: Edits of others

  /// What an edit that came from elsewhere says of itself.
  package struct Origin: Sendable {
    package var id: String
    package var author: String?
    package var device: String?
    package var time: Instant?
    /// Whether the receiver has the edit, because it came from there.
    package var isSent: Bool
    package var received: Instant

    package init(
      id: String, author: String?, device: String?, time: Instant?, isSent: Bool, received: Instant
    ) {
      (self.id, self.author, self.device, self.time) = (id, author, device, time)
      (self.isSent, self.received) = (isSent, received)
    }
  }

  /// Inserts a row as it came from elsewhere, and logs it as the edit that it was there.
  ///
  /// - Parameters:
  ///   - values: for ``EditLog/columns``; the id among them is left out.
  ///   - feature: the id that the row should have; `nil` lets SQLite choose it.
  ///   - isRevived: whether the feature was deleted before. The log says then that it is updated.
  /// - Returns: the id, and the number of the edit in the log.
  package func insert(
    _ values: [SQLiteValue], in log: EditLog, feature: Int64? = nil, isRevived: Bool = false,
    from origin: Origin
  ) throws(FieldpackError) -> (feature: Int64, number: Int64) {
    let id = try insertRow(values, in: log, feature: feature)
    return (id, try stamp(id, in: log, from: origin, isRevived ? .update : .insert))
  }

  /// Inserts a feature again that was deleted, under its old id where that is free.
  package func revive(
    _ identity: String, _ values: [SQLiteValue], in log: EditLog, at place: EditLog.Place?,
    from origin: Origin
  ) throws(FieldpackError) -> (feature: Int64, number: Int64) {
    if let place, place.isCurrent {
      return try insert(values, in: log, feature: place.feature, isRevived: true, from: origin)
    }
    let made = try insert(values, in: log, isRevived: true, from: origin)
    try log.setIdentity(identity, of: made.feature, since: made.number)
    return made
  }

  private func insertRow(
    _ values: [SQLiteValue], in log: EditLog, feature: Int64?
  ) throws(FieldpackError) -> Int64 {
    let table = try writable(log.layer)
    var names: [String] = []
    var bound: [SQLiteValue] = []
    for index in log.columns.indices where !log.isID(index) {
      names.append(quoted(log.columns[index]))
      bound.append(values[index])
    }
    if let feature {
      names.append(table.idExpression)
      bound.append(.integer(feature))
    }
    let marks = names.map { _ in "?" }.sqlList
    let rest = names.isEmpty ? "DEFAULT VALUES" : "(\(names.sqlList)) VALUES (\(marks))"
    let id = try file.changeRow(
      "INSERT INTO \(quoted(table.table)) \(rest)", bound, of: table,
      feature: feature.map { .integer($0) })
    grow(table, envelope(of: values, table, log))
    note(.created, id, table)
    return id
  }

  /// Updates columns of a row as they came from elsewhere.
  ///
  /// - Parameter columns: their positions in ``EditLog/columns``.
  /// - Returns: the number of the edit in the log.
  package func update(
    _ feature: Int64, _ columns: [Int], of values: [SQLiteValue], in log: EditLog,
    from origin: Origin
  ) throws(FieldpackError) -> Int64 {
    try updateRow(feature, columns, of: values, in: log)
    return try stamp(feature, in: log, from: origin)
  }

  private func updateRow(
    _ feature: Int64, _ columns: [Int], of values: [SQLiteValue], in log: EditLog
  ) throws(FieldpackError) {
    let table = try writable(log.layer)
    try noteShrinking(table, .integer(feature))
    let assignments = columns.map { "\(quoted(log.columns[$0])) = ?" }.sqlList
    try file.changeRow(
      "UPDATE \(quoted(table.table)) SET \(assignments) WHERE \(table.idExpression) = ?",
      columns.map { values[$0] } + [.integer(feature)], of: table, feature: .integer(feature))
    grow(table, envelope(of: values, table, log))
    note(.updated, feature, table)
  }

  /// Deletes a row as it was deleted elsewhere.
  ///
  /// - Returns: the number of the edit in the log.
  package func delete(
    _ feature: Int64, in log: EditLog, from origin: Origin
  ) throws(FieldpackError) -> Int64 {
    try delete(.integer(feature), in: log.layer)
    return try stamp(feature, in: log, from: origin)
  }

  private func envelope(
    of values: [SQLiteValue], _ table: LayerTable, _ log: EditLog
  ) -> Envelope? {
    guard let geometry = table.schema.geometry,
      let index = log.columns.firstIndex(where: { SQLName($0) == SQLName(geometry.name) }),
      case .blob(let blob) = values[index]
    else { return nil }
    return (try? GeoPackageBinary.envelope(of: blob.span.bytes)) ?? nil
  }

  /// Makes the last edit of a feature in the log the one that it was elsewhere.
  private func stamp(
    _ feature: Int64, in log: EditLog, from origin: Origin,
    _ operation: LoggedEdit.Operation? = nil
  ) throws(FieldpackError) -> Int64 {
    let shape = log.shape
    guard let edit = try log.last(of: feature), edit.received == nil else {
      throw FieldpackError(
        .constraint, "an edit of feature \(feature) was not logged", advice: .checkFile,
        location: .init(store: file.store, layer: log.layer, feature: .integer(feature)))
    }
    let now = origin.received.description
    try file.execute(
      "UPDATE \(quoted(shape.log)) SET \(shape.own(.edit)) = ?, \(shape.own(.author)) = ?, "
        + "\(shape.own(.device)) = ?, \(shape.own(.time)) = ?, \(shape.own(.received)) = ?, "
        + "\(shape.own(.sent)) = ?, \(shape.own(.operation)) = ? WHERE \(shape.own(.number)) = ?",
      [
        .text(origin.id), origin.author.map(SQLiteValue.text) ?? .null,
        origin.device.map(SQLiteValue.text) ?? .null,
        origin.time.map { .text($0.description) } ?? .null, .text(now),
        origin.isSent ? .text(now) : .null, .integer((operation ?? edit.operation).rawValue),
        .integer(edit.number),
      ])
    return edit.number
  }

  // MARK: What is sent

  /// Notes that the receiver has edits.
  package func markSent(
    _ numbers: [Int64], in log: EditLog, at time: Instant
  ) throws(FieldpackError) {
    let shape = log.shape
    for number in numbers {
      try file.execute(
        "UPDATE \(quoted(shape.log)) SET \(shape.own(.sent)) = ? WHERE \(shape.own(.number)) = ?",
        [.text(time.description), .integer(number)])
    }
  }

  // MARK: Taking back

  /// Takes the last edit of a feature back, as a new edit.
  ///
  /// - Returns: the id of the feature that is there again, or is changed; `nil` where it is gone.
  /// - Throws: `.notFound` where the log has no edit of the feature, `.unsupported` where the log does
  ///   not hold what was there before.
  package func undo(_ feature: Int64, in log: EditLog) throws(FieldpackError) -> Int64? {
    func refused(_ code: FieldpackError.Code, _ what: String) -> FieldpackError {
      FieldpackError(
        code, "feature \(feature) of layer '\(log.layer)' \(what)",
        location: .init(store: file.store, layer: log.layer, feature: .integer(feature)))
    }
    guard let edit = try log.last(of: feature), edit.operation != .state else {
      throw refused(.notFound, "has no edit in the change log")
    }
    if edit.operation == .insert {
      try delete(.integer(feature), in: log.layer)
      return nil
    }
    let before = edit.operation == .delete ? edit : try log.last(of: feature, before: edit.number)
    guard let before else {
      throw refused(.unsupported, "is not in the change log as it was before its last edit")
    }
    if edit.operation == .update, before.operation == .delete {
      // The deletion was taken back.
      try delete(.integer(feature), in: log.layer)
      return nil
    }
    if edit.operation == .update {
      let columns = log.columns.indices.filter { !log.isID($0) }
      try updateRow(feature, Array(columns), of: before.values, in: log)
    } else {
      guard !log.lacksContent else {
        throw refused(.unsupported, "had content that the change log does not hold")
      }
      _ = try insertRow(before.values, in: log, feature: feature)
      // It is the feature that it was, and no new one.
      let shape = log.shape
      try file.execute(
        "UPDATE \(quoted(shape.log)) SET \(shape.own(.operation)) = 2 "
          + "WHERE \(shape.own(.number)) = ?", [.integer(try log.head())])
    }
    return feature
  }
}

extension GeoPackageSnapshot {
  /// The values of a row for the columns of its log; `nil` where there is no such row.
  package func row(_ feature: Int64, of log: EditLog) throws(FieldpackError) -> [SQLiteValue]? {
    let (columns, id) = (log.columns.map { quoted($0) }.sqlList, quoted(log.shape.id))
    return try file.rows(
      "SELECT \(columns) FROM \(quoted(log.shape.table)) WHERE \(id) = ?", [.integer(feature)]
    ).first
  }

  /// The log of a layer; `nil` where its edits are not logged, or not yet by this version.
  package func editLog(of layer: LayerID) throws(FieldpackError) -> EditLog? {
    guard let table = try file.catalogue().layer(layer) else { return nil }
    return try EditLog(of: table.table, in: file)
  }

  /// The layers whose edits are logged.
  package func loggedLayers() throws(FieldpackError) -> [LayerID] {
    let names = try LogTables(file: file).names().map { SQLName($0) }
    return try file.catalogue().layers.filter { names.contains(SQLName($0.table)) }.map(\.layer.id)
  }
}
