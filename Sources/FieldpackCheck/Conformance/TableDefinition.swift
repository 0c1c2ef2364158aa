import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// A table as a standard defines it, to compare a file's table with.
struct TableDefinition {
  struct Column {
    var name: String
    var types: [String]
    var isNotNull = false
    /// The required default in SQL; `nil` for none.
    var defaultSQL: String?
    /// Whether any default is allowed.
    var hasAnyDefault = false
    /// Position in the primary key, from 1; 0 where the column is not in it.
    var keyPosition = 0

    init(
      _ name: String, _ types: String..., isNotNull: Bool = false, defaultSQL: String? = nil,
      hasAnyDefault: Bool = false, keyPosition: Int = 0
    ) {
      self.name = name
      self.types = types
      self.isNotNull = isNotNull
      self.defaultSQL = defaultSQL
      self.hasAnyDefault = hasAnyDefault
      self.keyPosition = keyPosition
    }
  }

  let requirement: Requirement
  let columns: [Column]

  /// Reports differences; `false` where a column is missing, so that its values cannot be read.
  @discardableResult
  func examine(_ table: String, in check: ConformanceCheck) throws(FieldpackError) -> Bool {
    let present = try check.columns(of: table)
    var isComplete = true
    for column in columns {
      let name = SQLName(column.name)
      guard let found = present.first(where: { SQLName($0.name) == name }) else {
        isComplete = false
        try check.report(
          .error, requirement, table: table, column: column.name, "the column is missing")
        continue
      }
      for difference in Self.differences(found, column) {
        try check.report(.error, requirement, table: table, column: column.name, difference)
      }
    }
    return isComplete
  }

  private static func differences(
    _ found: ConformanceCheck.TableColumn, _ wanted: Column
  ) -> [String] {
    var differences: [String] = []
    let type = found.type.uppercased()
    if !wanted.types.contains(type) {
      differences.append(
        "its type is \(found.type.isEmpty ? "none" : found.type), not \(wanted.types[0])")
    }
    if found.keyPosition != wanted.keyPosition {
      differences.append(
        wanted.keyPosition == 0 ? "it is part of the primary key" : "it is not the primary key")
    }
    // An INTEGER PRIMARY KEY is never NULL, whatever is declared.
    let isRowID = found.keyPosition > 0 && type == "INTEGER"
    if !isRowID, wanted.keyPosition == 0 || wanted.isNotNull, found.isNotNull != wanted.isNotNull {
      differences.append(wanted.isNotNull ? "it is not NOT NULL" : "it is NOT NULL")
    }
    if !wanted.hasAnyDefault, normalized(found.defaultSQL) != normalized(wanted.defaultSQL) {
      differences.append(
        "its default is \(found.defaultSQL ?? "none"), not \(wanted.defaultSQL ?? "none")")
    }
    return differences
  }

  /// A default's SQL, comparable: without case, blanks and parentheses, and with one spelling of
  /// the current time.
  private static func normalized(_ sql: String?) -> String? {
    guard let sql else { return nil }
    var text = sql.lowercased().filter { !$0.isWhitespace }
    while text.hasPrefix("("), text.hasSuffix(")") { text = String(text.dropFirst().dropLast()) }
    if text == "null" { return nil }
    if text == "strftime('%y-%m-%dt%h:%m:%fz',current_timestamp)" {
      return RequiredTables.now.lowercased()
    }
    return text
  }
}

extension TableDefinition {
  static let systems = TableDefinition(
    requirement: .core(10),
    columns: [
      Column("srs_name", "TEXT", isNotNull: true),
      Column("srs_id", "INTEGER", isNotNull: true, keyPosition: 1),
      Column("organization", "TEXT", isNotNull: true),
      Column("organization_coordsys_id", "INTEGER", isNotNull: true),
      // Versions before 1.3 gave defaults to these two columns.
      Column("definition", "TEXT", isNotNull: true, hasAnyDefault: true),
      Column("description", "TEXT"),
    ])

  static let contents = TableDefinition(
    requirement: .core(13),
    columns: [
      Column("table_name", "TEXT", isNotNull: true, keyPosition: 1),
      Column("data_type", "TEXT", isNotNull: true), Column("identifier", "TEXT"),
      Column("description", "TEXT", defaultSQL: "''"),
      Column("last_change", "DATETIME", isNotNull: true, defaultSQL: RequiredTables.now),
      Column("min_x", "DOUBLE"), Column("min_y", "DOUBLE"), Column("max_x", "DOUBLE"),
      Column("max_y", "DOUBLE"), Column("srs_id", "INTEGER"),
    ])

  static let geometryColumns = TableDefinition(
    requirement: .core(21),
    columns: [
      Column("table_name", "TEXT", isNotNull: true, keyPosition: 1),
      Column("column_name", "TEXT", isNotNull: true, keyPosition: 2),
      Column("geometry_type_name", "TEXT", isNotNull: true),
      Column("srs_id", "INTEGER", isNotNull: true), Column("z", "TINYINT", isNotNull: true),
      Column("m", "TINYINT", isNotNull: true),
    ])

  static let tileMatrixSet = TableDefinition(
    requirement: .core(38),
    columns: [
      Column("table_name", "TEXT", isNotNull: true, keyPosition: 1),
      Column("srs_id", "INTEGER", isNotNull: true), Column("min_x", "DOUBLE", isNotNull: true),
      Column("min_y", "DOUBLE", isNotNull: true), Column("max_x", "DOUBLE", isNotNull: true),
      Column("max_y", "DOUBLE", isNotNull: true),
    ])

