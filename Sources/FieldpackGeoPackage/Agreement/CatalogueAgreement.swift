package import FieldpackCore
import FieldpackSQLite

/// Keeps the statements of a transaction from leaving the file at odds with its catalogue.
///
/// What was wrong before may stay wrong: faults are compared with those before the statements.
package final class CatalogueAgreement {
  private let file: GeoPackageSession
  private var before: CatalogueFaults?
  private var tallies: [SQLName: RowTally] = [:]

  package init(of file: GeoPackageSession) { self.file = file }

  /// Notes how things stand. Call it before each statement runs.
  ///
  /// - Parameter touched: what this statement and those before it change.
  package func prepare(for touched: TouchedTables) throws(FieldpackError) {
    guard touched.reachesCatalogue || !touched.changed.isEmpty else { return }
    if before == nil, touched.reachesCatalogue { before = try CatalogueFaults(of: file) }
    for table in try file.catalogue().layers
    where tallies[SQLName(table.table)] == nil && touched.reachesGeometries(of: table) {
      tallies[SQLName(table.table)] = try RowTally(of: table, in: file)
    }
  }

  /// Compares with how things stood. Call it before the transaction is committed.
  ///
  /// - Throws: `.constraint` where a layer would fit its catalogue less than before.
  package func check(_ touched: TouchedTables) throws(FieldpackError) {
    if let before {
      let new = try CatalogueFaults(of: file).found.subtracting(before.found)
      let first = new.min { ($0.rank, $0.reason) < ($1.rank, $1.reason) }
      if let first { throw refusal(first.reason, first.advice) }
    }
    for table in try file.catalogue().layers where touched.reachesGeometries(of: table) {
      let tally = try RowTally(of: table, in: file)
      guard let worse = tally.worsening(since: tallies[SQLName(table.table)]) else { continue }
      throw refusal("layer '\(table.layer.id)': \(worse.reason)", worse.advice)
    }
  }

  private func refusal(_ reason: String, _ advice: FieldpackError.Advice?) -> FieldpackError {
    FieldpackError(
      .constraint, "SQL: \(reason), so nothing was changed", advice: advice,
      location: .init(store: file.store), position: FilePosition(file: file.path))
  }
}
