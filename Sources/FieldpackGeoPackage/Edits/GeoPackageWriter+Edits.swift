public import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
package import FieldpackSQLite

/// The change logs of a file, in a transaction.
extension GeoPackageWriter {
  /// Begins to log the edits of a layer in a table `<layer>_audit`, by triggers that every program fires.
  /// Its media are logged as well, and the links of its relations to logged layers.
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
    let table = try table(layer).table
    return try whole { () throws(FieldpackError) in
      let log = try EditLog.enable(table, in: file)
      try EditLog.enableRelations(of: table, in: file)
      return log
    }
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

  /// Inserts a row that came from elsewhere. The log gets the UUID, author, device and time that the edit
  /// has there.
  ///
  /// - Parameters:
  ///   - values: for ``EditLog/columns``; the id among them is left out.
  ///   - feature: the id that the row should have; `nil` lets SQLite choose it.
  ///   - content: of media, which the log leaves out.
  ///   - isRevived: whether the feature was deleted before. The log says then that it is updated.
  /// - Returns: the id, and the number of the edit in the log.
  package func insert(
    _ values: [SQLiteValue], in log: EditLog, feature: Int64? = nil, content: [UInt8]? = nil,
    isRevived: Bool = false, from origin: Origin
  ) throws(FieldpackError) -> (feature: Int64, number: Int64) {
    let id = try insertRow(values, in: log, feature: feature, content: content)
    return (id, try stamp(id, in: log, from: origin, isRevived ? .update : .insert))
  }

  /// Inserts a feature again that was deleted, under its old id where that is free.
  package func revive(
    _ identity: String, _ values: [SQLiteValue], in log: EditLog, at place: EditLog.Place?,
    content: [UInt8]? = nil, from origin: Origin
  ) throws(FieldpackError) -> (feature: Int64, number: Int64) {
    if let place, place.isCurrent {
      return try insert(
        values, in: log, feature: place.feature, content: content, isRevived: true, from: origin)
    }
    let made = try insert(values, in: log, content: content, isRevived: true, from: origin)
    try log.setIdentity(identity, of: made.feature, since: made.number)
    return made
  }

  private func insertRow(
    _ values: [SQLiteValue], in log: EditLog, feature: Int64?, content: [UInt8]? = nil
  ) throws(FieldpackError) -> Int64 {
    let table = try target(of: log)
    func text() -> String {
      var names = log.valueColumns.map { quoted(log.columns[$0]) }
      if content != nil { names.append(quoted(MediaColumns.data)) }
      if feature != nil { names.append(table.idExpression) }
      let marks = names.map { _ in "?" }.sqlList
      let rest = names.isEmpty ? "DEFAULT VALUES" : "(\(names.sqlList)) VALUES (\(marks))"
      return "INSERT INTO \(quoted(table.table)) \(rest)"
    }
    var bound = log.valueColumns.map { values[$0] }
    if let content { bound.append(.blob(content)) }
    if let feature { bound.append(.integer(feature)) }
    let statement = try log.statements(
      .insert(withContent: content != nil, withID: feature != nil), bound, text())
    let id = try file.changeRow(statement, of: table, feature: feature.map { .integer($0) })
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
    content: [UInt8]? = nil, from origin: Origin
  ) throws(FieldpackError) -> Int64 {
    try updateRow(feature, columns, of: values, in: log, content: content)
    return try stamp(feature, in: log, from: origin)
  }

  private func updateRow(
    _ feature: Int64, _ columns: [Int], of values: [SQLiteValue], in log: EditLog,
    content: [UInt8]? = nil
  ) throws(FieldpackError) {
    let table = try target(of: log)
    try noteShrinking(table, .integer(feature))
    func text() -> String {
      var names = columns.map { quoted(log.columns[$0]) }
      if content != nil { names.append(quoted(MediaColumns.data)) }
      let assignments = names.map { "\($0) = ?" }.sqlList
      return "UPDATE \(quoted(table.table)) SET \(assignments) WHERE \(table.idExpression) = ?"
    }
    var bound = columns.map { values[$0] }
    if let content { bound.append(.blob(content)) }
    bound.append(.integer(feature))
    let statement = try log.statements(
      .update(columns, withContent: content != nil), bound, text())
    try file.changeRow(statement, of: table, feature: .integer(feature))
    grow(table, envelope(of: values, table, log))
    note(.updated, feature, table)
  }

