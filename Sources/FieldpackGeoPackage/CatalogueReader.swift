import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Reads the catalogue of any GeoPackage from 1.0 to 1.4, leniently: what is missing or wrong
/// becomes a note of the layer, never a reason to refuse the file.
struct CatalogueReader {
  let file: GeoPackageFile

  func read() throws(FieldpackError) -> Catalogue {
    let tables = try masterNames()
    guard tables["gpkg_contents"] != nil else {
      throw FieldpackError(
        .invalidData, "not a GeoPackage: the table gpkg_contents is missing",
        location: .init(store: file.store), position: FilePosition(file: file.path))
    }
    let version = try file.integer("PRAGMA user_version") ?? 0
    var catalogue = Catalogue(
      layers: [], version: try versionName(version),
      triggerSet: version >= 10400 ? .from14 : .upTo13,
      systems: tables["gpkg_spatial_ref_sys"] == nil ? [:] : try readSystems())
    let geometries = tables["gpkg_geometry_columns"] == nil ? [:] : try readGeometryColumns()
    let indexed = tables["gpkg_extensions"] == nil ? [] : try readIndexed()
    let described = tables["gpkg_data_columns"] == nil ? [:] : try readDataColumns()
    let isUTF8 = try file.rows("PRAGMA encoding").first?.first == .text("UTF-8")
    let hasCounts = tables["gpkg_ogr_contents"] != nil
    for row in try contentsRows() {
      guard let master = tables[row.table.lowercased()] else { continue }
      guard var entry = try layer(row, master, geometries, catalogue.systems, described) else {
        continue
      }
      if let geometry = entry.schema.geometry {
        let name = "rtree_\(entry.table)_\(geometry.name)"
        let isRegistered = indexed.contains("\(entry.table)\u{0}\(geometry.name)".lowercased())
        entry.rtree = isRegistered ? tables[name.lowercased()]?.name : nil
        entry.layer.hasSpatialIndex = entry.rtree != nil
        if isRegistered, entry.rtree == nil {
          entry.layer.notes.append("the registered R-tree \(name) is missing")
        }
      }
      if !isUTF8 { entry.textCollation = SQLFunctions.textOrder }
      if file.usesFileIDs { entry.takeTextID() }
      entry.hasFeatureCount =
        hasCounts && tables["trigger_insert_feature_count_\(entry.table)".lowercased()] != nil
      catalogue.layers.append(entry)
    }
    return catalogue
  }

  // MARK: System tables

  private struct Master {
    var name: String
    var isView: Bool
  }

  private func masterNames() throws(FieldpackError) -> [String: Master] {
    var names: [String: Master] = [:]
    for row in try file.rows("SELECT name, type FROM sqlite_master") {
      guard let name = row[0].textValue, let type = row[1].textValue, type != "index" else {
        continue
      }
      names[name.lowercased()] = Master(name: name, isView: type == "view")
    }
    return names
  }

  private func versionName(_ userVersion: Int64) throws(FieldpackError) -> String {
    let application = try file.integer("PRAGMA application_id") ?? 0
    switch application {
    case 0x4750_3130: return "1.0"
    case 0x4750_3131: return "1.1"
    case GeoPackageVersion.applicationID where userVersion >= 10200:
      return "\(userVersion / 10_000).\(userVersion / 100 % 100)"
    default: return "unknown"
    }
  }

  private func readSystems() throws(FieldpackError) -> [Int64: Catalogue.SystemRow] {
    var systems: [Int64: Catalogue.SystemRow] = [:]
    let rows = try file.rows(
      "SELECT srs_id, organization, organization_coordsys_id, definition, srs_name "
        + "FROM gpkg_spatial_ref_sys")
    for row in rows {
      guard let id = row[0].integerValue else { continue }
      let code = row[2].integerValue ?? id
      let organization = row[1].textValue ?? "NONE"
      systems[id] = .init(
        srs: Self.identity(organization, code, id), name: row[4].textValue ?? "",
        definition: row[3].textValue ?? "")
    }
    return systems
  }

  private static func identity(_ organization: String, _ code: Int64, _ id: Int64) -> SRS {
    if id == -1 { return .undefinedCartesian }
    if id == 0 { return .undefinedGeographic }
    return SRS(organization, Int32(clamping: code))
  }

  private struct GeometryRow {
    var column: String
    var type: String
    var srsID: Int64?
    var z: Int64
    var m: Int64
  }

  private func readGeometryColumns() throws(FieldpackError) -> [String: GeometryRow] {
    var found: [String: GeometryRow] = [:]
    let rows = try file.rows(
      "SELECT table_name, column_name, geometry_type_name, srs_id, z, m FROM gpkg_geometry_columns")
    for row in rows {
      guard let table = row[0].textValue, let column = row[1].textValue else { continue }
      found[table.lowercased()] = GeometryRow(
        column: column, type: row[2].textValue ?? "GEOMETRY", srsID: row[3].integerValue,
        z: row[4].integerValue ?? 0, m: row[5].integerValue ?? 0)
    }
    return found
  }

