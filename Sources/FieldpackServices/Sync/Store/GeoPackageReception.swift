import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSQLite

/// The log of a GeoPackage's layer as edits of devices come into it.
struct GeoPackageReception: ReceivingLog {
  private let log: EditLog
  private let links: LinkColumns
  private let writer: GeoPackageWriter
  private let now: Instant
  private let statements: KeptStatements<Use>

  private enum Use { case outcome, remember }

  init(
    _ log: EditLog, _ writer: GeoPackageWriter, at now: Instant
  ) throws(FieldpackError) {
    statements = KeptStatements(of: writer)
    (self.log, self.writer, self.now) = (log, writer, now)
    links = try LinkColumns(of: log, in: writer)
  }

  var layer: LayerID { log.layer }
  var columns: [String] { log.columns }
  var valueColumns: [Int] { log.valueColumns }

  // MARK: What is there

  func head() throws(FieldpackError) -> Int64 { try log.head() }

  func number(of edit: String) throws(FieldpackError) -> Int64? { try log.number(of: edit) }

  func place(of identity: String) throws(FieldpackError) -> EditLog.Place? {
    try log.place(of: identity)
  }

  func row(at place: EditLog.Place?) throws(FieldpackError) -> [SQLiteValue]? {
    try writer.row(at: place, of: log)
  }

  func lastValues(at place: EditLog.Place) throws(FieldpackError) -> [SQLiteValue]? {
    try log.last(of: place.feature, before: place.end)?.values
  }

  func changes(
    of place: EditLog.Place, after position: Int64
  ) throws(FieldpackError) -> [(number: Int64, id: String)] {
    try log.changes(of: place, after: position)
  }

  func changedColumns(by edit: String) throws(FieldpackError) -> [Int] {
    guard let edit = try log.edit(edit) else { return [] }
    return try log.changedColumns(edit)
  }

  func content(of feature: Int64) throws(FieldpackError) -> [UInt8]? {
    try writer.content(of: feature, in: log)
  }

  // MARK: Values that come

  func resolveLinks(in values: inout [SQLiteValue]) throws(FieldpackError) -> Bool {
    try links.replaceIdentities(in: &values)
  }

  func normalize(_ values: inout [SQLiteValue]) {}

  func isLinked(_ values: [SQLiteValue]) throws(FieldpackError) -> Bool {
    try links.row(linking: values, in: log, writer) != nil
  }

  // MARK: Changing

  func insert(
    _ values: [SQLiteValue], content: [UInt8]?, from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> Int64 {
    try writer.insert(values, in: log, content: content, from: origin).number
  }

  func update(
    _ feature: Int64, _ columns: [Int], of values: [SQLiteValue], content: [UInt8]?,
    from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> Int64 {
    try writer.update(feature, columns, of: values, in: log, content: content, from: origin)
  }

  func revive(
    _ identity: String, _ values: [SQLiteValue], at place: EditLog.Place, content: [UInt8]?,
    from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> (feature: Int64, number: Int64) {
    try writer.revive(identity, values, in: log, at: place, content: content, from: origin)
  }

  func delete(
    _ feature: Int64, from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> Int64 {
    try writer.delete(feature, in: log, from: origin)
  }

  func whole<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
    try writer.wholeRows(body)
  }

  // MARK: What became of edits

  func outcome(of edit: String) throws(FieldpackError) -> EditOutcome? {
    let row = try statements.row(
      .outcome, [.text(edit)],
      "SELECT verdict, position, replica, message FROM \(SyncTables.received) WHERE edit_id = ?")
    guard let row, let verdict = row[0].textValue.flatMap(SyncAnswer.Verdict.init)
    else { return nil }
    return EditOutcome(
      verdict: verdict, number: row[1].integerValue ?? 0, replica: row[2].textValue ?? "",
      message: row[3].textValue)
  }

  func conflicts(of edit: String) throws(FieldpackError) -> [SyncConflict] {
    var conflicts: [SyncConflict] = []
    let kept = try writer.features(Query("conflict", where: Column<String>("edit_id") == edit))
    for feature in kept { conflicts.append(try SyncConflict(feature)) }
    return conflicts
  }

  func remember(_ outcome: EditOutcome, of edit: String) throws(FieldpackError) {
    try statements.run(
      .remember,
      [
        .text(edit), .integer(outcome.number), .text(outcome.replica),
        .text(outcome.verdict.rawValue), outcome.message.map(SQLiteValue.text) ?? .null,
      ],
      "INSERT INTO \(SyncTables.received) (edit_id, position, replica, verdict, message) "
        + "VALUES (?, ?, ?, ?, ?)")
  }

  func note(
    _ conflicts: [SyncConflict], of edit: SyncEdit, feature: Int64?
  ) throws(FieldpackError) {
    try SyncTables.note(conflicts, of: edit, feature: feature, in: layer, at: now, writer)
  }
}