  /// Deletes a row as it was deleted elsewhere.
  ///
  /// - Returns: the number of the edit in the log.
  package func delete(
    _ feature: Int64, in log: EditLog, from origin: Origin
  ) throws(FieldpackError) -> Int64 {
    let table = try target(of: log)
    if try isLayer(log) {
      try delete(.integer(feature), in: log.layer)
    } else {
      try file.changeRow(
        "DELETE FROM \(quoted(table.table)) WHERE \(table.idExpression) = ?", [.integer(feature)],
        of: table, feature: .integer(feature))
    }
    return try stamp(feature, in: log, from: origin)
  }

  private func isLayer(_ log: EditLog) throws(FieldpackError) -> Bool {
    try file.catalogue().layer(log.layer) != nil
  }

  /// The table of a log: a layer, or a table of links, which is none.
  private func target(of log: EditLog) throws(FieldpackError) -> LayerTable {
    if let known = log.target { return known }
    let table: LayerTable
    if try isLayer(log) {
      table = try writable(log.layer)
    } else {
      let name = log.shape.table
      try file.triggers?.check(name, store: file.store)
      table = LayerTable(
        layer: Layer(
          schema: Schema(layer: log.layer, idColumn: log.shape.hasIDColumn ? log.shape.id : nil),
          kind: .attributes), table: name, idSQL: quoted(log.shape.id))
    }
    log.target = table
    return table
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

  /// Gives the last edit of a feature in the log the UUID, author, device and time that the edit has
  /// elsewhere.
  private func stamp(
    _ feature: Int64, in log: EditLog, from origin: Origin,
    _ operation: LoggedEdit.Operation? = nil
  ) throws(FieldpackError) -> Int64 {
    let shape = log.shape
    let row = try log.statements.row(
      .lastNumber, [.integer(feature)],
      "SELECT \(shape.own(.number)), \(shape.own(.operation)), \(shape.own(.received)) "
        + "FROM \(quoted(shape.log)) WHERE \(shape.feature) = ? "
        + "ORDER BY \(shape.own(.number)) DESC LIMIT 1")
    guard let row, let number = row[0].integerValue, row[2] == .null else {
      throw FieldpackError(
        .constraint, "an edit of feature \(feature) was not logged", advice: .checkFile,
        location: .init(store: file.store, layer: log.layer, feature: .integer(feature)))
    }
    // The statement has no RETURNING, because SQLite makes a table for the result each time.
    try log.statements.run(
      .stamp,
      [
        .text(origin.id), origin.author.map(SQLiteValue.text) ?? .null,
        origin.device.map(SQLiteValue.text) ?? .null,
        origin.time.map { .text($0.description) } ?? .null, .text(origin.received.description),
        .integer(number),
      ],
      "UPDATE \(quoted(shape.log)) SET \(shape.own(.edit)) = ?, \(shape.own(.author)) = ?, "
        + "\(shape.own(.device)) = ?, \(shape.own(.time)) = ?, \(shape.own(.received)) = ? "
        + "WHERE \(shape.own(.number)) = ?")
    if origin.isSent { try markSent([number], in: log, at: origin.received) }
    if let operation, operation.rawValue != row[1].integerValue {
      try setOperation(operation, of: number, in: log)
    }
    return number
  }

  private func setOperation(
    _ operation: LoggedEdit.Operation, of number: Int64, in log: EditLog
  ) throws(FieldpackError) {
    let shape = log.shape
    try file.execute(
      "UPDATE \(quoted(shape.log)) SET \(shape.own(.operation)) = ? "
        + "WHERE \(shape.own(.number)) = ?", [.integer(operation.rawValue), .integer(number)])
  }

  // MARK: What is sent

  /// Notes that the receiver has edits.
  package func markSent(
    _ numbers: [Int64], in log: EditLog, at time: Instant
  ) throws(FieldpackError) {
    let (shape, time) = (log.shape, SQLiteValue.text(time.description))
    for number in numbers {
      try log.statements.run(
        .markSent, [time, .integer(number)],
        "UPDATE \(quoted(shape.log)) SET \(shape.own(.sent)) = ? WHERE \(shape.own(.number)) = ?")
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
      // The last edit took a deletion back, so that the feature is deleted again.
      try delete(.integer(feature), in: log.layer)
      return nil
    }
    if edit.operation == .update {
      try updateRow(feature, log.valueColumns, of: before.values, in: log)
    } else {
      guard !log.lacksContent else {
        throw refused(.unsupported, "had content that the change log does not hold")
      }
      _ = try insertRow(before.values, in: log, feature: feature)
      // The log calls the insertion an update, so that the feature keeps its identity.
      try setOperation(.update, of: log.head(), in: log)
    }
    return feature
  }
}

extension GeoPackageSnapshot {
  /// The values of a row for the columns of its log; `nil` where there is no such row.
  package func row(_ feature: Int64, of log: EditLog) throws(FieldpackError) -> [SQLiteValue]? {
    try log.statements.row(
      .row, [.integer(feature)],
      "SELECT \(log.columns.map { quoted($0) }.sqlList) FROM \(quoted(log.shape.table)) "
        + "WHERE \(quoted(log.shape.id)) = ?")
  }