  private func readIndexed() throws(FieldpackError) -> Set<String> {
    let rows = try file.rows(
      "SELECT table_name, column_name FROM gpkg_extensions WHERE extension_name = ?",
      [.text(RTreeSQL.extensionName)])
    return Set(
      rows.map { "\($0[0].textValue ?? "")\u{0}\($0[1].textValue ?? "")".lowercased() })
  }

  private struct Described {
    var title: String?
    var description: String?
    var mimeType: String?
  }

  private func readDataColumns() throws(FieldpackError) -> [String: Described] {
    var found: [String: Described] = [:]
    let rows = try file.rows(
      "SELECT table_name, column_name, title, description, mime_type FROM gpkg_data_columns")
    for row in rows {
      let key = "\(row[0].textValue ?? "")\u{0}\(row[1].textValue ?? "")".lowercased()
      found[key] = Described(
        title: row[2].textValue, description: row[3].textValue, mimeType: row[4].textValue)
    }
    return found
  }

  // MARK: Layers

  private struct ContentsRow {
    var table: String
    var type: String
    var identifier: String?
    var description: String?
    var srsID: Int64?
    var extent: [Double?]
  }

  private func contentsRows() throws(FieldpackError) -> [ContentsRow] {
    try file.rows(
      "SELECT table_name, data_type, identifier, description, srs_id, min_x, min_y, max_x, max_y "
        + "FROM gpkg_contents ORDER BY rowid"
    ).compactMap { row in
      guard let table = row[0].textValue else { return nil }
      return ContentsRow(
        table: table, type: (row[1].textValue ?? "").lowercased(), identifier: row[2].textValue,
        description: row[3].textValue, srsID: row[4].integerValue,
        extent: row[5...8].map(\.realValue))
    }
  }

  private func layer(
    _ row: ContentsRow, _ master: Master, _ geometries: [String: GeometryRow],
    _ systems: [Int64: Catalogue.SystemRow], _ described: [String: Described]
  ) throws(FieldpackError) -> LayerTable? {
    guard ["features", "attributes", "aspatial"].contains(row.type) else { return nil }
    let reader = TableReader(file: file, table: master.name, isView: master.isView)
    var columns = try reader.columns()
    let id = reader.takeID(from: &columns)
    var schema = Schema(layer: LayerID(row.table), idColumn: id?.name)
    var notes: [String] = []
    let geometryRow = geometries[row.table.lowercased()]
    if let geometryRow {
      let system = geometryRow.srsID.flatMap { systems[$0] }
      if system == nil { notes.append("its SRS is not in gpkg_spatial_ref_sys") }
      if let place = columns.firstIndex(where: {
        $0.name.lowercased() == geometryRow.column.lowercased()
      }) {
        schema.geometry = GeometryColumn(
          columns.remove(at: place).name,
          type: GeometryType(name: geometryRow.type) ?? .geometry,
          srs: system?.srs ?? .undefinedCartesian,
          z: OrdinateRule(rawValue: geometryRow.z) ?? .optional,
          m: OrdinateRule(rawValue: geometryRow.m) ?? .optional)
      } else {
        notes.append("its geometry column '\(geometryRow.column)' is missing")
      }
    } else if row.type == "features" {
      notes.append("it has no row in gpkg_geometry_columns, so its geometry is not known")
    }
    schema.columns = columns.map { column in
      var column = column
      let key = "\(row.table)\u{0}\(column.name)".lowercased()
      if let entry = described[key] { Self.describe(&column, entry) }
      return column
    }
    let layer = Layer(
      schema: schema, kind: schema.geometry == nil ? .attributes : .features,
      title: row.identifier, description: row.description, envelope: Self.envelope(row.extent),
      isView: master.isView, notes: notes)
    return LayerTable(
      layer: layer, table: master.name, idSQL: id?.sql, rtree: nil,
      srsID: geometryRow?.srsID ?? row.srsID)
  }

  private static func describe(_ column: inout ColumnDefinition, _ entry: Described) {
    column.title = entry.title
    column.description = entry.description
    column.isSourceID = entry.title == DataColumnMark.sourceID
    if case .text = column.type, entry.mimeType == "application/json" { column.type = .json }
  }

  private static func envelope(_ extent: [Double?]) -> Envelope? {
    let known = extent.compactMap { $0 }
    guard known.count == 4, known.allSatisfy(\.isFinite), known[0] <= known[2],
      known[1] <= known[3]
    else { return nil }
    return Envelope(minX: known[0], minY: known[1], maxX: known[2], maxY: known[3])
  }
}

/// What Fieldpack writes into `gpkg_data_columns` to find a column's role again.
enum DataColumnMark {
  static let sourceID = "feature id"
}

extension SQLiteValue {
  var textValue: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }

  var integerValue: Int64? {
    switch self {
    case .integer(let value): value
    case .real(let value): Int64(exactly: value)
    case .text(let text): Int64(text)
    default: nil
    }
  }

  var realValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .text(let text): Double(text)
    default: nil
    }
  }
}
