public import FieldpackCore
import FieldpackSQLite

extension GeoPackageSnapshot {
  /// The tables and views of users that no catalogue of the file names, so that they are neither
  /// layers nor tile pyramids.
  ///
  /// Left out are the tables of SQLite, of the standard and its extensions, of spatial indexes, of
  /// Fieldpack, and the one in which QGIS keeps styles.
  public func uncataloguedTables() throws(FieldpackError) -> [String] {
    var names: [(key: SQLName, name: String)] = []
    var isVirtual: [String] = []
    for row in try file.rows(
      "SELECT name, type = 'table' AND rootpage = 0 FROM sqlite_master "
        + "WHERE type IN ('table', 'view')")
    {
      guard let name = row[0].textValue else { continue }
      names.append((SQLName(name), name))
      if row[1].integerValue == 1 { isVirtual.append(name.lowercased() + "_") }
    }
    let present = Set(names.map(\.key))
    var named: Set<SQLName> = [SQLName(LayerChange.styles)]
    for (registry, column) in LayerChange.naming where present.contains(SQLName(registry)) {
      for row in try file.rows("SELECT DISTINCT \(column) FROM \(registry)") {
        if let name = row[0].textValue { named.insert(SQLName(name)) }
      }
    }
    return names.filter { key, name in
      let lower = name.lowercased()
      return !named.contains(key) && !Self.views.contains(key)
        && !Self.reserved.contains { lower.hasPrefix($0) }
        && !isVirtual.contains { lower.hasPrefix($0) }
    }.map(\.name)
  }

  private static let reserved = ["sqlite_", "gpkg_", "gpkgext_", "rtree_", "fieldpack_"]

  /// Views that give the catalogue of a GeoPackage the names of SQL/MM and SFSQL (OGC 12-128r10,
  /// annex C).
  private static let views = Set(
    ["st_spatial_ref_sys", "spatial_ref_sys", "st_geometry_columns", "geometry_columns"]
      .map { SQLName($0) })
}

extension GeoPackageStore {
  /// The tables and views of users that no catalogue of the file names; see
  /// ``GeoPackageSnapshot/uncataloguedTables()``.
  public func uncataloguedTables() async throws(FieldpackError) -> [String] {
    try await read { (snapshot) throws(FieldpackError) in try snapshot.uncataloguedTables() }
  }
}