  static let tileMatrix = TableDefinition(
    requirement: .core(42),
    columns: [
      Column("table_name", "TEXT", isNotNull: true, keyPosition: 1),
      Column("zoom_level", "INTEGER", isNotNull: true, keyPosition: 2),
      Column("matrix_width", "INTEGER", isNotNull: true),
      Column("matrix_height", "INTEGER", isNotNull: true),
      Column("tile_width", "INTEGER", isNotNull: true),
      Column("tile_height", "INTEGER", isNotNull: true),
      Column("pixel_x_size", "DOUBLE", isNotNull: true),
      Column("pixel_y_size", "DOUBLE", isNotNull: true),
    ])

  static let tilePyramid = TableDefinition(
    requirement: .core(54),
    columns: [
      Column("id", "INTEGER", keyPosition: 1), Column("zoom_level", "INTEGER", isNotNull: true),
      Column("tile_column", "INTEGER", isNotNull: true),
      Column("tile_row", "INTEGER", isNotNull: true),
      Column("tile_data", "BLOB", isNotNull: true),
    ])

  static let extensions = TableDefinition(
    requirement: .core(58),
    columns: [
      Column("table_name", "TEXT"), Column("column_name", "TEXT"),
      Column("extension_name", "TEXT", isNotNull: true),
      Column("definition", "TEXT", isNotNull: true), Column("scope", "TEXT", isNotNull: true),
    ])

  /// The table `gpkg_metadata`. In 1.0 the column `metadata` has no default.
  static func metadata(_ version: Int) -> TableDefinition {
    TableDefinition(
      requirement: .core(93),
      columns: [
        Column("id", "INTEGER", isNotNull: true, keyPosition: 1),
        Column("md_scope", "TEXT", isNotNull: true, defaultSQL: "'dataset'"),
        Column("md_standard_uri", "TEXT", isNotNull: true),
        Column("mime_type", "TEXT", isNotNull: true, defaultSQL: "'text/xml'"),
        Column(
          "metadata", "TEXT", isNotNull: true, defaultSQL: "''", hasAnyDefault: version < 10_100),
      ])
  }

  static let metadataReference = TableDefinition(
    requirement: .core(95),
    columns: [
      Column("reference_scope", "TEXT", isNotNull: true), Column("table_name", "TEXT"),
      Column("column_name", "TEXT"), Column("row_id_value", "INTEGER"),
      Column("timestamp", "DATETIME", isNotNull: true, defaultSQL: RequiredTables.now),
      Column("md_file_id", "INTEGER", isNotNull: true), Column("md_parent_id", "INTEGER"),
    ])

  static let dataColumns = TableDefinition(
    requirement: .core(103),
    columns: [
      Column("table_name", "TEXT", isNotNull: true, keyPosition: 1),
      Column("column_name", "TEXT", isNotNull: true, keyPosition: 2), Column("name", "TEXT"),
      Column("title", "TEXT"), Column("description", "TEXT"), Column("mime_type", "TEXT"),
      Column("constraint_name", "TEXT"),
    ])

  /// - Parameter ends: the names of the two flag columns, which 1.0 spells differently.
  static func dataColumnConstraints(_ ends: (String, String)) -> TableDefinition {
    TableDefinition(
      requirement: .core(107),
      columns: [
        Column("constraint_name", "TEXT", isNotNull: true),
        Column("constraint_type", "TEXT", isNotNull: true), Column("value", "TEXT"),
        Column("min", "NUMERIC"), Column(ends.0, "BOOLEAN"), Column("max", "NUMERIC"),
        Column(ends.1, "BOOLEAN"), Column("description", "TEXT"),
      ])
  }

  static let relations = TableDefinition(
    requirement: .related(4),
    columns: [
      Column("id", "INTEGER", keyPosition: 1), Column("base_table_name", "TEXT", isNotNull: true),
      Column("base_primary_column", "TEXT", isNotNull: true, defaultSQL: "'id'"),
      Column("related_table_name", "TEXT", isNotNull: true),
      Column("related_primary_column", "TEXT", isNotNull: true, defaultSQL: "'id'"),
      Column("relation_name", "TEXT", isNotNull: true),
      Column("mapping_table_name", "TEXT", isNotNull: true),
    ])

  static let mapping = TableDefinition(
    requirement: .related(9),
    columns: [
      Column("base_id", "INTEGER", isNotNull: true),
      Column("related_id", "INTEGER", isNotNull: true),
    ])

  static let coverageAncillary = TableDefinition(
    requirement: .coverage(1),
    columns: [
      Column("id", "INTEGER", isNotNull: true, keyPosition: 1),
      Column("tile_matrix_set_name", "TEXT", isNotNull: true),
      Column("datatype", "TEXT", isNotNull: true, defaultSQL: "'integer'"),
      Column("scale", "REAL", isNotNull: true, defaultSQL: "1.0"),
      Column("offset", "REAL", isNotNull: true, defaultSQL: "0.0"),
      Column("precision", "REAL", defaultSQL: "1.0"), Column("data_null", "REAL"),
    ])

  static let coverageTileAncillary = TableDefinition(
    requirement: .coverage(2),
    columns: [
      Column("id", "INTEGER", keyPosition: 1), Column("tpudt_name", "TEXT", isNotNull: true),
      Column("tpudt_id", "INTEGER", isNotNull: true),
      Column("scale", "REAL", isNotNull: true, defaultSQL: "1.0"),
      Column("offset", "REAL", isNotNull: true, defaultSQL: "0.0"), Column("min", "REAL"),
      Column("max", "REAL"), Column("mean", "REAL"), Column("std_dev", "REAL"),
    ])
}
