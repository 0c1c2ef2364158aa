package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Reads the catalogue of any GeoPackage from 1.0 to 1.4, leniently: what is missing or wrong
/// becomes a note of the layer, and the file is never refused.
package struct CatalogueReader {
  let file: GeoPackageSession

  package func read() throws(FieldpackError) -> Catalogue {
    let (tables, userVersion) = try masterNames()
    func has(_ table: String) -> Bool { tables[SQLName(table)] != nil }
    guard has("gpkg_contents") else {
      throw FieldpackError(
        .invalidData, "not a GeoPackage: the table gpkg_contents is missing",
        location: .init(store: file.store), position: FilePosition(file: file.path))
    }
    var catalogue = Catalogue(
      layers: [], triggerSet: RTreeTriggerSet(userVersion: userVersion),
      systems: has("gpkg_spatial_ref_sys") ? try ReferenceSystems(file: file).all() : [])
    catalogue.hasRowReferences = has("gpkgext_relations") || has("gpkg_metadata_reference")
    catalogue.hasStatistics = has("sqlite_stat1")
    let described = Descriptions(
      columns: has("gpkg_data_columns") ? try readDataColumns() : [:],
      hasCounts: has("gpkg_ogr_contents"), isUTF8: file.connection.storesUTF8)
    let contents = try contentsRows(
      withGeometries: has("gpkg_geometry_columns"), withExtensions: has("gpkg_extensions"))
    var missing: [String] = []
    for row in contents where Self.isLayer(row) {
      guard let master = tables[SQLName(row.table)] else {
        missing.append(row.table)
        continue
      }
      var entry = try layer(row, master, described, catalogue)
      complete(&entry, isIndexed: row.isIndexed, tables, described)
      catalogue.layers.append(entry)
    }
    catalogue.notes += Self.notes(missing: missing)
    return catalogue
  }

  /// What the standard's other tables say about layers.
  private struct Descriptions {
    var columns: [ColumnName: SchemaExtension.Entry]
    var hasCounts: Bool
    var isUTF8: Bool
  }

  private struct ColumnName: Hashable {
    var table: SQLName
    var column: SQLName

    init(_ table: String, _ column: String) {
      (self.table, self.column) = (SQLName(table), SQLName(column))
    }
  }

  /// The notes are limited, because a damaged file may name thousands of tables.
  private static func notes(missing: [String]) -> [String] {
    let shown = 20
    var notes = missing.prefix(shown).map {
      "'\($0)' is in gpkg_contents, but there is no such table"
    }
    if missing.count > shown {
      notes.append("\(missing.count - shown) more tables in gpkg_contents do not exist")
    }
    return notes
  }

  /// GDAL adds an empty layer of this name to a file without spatial layers; no user made it.
  private static func isLayer(_ row: ContentsRow) -> Bool {
    ["features", "attributes", "aspatial"].contains(row.type) && row.table != "ogr_empty_table"
  }

  /// Fills in what the file's other tables and triggers tell about the layer.
  private func complete(
    _ entry: inout LayerTable, isIndexed: Bool, _ tables: [SQLName: Master],
    _ described: Descriptions
  ) {
    if isIndexed, let geometry = entry.schema.geometry {
      let name = "rtree_\(entry.table)_\(geometry.name)"
      let found = tables[SQLName(name)]
      entry.rtree = found?.isPlainRTree == true ? found?.name : nil
      entry.layer.hasSpatialIndex = entry.rtree != nil
      entry.lacksIndexTriggers = entry.rtree != nil && tables[SQLName("\(name)_insert")] == nil
      if entry.rtree == nil {
        entry.layer.notes.append(
          found == nil
            ? "the registered R-tree \(name) is missing"
            : "the registered R-tree \(name) is not one of floats in two dimensions")
      }
    }
    if !described.isUTF8 { entry.textCollation = SQLFunctions.textOrder }
    if file.usesFileIDs { entry.takeTextID() }
    entry.hasFeatureCount =
      described.hasCounts && tables[SQLName("trigger_insert_feature_count_\(entry.table)")] != nil
  }

  // MARK: System tables

  private struct Master {
    var name: String
    var isView: Bool
    var isPlainRTree: Bool
    /// Whether it is a table with rowids.
    var hasRowIDs: Bool
    var hasIndexes = false
  }

  /// Whether a table's SQL creates an R-tree of the standard's form: an id and four floats.
  package static func isPlainRTree(_ sql: String) -> Bool {
    let text = Array(sql.utf8)
    // The arguments are found from the end, because the table's name before the module may hold any
    // words.
    guard let open = text.lastIndex(of: UInt8(ascii: "(")),
      let close = text.lastIndex(of: UInt8(ascii: ")")), open < close
    else { return false }
    let words = text[..<open].split { $0 == 0x20 || (0x09...0x0D).contains($0) }.suffix(2)
    let module = words.map { String(decoding: $0, as: UTF8.self).lowercased() }
    let columns = text[(open + 1)..<close]
    return module == ["using", "rtree"]
      && columns.split(separator: UInt8(ascii: ",")).count == 5
      && !columns.contains(UInt8(ascii: "+"))
  }

  /// The tables, views and triggers of the schema by name, and the file's `user_version`, in one
  /// statement.
  private func masterNames()
    throws(FieldpackError) -> (names: [SQLName: Master], userVersion: Int64)
  {
    var (names, indexed): ([SQLName: Master], [SQLName]) = ([:], [])
    let sql =
      "SELECT name, type, CASE WHEN rootpage = 0 THEN sql END, tbl_name, "
      + "rootpage > 0 AND sql NOT LIKE '%without%rowid%', "
      + "(SELECT user_version FROM pragma_user_version) "
      + "FROM sqlite_master"
    let rows = try file.rows(sql)
    for row in rows {
      guard let name = row[0].textValue, let type = row[1].textValue else { continue }
      guard type != "index" else {
        indexed.append(SQLName(row[3].textValue ?? ""))
        continue
      }
      // A trigger may have a table's name; then the table counts.
      if type == "trigger", names[SQLName(name)] != nil { continue }
      let master = Master(
        name: name, isView: type == "view",
        isPlainRTree: type == "table" && Self.isPlainRTree(row[2].textValue ?? ""),
        hasRowIDs: type == "table" && row[4].integerValue == 1)
      names[SQLName(name)] = master
    }
    for name in indexed { names[name]?.hasIndexes = true }
    return (names, rows.first?[5].integerValue ?? 0)
  }

  private func readDataColumns() throws(FieldpackError) -> [ColumnName: SchemaExtension.Entry] {
    var found: [ColumnName: SchemaExtension.Entry] = [:]
    for entry in try SchemaExtension(file: file).entries() {
      found[ColumnName(entry.table, entry.column)] = entry
    }
    return found
  }

  // MARK: Layers

  /// A row of `gpkg_contents`, with its row of `gpkg_geometry_columns` if there is one.
  private struct ContentsRow {
    var table: String
    var type: String
    var identifier: String?
    var description: String?
    var srsID: Int64?
    var extent: [Double?]
    var geometry: GeometryRow?
    /// Whether the geometry column's R-tree is registered.
    var isIndexed: Bool
  }

  private struct GeometryRow {
    var column: String
    var type: String
    var srsID: Int64?
    var z: Int64
    var m: Int64

    init?(_ row: SystemRow<GPKGGeometryColumns>) {
      guard let column = row[.columnName].textValue else { return nil }
      self.column = column
      type = row[.typeName].textValue ?? "GEOMETRY"
      srsID = row[.srsID].integerValue
      z = row[.z].integerValue ?? 0
      m = row[.m].integerValue ?? 0
    }
  }

  /// The rows of `gpkg_contents`. Names compare as SQLite compares table names, and of several rows
  /// for one table the last counts.
  private func contentsRows(
    withGeometries: Bool, withExtensions: Bool
  ) throws(FieldpackError) -> [ContentsRow] {
    let geometries =
      withGeometries
      ? " LEFT JOIN gpkg_geometry_columns g ON g.table_name = c.table_name COLLATE NOCASE"
      : " LEFT JOIN (SELECT NULL column_name, 0 geometry_type_name, 0 srs_id, 0 z, 0 m) g ON 0"
    let extensions =
      withExtensions
      ? " LEFT JOIN gpkg_extensions e ON e.table_name = c.table_name COLLATE NOCASE"
        + " AND e.column_name = g.column_name COLLATE NOCASE AND e.extension_name = ?"
      : " LEFT JOIN (SELECT NULL extension_name) e ON ? AND 0"
    let columns: [GPKGContents] =
      [.tableName, .dataType, .identifier, .description, .srsID] + GPKGContents.extent
    let geometryColumns: [GPKGGeometryColumns] = [.columnName, .typeName, .srsID, .z, .m]
    let rows = try file.rows(
      "SELECT \(GPKGContents.list(columns, prefix: "c.")), "
        + "\(GPKGGeometryColumns.list(geometryColumns, prefix: "g.")), "
        + "e.extension_name FROM gpkg_contents c\(geometries)\(extensions)",
      [.text(RTreeSQL.extensionName)])
    var contents: [ContentsRow] = []
    for values in rows {
      let row = SystemRow(columns, values[...])
      let geometry = SystemRow(geometryColumns, values[columns.count...])
      guard let table = row[.tableName].textValue else { continue }
      let found = ContentsRow(
        table: table, type: (row[.dataType].textValue ?? "").lowercased(),
        identifier: row[.identifier].textValue, description: row[.description].textValue,
        srsID: row[.srsID].integerValue, extent: row[GPKGContents.extent].map(\.realValue),
        geometry: GeometryRow(geometry), isIndexed: geometry.also(0) != .null)
      if let last = contents.last, SQLName(last.table) == SQLName(table) { contents.removeLast() }
      contents.append(found)
    }
    return contents
  }

  private func layer(
    _ row: ContentsRow, _ master: Master, _ described: Descriptions,
    _ catalogue: Catalogue
  ) throws(FieldpackError) -> LayerTable {
    var notes: [Note] = []
    let reader = TableReader(file: file, table: master.name, isView: master.isView)
    var (columns, indexes): ([TableReader.Column], [TableIndex]) = ([], [])
    do throws(FieldpackError) {
      if master.hasIndexes { indexes = try reader.indexes() }
      columns = try reader.columns(indexes)
    } catch  where error.code == .invalidData {
      notes.append(Self.note(unreadable: error))
    }
    let id = try reader.takeID(from: &columns)
    var schema = Schema(layer: LayerID(row.table), idColumn: id?.name)
    schema.idIsAttribute =
      schema.idColumn.flatMap { described.columns[ColumnName(row.table, $0)] }?.title
      == DataColumnMark.attributeID
    var requiresGeometry = false
    if let geometryRow = row.geometry {
      requiresGeometry = columns.contains {
        SQLName($0.definition.name) == SQLName(geometryRow.column) && !$0.definition.isNullable
      }
      schema.geometry = Self.geometry(
        geometryRow, catalogue.system(geometryRow.srsID), &columns, &notes)
      if let stated = row.srsID, stated != geometryRow.srsID {
        notes.append("its SRS differs between gpkg_contents and gpkg_geometry_columns")
      }
    } else if row.type == "features" {
      notes.append("it has no row in gpkg_geometry_columns, so its geometry is not known")
    }
    schema.columns = columns.map { column in
      var definition = column.definition
      if let entry = described.columns[ColumnName(row.table, definition.name)] {
        entry.describe(&definition)
      }
      return definition
    }
    let layer = Layer(
      schema: schema, kind: schema.geometry == nil ? .attributes : .features,
      title: row.identifier, description: row.description, envelope: Self.envelope(row.extent),
      isView: master.isView, notes: notes)
    var table = LayerTable(
      layer: layer, table: master.name, idSQL: id?.sql, rtree: nil,
      srsID: row.geometry?.srsID ?? row.srsID)
    (table.hasRowIDs, table.indexes) = (master.hasRowIDs && id?.sql != nil, indexes)
    table.requiresGeometry = requiresGeometry
    return table
  }

  static func note(unreadable error: FieldpackError) -> Note {
    Note("it cannot be read: ", error)
  }

  /// Removes the geometry column from `columns` and describes it.
  private static func geometry(
    _ row: GeometryRow, _ system: Catalogue.SystemRow?, _ columns: inout [TableReader.Column],
    _ notes: inout [Note]
  ) -> GeometryColumn? {
    if system == nil { notes.append("its SRS is not in gpkg_spatial_ref_sys") }
    let name = SQLName(row.column)
    guard let index = columns.firstIndex(where: { SQLName($0.definition.name) == name }) else {
      notes.append("its geometry column '\(row.column)' is missing")
      return nil
    }
    var geometry = GeometryColumn(
      columns.remove(at: index).definition.name,
      type: GeometryType(name: row.type) ?? .geometry,
      srs: system?.srs ?? .undefinedCartesian, z: OrdinateRule(rawValue: row.z) ?? .optional,
      m: OrdinateRule(rawValue: row.m) ?? .optional)
    geometry.epoch = system?.epoch
    return geometry
  }

  /// The stated extent as an envelope. Some writers state zeros where they do not know the extent.
  private static func envelope(_ extent: [Double?]) -> Envelope? {
    extent == [0, 0, 0, 0] ? nil : Envelope(stated: extent)
  }
}

/// Marks in `gpkg_data_columns` by which Fieldpack recognizes a column's role.
enum DataColumnMark {
  static let sourceID = "feature id"
  /// The feature id is an attribute, too.
  static let attributeID = "feature id and attribute"
}

extension SQLiteValue {
  package var textValue: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }

  package var integerValue: Int64? {
    switch self {
    case .integer(let value): value
    case .real(let value): Int64(exactly: value)
    case .text(let text): Int64(text)
    default: nil
    }
  }

  package var realValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .text(let text): Double(text)
    default: nil
    }
  }
}
