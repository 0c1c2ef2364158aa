package import FieldpackCore
package import FieldpackGeoPackage
package import FieldpackSQLite

/// The columns of a layer whose values edits have.
package protocol LoggedColumns {
  /// The columns that each edit has the values of.
  var columns: [String] { get }
  /// The positions in ``columns`` of all but the id.
  var valueColumns: [Int] { get }
}

extension EditLog: LoggedColumns {}

/// The change log of a layer at a receiver, for the length of one transaction: what ``EditReception``
/// asks of a GeoPackage or of a database.
///
/// Numbers of edits are the log's own. Those of one feature grow in the order of the edits.
package protocol ReceivingLog: LoggedColumns {
  var layer: LayerID { get }

  // MARK: What is there

  /// The number of the last edit; 0 where there is none.
  func head() throws(FieldpackError) -> Int64
  /// The number of the edit of that UUID; `nil` where the log does not have it.
  func number(of edit: String) throws(FieldpackError) -> Int64?
  /// Where a feature is, or was last; `nil` where it never was here.
  func place(of identity: String) throws(FieldpackError) -> EditLog.Place?
  /// The values of the row that a feature has; `nil` where it is not there.
  func row(at place: EditLog.Place?) throws(FieldpackError) -> [SQLiteValue]?
  /// The values that the last edit of a feature left; `nil` where it has none.
  func lastValues(at place: EditLog.Place) throws(FieldpackError) -> [SQLiteValue]?
  /// The insertions and updates of a feature after a place that devices are told, in order.
  func changes(
    of place: EditLog.Place, after position: Int64
  ) throws(FieldpackError) -> [(number: Int64, id: String)]
  /// The positions of the columns that an edit changed.
  func changedColumns(by edit: String) throws(FieldpackError) -> [Int]
  /// The content of media; `nil` where there is no such row.
  func content(of feature: Int64) throws(FieldpackError) -> [UInt8]?

  // MARK: Values that come

  /// Replaces identities of other features by their ids.
  ///
  /// - Returns: `false` where a feature never was here.
  func resolveLinks(in values: inout [SQLiteValue]) throws(FieldpackError) -> Bool
  /// Gives values the form that they have here when they are read again.
  func normalize(_ values: inout [SQLiteValue]) throws(FieldpackError)
  /// Whether a row links the same features already.
  func isLinked(_ values: [SQLiteValue]) throws(FieldpackError) -> Bool

  // MARK: Changing

  /// - Returns: the number of the edit in the log, as of the following.
  func insert(
    _ values: [SQLiteValue], content: [UInt8]?, from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> Int64
  func update(
    _ feature: Int64, _ columns: [Int], of values: [SQLiteValue], content: [UInt8]?,
    from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> Int64
  /// Inserts a feature again that was deleted, under its old id where that is free.
  func revive(
    _ identity: String, _ values: [SQLiteValue], at place: EditLog.Place, content: [UInt8]?,
    from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> (feature: Int64, number: Int64)
  func delete(
    _ feature: Int64, from origin: GeoPackageWriter.Origin
  ) throws(FieldpackError) -> Int64
  /// Undoes what `body` did when it throws.
  func whole<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R

  // MARK: What became of edits

  /// What became of an edit that a device sent before; `nil` for a new one.
  func outcome(of edit: String) throws(FieldpackError) -> EditOutcome?
  func conflicts(of edit: String) throws(FieldpackError) -> [SyncConflict]
  func remember(_ outcome: EditOutcome, of edit: String) throws(FieldpackError)
  func note(
    _ conflicts: [SyncConflict], of edit: SyncEdit, feature: Int64?
  ) throws(FieldpackError)
}

/// What a receiver keeps of an edit that it has taken.
package struct EditOutcome: Hashable, Sendable {
  package var verdict: SyncAnswer.Verdict
  /// The number of the edit in the receiver's log.
  package var number: Int64
  /// The device's file.
  package var replica: String
  package var message: String?

  package init(
    verdict: SyncAnswer.Verdict, number: Int64, replica: String, message: String? = nil
  ) {
    (self.verdict, self.number, self.replica) = (verdict, number, replica)
    self.message = message
  }
}

extension LoggedColumns {
  /// The positions of columns in ``columns``.
  func indexes(of names: [String]) -> [Int] {
    names.compactMap { name in columns.firstIndex { $0 == name } }
  }

  /// Values for ``valueColumns`` as values for ``columns``; the id is NULL.
  func row(_ values: [SQLiteValue]) -> [SQLiteValue] {
    var row = [SQLiteValue](repeating: .null, count: columns.count)
    for (index, value) in zip(valueColumns, values) { row[index] = value }
    return row
  }
}
