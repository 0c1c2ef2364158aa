import FieldpackCore
import FieldpackSQLite

/// Something that the catalogue of a file says, and that is not so.
enum CatalogueFault: Hashable {
  /// A table of the standard that each GeoPackage has.
  case lacksRequired(table: String)
  /// A table that `registry` names.
  case lacksTable(SQLName, registry: String)
  /// A column that `registry` names.
  case lacksColumn(SQLName, SQLName, registry: String)
  /// The geometry column is declared with another type than `gpkg_geometry_columns` states.
  case otherType(SQLName, declared: String, stated: String)
  /// A table of the catalogue has a column whose type the standard does not have.
  case foreignType(SQLName, column: String, type: String)
  case lacksKey(SQLName)
  /// `gpkg_spatial_ref_sys` does not define the `srs_id`.
  case lacksSystem(SQLName, Int64?)
  /// `gpkg_contents` and `gpkg_geometry_columns` state different systems.
  case otherSystems(SQLName)
  case lacksIndex(SQLName, index: SQLName)
  case lacksTrigger(SQLName, trigger: SQLName)

  var reason: String {
    switch self {
    case .lacksRequired(let table): "a GeoPackage needs the table \(table)"
    case .lacksTable(let table, let registry):
      "\(registry) names the table '\(table.lowercased)', which would no longer exist"
    case .lacksColumn(let table, let column, let registry):
      "\(registry) names the column '\(column.lowercased)' of '\(table.lowercased)', which would "
        + "no longer exist"
    case .otherType(let table, let declared, let stated):
      "the geometry column of '\(table.lowercased)' would be declared \(declared), and "
        + "\(stated) in gpkg_geometry_columns"
    case .foreignType(let table, let column, let type):
      "the column '\(column)' of '\(table.lowercased)' would have the type '\(type)', which "
        + "GeoPackage does not have"
    case .lacksKey(let table): "'\(table.lowercased)' would have no INTEGER PRIMARY KEY"
    case .lacksSystem(let table, let id):
      "'\(table.lowercased)' would have srs_id \(id.map { "\($0)" } ?? "NULL"), which "
        + "gpkg_spatial_ref_sys does not define"
    case .otherSystems(let table):
      "gpkg_contents and gpkg_geometry_columns would state different systems for "
        + "'\(table.lowercased)'"
    case .lacksIndex(let table, let index):
      "'\(table.lowercased)' would lose its R-tree \(index.lowercased)"
    case .lacksTrigger(let table, let trigger):
      "'\(table.lowercased)' would lose the trigger \(trigger.lowercased), which keeps its R-tree"
    }
  }

  /// What to do instead.
  var advice: FieldpackError.Advice? {
    switch self {
    case .lacksTable: .renameOrDeleteLayer
    case .lacksColumn: .renameOrDropColumn
    case .otherType, .foreignType: .retypeLayer
    case .lacksSystem, .otherSystems: .transformFile
    case .lacksIndex, .lacksTrigger: .rebuildIndex
    case .lacksRequired, .lacksKey: nil
    }
  }

  /// The order in which faults are told: what causes others comes first.
  var rank: Int {
    switch self {
    case .lacksRequired: 0
    case .lacksTable(_, let registry): registry == GPKGContents.table ? 1 : 3
    case .lacksColumn: 2
    default: 4
    }
  }
}

/// Holds a file's tables against what its catalogue says of them.
struct CatalogueFaults {
  private let file: GeoPackageSession
  private var objects: [SQLName: String] = [:]
  private var columns: [SQLName: [SQLName: (name: String, type: String, isKey: Bool)]] = [:]
  private(set) var found: Set<CatalogueFault> = []

  init(of file: GeoPackageSession) throws(FieldpackError) {
    self.file = file
    for row in try file.rows("SELECT name, type FROM sqlite_master WHERE type <> 'index'") {
      let name = SQLName(row[0].textValue ?? "")
      // A trigger may have a table's name; then the table counts.
      if objects[name] == nil || row[1].textValue != "trigger" { objects[name] = row[1].textValue }
    }
    for table in [GPKGSpatialRefSys.table, GPKGContents.table] where !has(table) {
      found.insert(.lacksRequired(table: table))
    }
    guard found.isEmpty else { return }
    try readNames()
    try readContents()
    if has(GPKGGeometryColumns.table) { try readGeometryColumns() }
    if has(GPKGExtensions.table) { try readIndexes() }
  }

  private func has(_ table: String) -> Bool { objects[SQLName(table)] != nil }

  /// The tables that name columns of other tables.
  private static let namingColumns = [
    "gpkg_geometry_columns", "gpkg_extensions", "gpkg_data_columns", "gpkg_metadata_reference",
  ]
  private static let naming =
    LayerChange.naming
    + [(GPKGTileMatrixSet.table, "table_name"), (GPKGTileMatrix.table, "table_name")]