  /// The values of the row that a feature has; `nil` where it is not there.
  package func row(
    at place: EditLog.Place?, of log: EditLog
  ) throws(FieldpackError) -> [SQLiteValue]? {
    guard let place, place.isCurrent else { return nil }
    return try row(place.feature, of: log)
  }

  /// The log of a layer; `nil` where its edits are not logged, or not yet by this version.
  package func editLog(of layer: LayerID) throws(FieldpackError) -> EditLog? {
    let table = try file.catalogue().layer(layer)?.table ?? layer.rawValue
    return try EditLog(of: table, in: file)
  }

  /// The layers whose edits are logged.
  package func loggedLayers() throws(FieldpackError) -> [LayerID] {
    let names = try LogTables(file: file).names().map { SQLName($0) }
    return try file.catalogue().layers.filter { names.contains(SQLName($0.table)) }.map(\.layer.id)
  }

  /// The logs of the file, in the order in which they began: of layers, and of tables of links.
  package func editLogs() throws(FieldpackError) -> [EditLog] {
    var logs: [EditLog] = []
    for name in try LogTables(file: file).names() {
      if let log = try EditLog(of: name, in: file) { logs.append(log) }
    }
    return logs
  }

  /// The feature in WGS 84 as an edit left it; of a deletion, as it was before.
  ///
  /// A geometry that cannot be read is left out. One without a defined SRS stays as it is.
  package func feature(of edit: LoggedEdit, in log: EditLog) throws(FieldpackError) -> Feature {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(log.layer) else {
      throw file.missingLayer(log.layer, in: catalogue)
    }
    var feature = Feature(
      key: KeyTuple(store: file.store, layer: log.layer, feature: .integer(edit.feature)))
    for (name, value) in zip(log.columns, edit.values) {
      if let geometry = table.schema.geometry, SQLName(geometry.name) == SQLName(name) {
        guard case .blob(let blob) = value, let header = try? GeoPackageBinary(blob.span.bytes)
        else { continue }
        feature.geometry = try? WKB.read(
          blob.span.bytes.extracting(droppingFirst: header.bodyOffset))
      } else if let index = table.schema.columnIndex(name) {
        let column = table.schema.columns[index]
        feature.attributes[column.name] = column.type.value(Value(value))
      }
    }
    if let geometry = feature.geometry, table.schema.geometry?.srs.isUndefined == false,
      let transformation = try file.transformation(from: table, to: .wgs84, in: catalogue)
    {
      do throws(ProjectionError) {
        feature.geometry = try transformation.transform(geometry)
      } catch {
        throw FieldpackError(
          error,
          location: .init(
            store: file.store, layer: log.layer, feature: .integer(edit.feature)))
      }
    }
    return feature
  }

  /// The row with these values; `nil` where there is none.
  package func feature(
    where columns: [String], are values: [SQLiteValue], in log: EditLog
  ) throws(FieldpackError) -> Int64? {
    let condition = columns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
    return try file.integer(
      "SELECT \(quoted(log.shape.id)) FROM \(quoted(log.shape.table)) WHERE \(condition) LIMIT 1",
      values)
  }

  /// The content of media; `nil` where there is no such row.
  package func content(of feature: Int64, in log: EditLog) throws(FieldpackError) -> [UInt8]? {
    let rows = try file.rows(
      "SELECT \(quoted(MediaColumns.data)) FROM \(quoted(log.shape.table)) "
        + "WHERE \(quoted(log.shape.id)) = ?", [.integer(feature)])
    guard case .blob(let bytes)?? = rows.first?.first else { return nil }
    return bytes
  }
}
