import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The columns of a table of links that hold ids of features, with the logs of the features' layers.
///
/// A feature has another id in each file, so that links name it by its identity on their way.
struct LinkColumns {
  /// - Parameter index: the position in the columns of the log.
  let columns: [(index: Int, log: EditLog)]

  /// The columns of a log; there are none where the log is not of a table of links.
  ///
  /// - Throws: `.notFound` where the edits of a layer that is linked are not logged.
  init(of log: EditLog, in snapshot: GeoPackageSnapshot) throws(FieldpackError) {
    var columns: [(Int, EditLog)] = []
    for (name, layer) in log.references.sorted(by: { $0.key < $1.key }) {
      guard let index = log.columns.firstIndex(where: { SQLName($0) == SQLName(name) }) else {
        continue
      }
      columns.append((index, try SyncService.log(of: layer, in: snapshot)))
    }
    self.columns = columns
  }

  /// Replaces the ids of this file by identities.
  func replaceIDs(in values: inout [SQLiteValue]) throws(FieldpackError) {
    for (index, log) in columns {
      guard let id = values[index].integerValue else { continue }
      values[index] = .text(try log.identity(of: id))
    }
  }

  /// Replaces identities by the ids of this file.
  ///
  /// - Returns: `false` where a feature never was in this file.
  /// - Throws: `.invalidData` for values that are no identities.
  func replaceIdentities(in values: inout [SQLiteValue]) throws(FieldpackError) -> Bool {
    for (index, log) in columns where values[index] != .null {
      guard let identity = values[index].textValue else {
        throw SyncJSON.broken("the identity of a feature of layer '\(log.layer)'")
      }
      guard let place = try log.place(of: identity) else { return false }
      values[index] = .integer(place.feature)
    }
    return true
  }

  /// The row that links the same features; `nil` where there is none, and in other tables.
  func row(
    linking values: [SQLiteValue], in log: EditLog, _ snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> Int64? {
    guard columns.count == 2 else { return nil }
    return try snapshot.feature(
      where: columns.map { log.columns[$0.index] }, are: columns.map { values[$0.index] }, in: log)
  }
}