  private mutating func readNames() throws(FieldpackError) {
    for (registry, column) in Self.naming where has(registry) {
      let rows = try file.rows("SELECT DISTINCT \(column) FROM \(registry)")
      for name in rows.compactMap({ $0[0].textValue }) where !has(name) {
        found.insert(.lacksTable(SQLName(name), registry: registry))
      }
    }
    for registry in Self.namingColumns where has(registry) {
      let rows = try file.rows(
        "SELECT DISTINCT table_name, column_name FROM \(registry) WHERE column_name NOTNULL")
      for row in rows {
        guard let table = row[0].textValue, let column = row[1].textValue, has(table) else {
          continue
        }
        if try columns(of: table)[SQLName(column)] == nil {
          found.insert(.lacksColumn(SQLName(table), SQLName(column), registry: registry))
        }
      }
    }
  }

  /// The columns of a table; of a view that cannot be read there are none.
  private mutating func columns(
    of table: String
  ) throws(FieldpackError) -> [SQLName: (name: String, type: String, isKey: Bool)] {
    if let known = columns[SQLName(table)] { return known }
    var made: [SQLName: (name: String, type: String, isKey: Bool)] = [:]
    do throws(FieldpackError) {
      for row in try file.rows("PRAGMA table_xinfo(\(quoted(table)))") {
        guard let name = row[1].textValue else { continue }
        made[SQLName(name)] = (name, row[2].textValue ?? "", row[5].integerValue ?? 0 > 0)
      }
    } catch  where error.code == .invalidData {}
    columns[SQLName(table)] = made
    return made
  }

  private mutating func readContents() throws(FieldpackError) {
    let rows = try file.rows(
      "SELECT c.table_name, c.srs_id, c.srs_id ISNULL OR EXISTS "
        + "(SELECT 1 FROM gpkg_spatial_ref_sys s WHERE s.srs_id = c.srs_id) "
        + "FROM gpkg_contents c WHERE c.data_type IN ('features', 'attributes', 'aspatial')")
    let geometries = try geometryColumnNames()
    for row in rows {
      guard let table = row[0].textValue, objects[SQLName(table)] == "table" else { continue }
      let name = SQLName(table)
      if row[2] == .integer(0) { found.insert(.lacksSystem(name, row[1].integerValue)) }
      let known = try columns(of: table)
      if TableReader.rowIDIndex(known.values.map { ($0.type, $0.isKey) }) == nil {
        found.insert(.lacksKey(name))
      }
      for (key, column) in known
      where geometries[name] != key && !ColumnType.isStandard(column.type) {
        found.insert(.foreignType(name, column: column.name, type: column.type))
      }
    }
  }

  private func geometryColumnNames() throws(FieldpackError) -> [SQLName: SQLName] {
    guard has(GPKGGeometryColumns.table) else { return [:] }
    var names: [SQLName: SQLName] = [:]
    for row in try file.rows("SELECT table_name, column_name FROM gpkg_geometry_columns") {
      names[SQLName(row[0].textValue ?? "")] = SQLName(row[1].textValue ?? "")
    }
    return names
  }

  private mutating func readGeometryColumns() throws(FieldpackError) {
    let rows = try file.rows(
      "SELECT g.table_name, g.column_name, g.geometry_type_name, g.srs_id, "
        + "EXISTS (SELECT 1 FROM gpkg_spatial_ref_sys s WHERE s.srs_id = g.srs_id), "
        + "(SELECT c.srs_id IS g.srs_id FROM gpkg_contents c WHERE c.table_name = g.table_name "
        + "COLLATE NOCASE) FROM gpkg_geometry_columns g")
    for row in rows {
      guard let table = row[0].textValue, objects[SQLName(table)] == "table" else { continue }
      let name = SQLName(table)
      if row[4] == .integer(0) { found.insert(.lacksSystem(name, row[3].integerValue)) }
      if row[5] == .integer(0) { found.insert(.otherSystems(name)) }
      let column = try columns(of: table)[SQLName(row[1].textValue ?? "")]
      let stated = row[2].textValue ?? ""
      if let column, column.type.uppercased() != stated.uppercased() {
        found.insert(.otherType(name, declared: column.type, stated: stated))
      }
    }
  }

  private mutating func readIndexes() throws(FieldpackError) {
    let rows = try file.rows(
      "SELECT table_name, column_name FROM gpkg_extensions WHERE extension_name = ?",
      [.text(RTreeSQL.extensionName)])
    for row in rows {
      guard let table = row[0].textValue, let column = row[1].textValue else { continue }
      let index = RTreeSQL(table: table, column: column, idColumn: "")
      guard has(index.name) else {
        found.insert(.lacksIndex(SQLName(table), index: SQLName(index.name)))
        continue
      }
      for trigger in index.triggerNames where objects[SQLName(trigger)] == nil {
        found.insert(.lacksTrigger(SQLName(table), trigger: SQLName(trigger)))
      }
    }
  }
}
