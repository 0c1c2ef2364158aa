package import FieldpackCore
import FieldpackSQLite

extension GeoPackageSnapshot {
  /// Whether a layer may have features without geometry, and what tells that of later states of the file.
  package struct Bareness: Hashable, Sendable {
    package var isBare: Bool
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

  /// Whether the layer may have features without geometry, which its R-tree does not have.
  ///
  /// That takes a count of the R-tree's entries, unless the table demands geometries, or the layer's log
  /// tells that no edit since an earlier look has left a feature without one.
  ///
  /// - Parameter known: what was found in an earlier state of the file.
  package func bareness(
    of layer: LayerID, after known: Bareness? = nil
  ) throws(FieldpackError) -> Bareness {
    guard let table = try file.catalogue().layer(layer) else { throw missing(layer) }
    guard let rtree = table.rtree, let geometry = table.schema.geometry else {
      return Bareness(isBare: true)
    }
    // Without triggers the R-tree lacks other features, too.
    if table.requiresGeometry, !table.lacksIndexTriggers { return Bareness(isBare: false) }
    let log = try table.lacksIndexTriggers ? nil : editLog(of: layer)
    let place: LogPlace? = if let log { try logPlace(of: log) } else { nil }
    if let known, let log, let place, let before = known.logged, before.schema == place.schema {
      if before.edit == place.edit { return known }
      let isShort = (1...Self.mostEdits).contains(Int(clamping: place.edit - before.edit))
      if !known.isBare, isShort, try !log.leavesNull(in: geometry.name, after: before.edit) {
        return Bareness(isBare: false, logged: place)
      }
    }
    let entries = try file.integer("SELECT count(*) FROM \(quoted("\(rtree)_rowid"))") ?? 0
    let features = try count(Query(layers: [table.layer.id]))
    return Bareness(isBare: entries < Int64(features), logged: place)
  }

  private func logPlace(of log: EditLog) throws(FieldpackError) -> LogPlace? {
    guard try log.isCurrent() else { return nil }
    return LogPlace(
      schema: try file.integer("PRAGMA schema_version") ?? 0, edit: try log.head())
  }
}
