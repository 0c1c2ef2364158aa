import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// Makes the repairs that findings ask for, in the transaction that the caller has open. The file's
/// triggers must be off.
///
/// Repairs add and change rows. They delete none, except registrations of extensions that the
/// standard has removed.
struct Repairer {
  let file: GeoPackageSession
  private(set) var done: [ConformanceRepair] = []
  /// Repairs that failed, with the reasons.
  private(set) var failures: [String] = []
  private var catalogue: Catalogue?
  private var layers: [SQLName: LayerTable] = [:]

  init(file: GeoPackageSession) { self.file = file }

  mutating func note(_ detail: String, table: String? = nil) {
    done.append(ConformanceRepair(table: table, detail: detail))
  }

  mutating func apply(_ repairs: Set<Repair>) throws(FieldpackError) {
    for repair in repairs.sorted(by: { $0.order < $1.order }) {
      let before = self
      do throws(FieldpackError) {
        try file.execute("SAVEPOINT fieldpack_repair")
        try apply(repair)
        try file.execute("RELEASE fieldpack_repair")
      } catch {
        guard let reason = error.damage else { throw error }
        // An interrupted change rolls the whole transaction back, so the savepoint is gone.
        guard (try? file.execute("ROLLBACK TO fieldpack_repair")) != nil else { throw error }
        try file.execute("RELEASE fieldpack_repair")
        self = before
        failures.append("not mended\(repair.table.map { " in '\($0)'" } ?? ""): \(reason)")
      }
      if repair.changesCatalogue {
        file.forgetCatalogue()
        catalogue = nil
      }
    }
  }

  /// The catalogue, read once for all repairs that do not change it.
  mutating func knownCatalogue() throws(FieldpackError) -> Catalogue {
    if let catalogue { return catalogue }
    let read = try file.catalogue()
    catalogue = read
    layers = Dictionary(
      read.layers.map { (SQLName($0.table), $0) }, uniquingKeysWith: { first, _ in first })
    return read
  }

  mutating func layer(_ name: String) throws(FieldpackError) -> LayerTable? {
    _ = try knownCatalogue()
    return layers[SQLName(name)]
  }

  private mutating func apply(_ repair: Repair) throws(FieldpackError) {
    switch repair {
    case .indexes:
      try file.execute("REINDEX")
      note("SQLite's indexes made anew")
    case .fileHeader: try mendFileHeader()
    case .systemsTable:
      try file.execute(GPKGSpatialRefSys.creation())
      note("the table made", table: "gpkg_spatial_ref_sys")
      try mendSystems()
    case .requiredSystems: try mendSystems()
    case .coverageSystem:
      _ = try ReferenceSystems(file: file).add(CoverageCheck.system)
      note("the reference system of coverages set", table: "gpkg_spatial_ref_sys")
    case .contentsTable: try makeContents()
    case .geometryColumnsTable: try makeGeometryColumns()
    case .dataType, .lastChange, .typeName, .contentsSRS, .ordinates: try mendRow(repair)
    case .metadataTime: try mendMetadataTimes()
    case .geometryColumn(let table): try registerGeometry(of: table)
    case .inclusiveColumns: try renameInclusiveColumns()
    case .retiredTriggers: try dropRetiredTriggers()
    case .extensionRow(let row): try register(row)
    case .blobHeaders(let table):
      try mendHeaders(of: table)
    case .validity(let table): try mendGeometries(of: table)
    case .index(let table): try rebuildIndex(of: table)
    case .triggers(let table): try makeTriggers(of: table)
    case .extent(let table): try mendExtent(of: table)
    case .count(let table): try mendCount(of: table)
    case .changeLog(let table):
      let log = try EditLog(of: table, in: file)
      if let log { try log.refresh() } else { try LogTables(file: file).follow(table) }
      note("its change log mended", table: table)
    }
  }

  // MARK: The file

  private mutating func mendFileHeader() throws(FieldpackError) {
    let user = try file.integer("PRAGMA user_version") ?? 0
    let isFrom14 =
      try file.integer(
        "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'rtree^_%^_update7%' "
          + "ESCAPE '^' LIMIT 1") != nil
    let isNamed = (10_200...Int64(ConformanceCheck.knownVersion)).contains(user)
    let version = isNamed ? user : isFrom14 ? 10_400 : 10_200
    try file.execute("PRAGMA application_id = \(GeoPackageVersion.applicationID)")
    try file.execute("PRAGMA user_version = \(version)")
    note("application_id GPKG, user_version \(version)")
  }

