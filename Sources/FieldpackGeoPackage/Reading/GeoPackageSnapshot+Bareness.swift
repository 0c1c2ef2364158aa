package import FieldpackCore
import FieldpackSQLite

extension GeoPackageSnapshot {
  /// The features of a layer without geometry, and what tells of those in later states of the file.
  package struct Bareness: Hashable, Sendable {
    /// A condition that these features meet; `nil` where there certainly are none.
    package var condition: Filter?
    /// Where the layer's log ended; `nil` where the log does not have all edits.
    fileprivate var logged: LogPlace?
  }

  fileprivate struct LogPlace: Hashable {
    /// Changes with the triggers that write the log.
    var schema: Int64
    var edit: Int64
  }

  /// To look through more edits than this takes as long as to count.
  private static let mostEdits = 10_000

  /// Up to so many features without geometry are named by their ids, which a query adds to those in a box.
  /// Where there are more of them, a query looks at each row.
  private static let mostIDs = 1_000

  /// The features of the layer without geometry, which its R-tree does not have.
  ///
  /// To find that there are none takes a count of the R-tree's entries, unless the table demands geometries,
  /// or the layer's log tells that no edit since an earlier look has left a feature without one.
  ///
  /// - Parameter known: what was found in an earlier state of the file.
  package func bareness(
    of layer: LayerID, after known: Bareness? = nil
  ) throws(FieldpackError) -> Bareness {
    guard let table = try file.catalogue().layer(layer) else { throw missing(layer) }
    guard let geometry = table.schema.geometry else { return Bareness() }
    guard let rtree = table.rtree else {
      return Bareness(condition: .isNull(.column(geometry.name)))
    }
    // Without triggers the R-tree lacks other features, too.
    if table.requiresGeometry, !table.lacksIndexTriggers { return Bareness() }
    let log = try table.lacksIndexTriggers ? nil : editLog(of: layer)
    let place: LogPlace? = if let log { try logPlace(of: log) } else { nil }
    if let known, let log, let place, let before = known.logged, before.schema == place.schema {
      if before.edit == place.edit { return known }
      let isShort = (1...Self.mostEdits).contains(Int(clamping: place.edit - before.edit))
      if known.condition == nil, isShort, try !log.leavesNull(in: geometry.name, after: before.edit)
      {
        return Bareness(logged: place)
      }
    }
    let entries = try file.integer("SELECT count(*) FROM \(quoted("\(rtree)_rowid"))") ?? 0
    let features = try count(Query(layers: [table.layer.id]))
    guard entries < Int64(features) else { return Bareness(logged: place) }
    return Bareness(condition: try bareFeatures(of: table, geometry.name), logged: place)
  }

  private func bareFeatures(
    of table: LayerTable, _ geometry: String
  ) throws(FieldpackError) -> Filter? {
    let all: Filter = .isNull(.column(geometry))
    guard let id = table.schema.idColumn, table.hasRowIDs, table.textID == nil,
      !table.lacksIndexTriggers
    else { return all }
    let rows = try file.rows(
      """
      SELECT \(table.publicID) FROM \(quoted(table.table)) WHERE \(quoted(geometry)) IS NULL
      LIMIT \(Self.mostIDs + 1)
      """)
    let ids = rows.compactMap { $0[0].integerValue }
    // An R-tree does not have empty geometries, either.
    if ids.isEmpty { return nil }
    if ids.count > Self.mostIDs { return all }
    // By the time it is read, a feature may have a geometry.
    return .isIn(.column(id), ids.map { .literal(.integer($0)) }) && all
  }

  private func logPlace(of log: EditLog) throws(FieldpackError) -> LogPlace? {
    guard try log.isCurrent() else { return nil }
    return LogPlace(
      schema: try file.integer("PRAGMA schema_version") ?? 0, edit: try log.head())
  }
}
