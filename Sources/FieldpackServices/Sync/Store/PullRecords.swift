import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Up to where a device knows the receiver's log, and since which of its own edits.
struct PullRecords {
  /// Edits that the device took from the receiver, one after the other.
  struct Pull: Hashable {
    /// The edits of the device's log that came then.
    var first: Int64
    var last: Int64
    /// The receiver's edit up to which all are known.
    var position: Int64
    /// The UUID of that edit.
    var edit: String?
  }

  private enum Use { case before, hold }

  private let layer: LayerID
  private let snapshot: GeoPackageSnapshot
  private let statements: KeptStatements<Use>

  init(layer: LayerID, snapshot: GeoPackageSnapshot) {
    (self.layer, self.snapshot) = (layer, snapshot)
    statements = KeptStatements(of: snapshot)
  }

  /// The last one before an edit of the device.
  func before(_ edit: Int64) throws(FieldpackError) -> Pull? {
    let row = try statements.row(
      .before, [.text(layer.rawValue), .integer(edit)],
      "SELECT first, last, position, edit_id FROM \(SyncTables.pulls) WHERE table_name = ? "
        + "AND last < ? ORDER BY last DESC LIMIT 1")
    guard let row, let first = row[0].integerValue, let last = row[1].integerValue,
      let position = row[2].integerValue
    else { return nil }
    return Pull(first: first, last: last, position: position, edit: row[3].textValue)
  }

  /// The last one; `nil` also in a file that was never synchronised.
  func last() throws(FieldpackError) -> Pull? {
    try snapshot.hasTable(SyncTables.pulls) ? before(.max) : nil
  }

  /// Whether an edit of the device's log came from the receiver.
  func hold(_ edit: Int64) throws(FieldpackError) -> Bool {
    let first = try statements.integer(
      .hold, [.text(layer.rawValue), .integer(edit)],
      "SELECT first FROM \(SyncTables.pulls) WHERE table_name = ? AND last >= ? "
        + "ORDER BY last LIMIT 1")
    return first.map { $0 <= edit } ?? false
  }

  /// Adds a taking. It goes on with the one before, where the device made no edit in between.
  func save(_ pull: Pull, _ writer: GeoPackageWriter) throws(FieldpackError) {
    var pull = pull
    if let before = try last(), before.last == pull.first - 1 {
      try writer.execute(
        "DELETE FROM \(SyncTables.pulls) WHERE table_name = ? AND last = ?",
        [.text(layer.rawValue), .integer(before.last)])
      pull.first = before.first
    }
    try writer.execute(
      "INSERT INTO \(SyncTables.pulls) (table_name, first, last, position, edit_id) "
        + "VALUES (?, ?, ?, ?, ?)",
      [
        .text(layer.rawValue), .integer(pull.first), .integer(pull.last), .integer(pull.position),
        pull.edit.map(SQLiteValue.text) ?? .null,
      ])
  }
}