  private mutating func mendSystems() throws(FieldpackError) {
    let table = "gpkg_spatial_ref_sys"
    let hasWKT2 =
      try file.integer(
        "SELECT 1 FROM pragma_table_info('gpkg_spatial_ref_sys') "
          + "WHERE lower(name) = 'definition_12_063'")
      != nil
    for (id, kind) in RequiredTables.undefinedKinds {
      try put(
        id, "Undefined \(kind) SRS", ("NONE", id), "undefined", hasWKT2 ? "undefined" : nil)
    }
    let definition: SRSDefinition
    do throws(ProjectionError) {
      definition = try file.systems.definition(of: .wgs84)
    } catch {
      throw FieldpackError(error, location: .init(store: file.store))
    }
    let other = try file.integer(
      "SELECT 1 FROM gpkg_spatial_ref_sys WHERE srs_id = 4326 "
        + "AND (upper(organization) <> 'EPSG' OR organization_coordsys_id <> 4326)")
    if other == nil {
      try put(
        4326, definition.name, ("EPSG", 4326), definition.wkt1 ?? "undefined",
        hasWKT2 ? definition.wkt2 : nil)
    }
    note("the required reference systems set", table: table)
  }

  /// Inserts or corrects a row. Only wrong values are replaced.
  private func put(
    _ id: Int64, _ name: String, _ identity: (organization: String, code: Int64),
    _ definition: String, _ wkt2: String?
  ) throws(FieldpackError) {
    let column = wkt2 == nil ? "" : ", definition_12_063"
    try file.execute(
      "INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization, "
        + "organization_coordsys_id, definition\(column)) SELECT ?, ?2, ?, ?, ?"
        + "\(wkt2 == nil ? "" : ", ?") WHERE NOT EXISTS (SELECT 1 FROM gpkg_spatial_ref_sys "
        + "WHERE srs_id = ?2)",
      [
        .text(name), .integer(id), .text(identity.organization), .integer(identity.code),
        .text(definition),
      ] + (wkt2.map { [.text($0)] } ?? []))
    func wrong(_ column: String) -> String {
      id <= 0 ? "" : " AND (\(column) IS NULL OR lower(\(column)) IN ('', 'undefined'))"
    }
    try file.execute(
      "UPDATE gpkg_spatial_ref_sys SET organization = ?, organization_coordsys_id = ?, "
        + "definition = ? WHERE srs_id = ?\(wrong("definition"))",
      [.text(identity.organization), .integer(identity.code), .text(definition), .integer(id)])
    guard let wkt2 else { return }
    try file.execute(
      "UPDATE gpkg_spatial_ref_sys SET definition_12_063 = ? WHERE srs_id = ?"
        + wrong("definition_12_063"), [.text(wkt2), .integer(id)])
  }

  // MARK: Contents

  private mutating func makeContents() throws(FieldpackError) {
    try file.execute(GPKGContents.creation())
    note("the table made", table: "gpkg_contents")
    guard try file.hasTable("gpkg_geometry_columns") else { return }
    let rows = try file.limited("the registry of geometry columns") { () throws(FieldpackError) in
      try file.rows(
        "SELECT g.table_name, g.srs_id FROM gpkg_geometry_columns g JOIN sqlite_master m "
          + "ON lower(m.name) = lower(g.table_name) AND m.type IN ('table', 'view')")
    }
    for row in rows {
      try file.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) "
          + "SELECT ?1, 'features', ?1, "
          + "(SELECT srs_id FROM gpkg_spatial_ref_sys WHERE srs_id = ?2)", [row[0], row[1]])
      note("a row in gpkg_contents made", table: row[0].textValue ?? "")
    }
    file.forgetCatalogue()
    catalogue = nil
    for row in rows { try mendExtent(of: row[0].textValue ?? "") }
  }

  private mutating func makeGeometryColumns() throws(FieldpackError) {
    try file.execute(GPKGGeometryColumns.creation())
    note("the table made", table: "gpkg_geometry_columns")
    let layers = try file.rows(
      "SELECT table_name FROM gpkg_contents WHERE lower(data_type) = 'features'")
    for row in layers { try registerGeometry(of: row[0].textValue ?? "") }
  }

  private mutating func registerGeometry(of table: String) throws(FieldpackError) {
    let columns = try file.rows("PRAGMA table_xinfo(\(quoted(table)))").compactMap { row in
      GeometryType(name: row[2].textValue ?? "").map { (name: row[1].textValue ?? "", type: $0) }
    }
    guard columns.count == 1, let column = columns.first else { return }
    try file.execute(
      "INSERT INTO gpkg_geometry_columns (table_name, column_name, geometry_type_name, srs_id, z, "
        + "m) SELECT table_name, ?, ?, coalesce(srs_id, -1), 2, 2 "
        + "FROM gpkg_contents WHERE lower(table_name) = lower(?)",
      [.text(column.name), .text(column.type.name), .text(table)])
    try file.execute(
      "UPDATE gpkg_contents SET srs_id = -1 WHERE srs_id IS NULL AND lower(table_name) = lower(?)",
      [.text(table)])
    note("column '\(column.name)' registered in gpkg_geometry_columns", table: table)
  }

  /// SQL for a moment in the standard's form, from a text or number. What is no date becomes the
  /// current time.
  private static func moment(_ sql: String) -> String {
    // SQLite takes a number, even a bare year, for days since 4713 BC.
    "CASE WHEN \(sql) LIKE '____-__-__%' THEN "
      + "coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', \(sql)), \(RequiredTables.now)) "
      + "ELSE \(RequiredTables.now) END"
  }

  private mutating func mendRow(_ repair: Repair) throws(FieldpackError) {
    let (sql, table, detail): (String, String, String)
    let geometry = "UPDATE gpkg_geometry_columns SET "
    switch repair {
    case .dataType(let name):
      (sql, table) = ("UPDATE gpkg_contents SET data_type = lower(data_type)", name)
      detail = "its data type written in lower case"
    case .lastChange(let name):
      sql = "UPDATE gpkg_contents SET last_change = " + Self.moment("last_change")
      (table, detail) = (name, "last_change written in the standard's form")
    case .typeName(let name):
      sql =
        geometry + "geometry_type_name = CASE upper(geometry_type_name) WHEN 'GEOMCOLLECTION' "
        + "THEN 'GEOMETRYCOLLECTION' ELSE upper(geometry_type_name) END"
      (table, detail) = (name, "its geometry type written in capitals")
    case .contentsSRS(let name):
      sql =
        "UPDATE gpkg_contents SET srs_id = (SELECT g.srs_id FROM gpkg_geometry_columns g "
        + "WHERE lower(g.table_name) = lower(gpkg_contents.table_name))"
      (table, detail) = (name, "srs_id in gpkg_contents set to that of gpkg_geometry_columns")
    case .ordinates(let name, let column):
      (sql, table) = (geometry + "\(quoted(column)) = 2", name)
      detail = "\(column.uppercased()) made optional"
    default: return
    }
    try file.execute(sql + " WHERE lower(table_name) = lower(?)", [.text(table)])
    note(detail, table: table)
  }

  private mutating func mendMetadataTimes() throws(FieldpackError) {
    let table = "gpkg_metadata_reference"
    var wrong: [Int64] = []
    let rows = try file.prepare("SELECT \(table).rowid, timestamp FROM \(table)", caching: false)
    while try rows.step() {
      if !ContentsCheck.isMoment(rows.row.value(1)) { wrong.append(rows.row.integer(0)) }
    }
    for row in wrong {
      try file.execute(
        "UPDATE \(table) SET timestamp = \(Self.moment("timestamp")) WHERE \(table).rowid = ?",
        [.integer(row)])
    }
    note("timestamps written in the standard's form", table: table)
  }

  // MARK: Extensions

  private mutating func register(_ row: ExtensionRow) throws(FieldpackError) {
    let creation = LayerCreation(file: file)
    try creation.registerExtension(
      row.name, table: row.table, column: row.column, scope: row.scope)
    try file.execute(
      "UPDATE gpkg_extensions SET scope = ? WHERE extension_name = ? AND table_name IS ? "
        + "AND column_name IS ?",
      [
        .text(row.scope), .text(row.name), row.table.map(SQLiteValue.text) ?? .null,
        row.column.map(SQLiteValue.text) ?? .null,
      ])
    note("\(row.name) registered in gpkg_extensions", table: row.table)
  }

  private mutating func renameInclusiveColumns() throws(FieldpackError) {
    let table = "gpkg_data_column_constraints"
    for column: GPKGDataColumnConstraints in [.minIsInclusive, .maxIsInclusive] {
      try file.execute(
        "ALTER TABLE \(table) RENAME COLUMN \(column.formerSQL) TO \(column.sql)")
    }
    note("columns renamed min_is_inclusive and max_is_inclusive", table: table)
  }

  /// Drops the triggers of 1.0 and 1.1 that refused geometries of other types and reference
  /// systems.
  private mutating func dropRetiredTriggers() throws(FieldpackError) {
    let rows = try file.rows(
      "SELECT t.name FROM sqlite_master t JOIN gpkg_geometry_columns g "
        + "ON lower(t.tbl_name) = lower(g.table_name) WHERE t.type = 'trigger' "
        + "AND lower(t.name) IN (SELECT lower(k || '_' || g.table_name || '_' || g.column_name) "
        + "FROM (SELECT 'fgti' AS k UNION SELECT 'fgtu' UNION SELECT 'fgsi' UNION SELECT 'fgsu'))")
    for row in rows { try file.execute("DROP TRIGGER \(quoted(row[0].textValue ?? ""))") }
    try file.execute(
      "DELETE FROM gpkg_extensions "
        + "WHERE extension_name IN ('gpkg_geometry_type_trigger', 'gpkg_srs_id_trigger')")
    note("extensions that 1.2 did away with taken out, and \(rows.count) of their triggers dropped")
  }
}
