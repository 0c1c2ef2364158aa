import FieldpackSQLite

/// The triggers that may run in a foreign file: those of all versions of the standard, GDAL's
/// feature counts, and the change logs of SpatialConnect and GeoGig.
///
/// A trigger is known by its text alone, see ``TriggerTemplate``. To know one more, add its text to
/// the table.
enum KnownTriggers {
  /// Whether a text is a known trigger.
  ///
  /// - Parameter hasTable: whether the file has a table of that name. It is asked where a trigger
  ///   names another table than its own.
  static func know(
    _ text: TriggerTokens, called name: String, on table: String, hasTable: (String) -> Bool
  ) -> Bool {
    if AuditTrigger(text, called: name, on: table) != nil { return true }
    if LogShape(text, called: name, on: table) != nil { return true }
    let (name, table) = (SQLName(name), SQLName(table))
    func isOne(of templates: [TriggerTemplate], _ isRight: ([SQLName: SQLName]) -> Bool) -> Bool {
      templates.contains { $0.names(in: text, called: name, on: table).map(isRight) ?? false }
    }
    return isOne(of: indexes) { isIndex($0, hasTable) }
      || isOne(of: counts) { names in
        guard let counted = names[SQLName("<*>")] else { return false }
        return counted == table || !hasTable(counted.lowercased)
      } || isOne(of: constraints) { _ in true }
  }

  /// Whether a trigger writes the R-tree of its own table and column. A table that was renamed in
  /// SQLite keeps the R-tree of its old name, as long as no other table has that name.
  private static func isIndex(
    _ names: [SQLName: SQLName], _ hasTable: (String) -> Bool
  ) -> Bool {
    guard let table = names[SQLName("<t>")], let index = names[SQLName("<rtree_*>")] else {
      return false
    }
    // Some triggers that delete an entry do not name the geometry column.
    guard let column = names[SQLName("<c>")] else {
      return index.hasPrefix("rtree_\(table.lowercased)_")
    }
    if index == SQLName("rtree_\(table.lowercased)_\(column.lowercased)") { return true }
    let ending = "_\(column.lowercased)"
    guard index.hasSuffix(ending) else { return false }
    let owner = index.dropping(first: "rtree_".utf8.count, last: ending.utf8.count)
    return !hasTable(owner.lowercased)
  }

  // MARK: R-trees

  /// The triggers of the R-tree extension 1.0 to 1.4, as the standard's texts, GDAL, NGA,
  /// SpatiaLite, Kart and Fieldpack write them.
  private static let indexes: [TriggerTemplate] = {
    let has = #"(NEW."<c>" NOT NULL AND NOT ST_IsEmpty(NEW."<c>"))"#
    let lacks = #"(NEW."<c>" IS NULL OR ST_IsEmpty(NEW."<c>"))"#
    let had = #"(OLD."<c>" NOT NULL AND NOT ST_IsEmpty(OLD."<c>"))"#
    let lacked = #"(OLD."<c>" IS NULL OR ST_IsEmpty(OLD."<c>"))"#
    let bounds =
      #"ST_MinX(NEW."<c>"), ST_MaxX(NEW."<c>"), ST_MinY(NEW."<c>"), ST_MaxY(NEW."<c>")"#
    let put = #"INSERT {OR REPLACE} INTO "<rtree_*>" VALUES (NEW."<i>", "# + bounds + ");"
    let drop = #"DELETE FROM "<rtree_*>" WHERE id = OLD."<i>";"#
    let dropBoth = #"DELETE FROM "<rtree_*>" WHERE id IN (OLD."<i>", NEW."<i>");"#
    let change =
      #"UPDATE "<rtree_*>" SET minx = ST_MinX(NEW."<c>"), maxx = ST_MaxX(NEW."<c>"), "#
      + #"miny = ST_MinY(NEW."<c>"), maxy = ST_MaxY(NEW."<c>") WHERE id = NEW."<i>";"#
    let same = #"OLD."<i>" = NEW."<i>" AND "#
    let moved = #"OLD."<i>" <> NEW."<i>" AND "#
    func update(_ suffix: String, _ condition: String, _ body: String) -> TriggerTemplate {
      TriggerTemplate(
        "rtree_*_\(suffix)",
        #"AFTER UPDATE {OF "<c>"} ON "<t>" WHEN \#(condition) BEGIN \#(body) END"#)
    }
    return [
      TriggerTemplate(
        "rtree_*_insert", #"AFTER INSERT ON "<t>" WHEN \#(has) BEGIN \#(put) END"#),
      update("update1", same + has, put),
      update("update2", same + lacks, drop),
      update("update3", moved + has, drop + put),
      update("update4", moved + lacks, dropBoth),
      update("update5", moved + has, drop + put),
      update("update6", same + has + " AND " + had, change),
      update("update7", same + has + " AND " + lacked, put),
      // The text of 1.4.0 has these names.
      update("update6_old_geom_notnull", same + has + " AND " + had, change),
      update("update7_old_geom_null", same + has + " AND " + lacked, put),
      TriggerTemplate(
        "rtree_*_delete", #"AFTER DELETE ON "<t>" {WHEN OLD."<c>" NOT NULL} BEGIN \#(drop) END"#),
    ]
  }()

  // MARK: Constraints and counts

  /// Triggers that only refuse rows and change nothing.
  private static let constraints = tileMatrices + pyramids + metadata + geometryColumns + retired

  /// GDAL's triggers that count features.
  private static let counts = [("insert", "+"), ("delete", "-")].map { event, sign in
    TriggerTemplate(
      "trigger_\(event)_feature_count_*",
      """
      AFTER \(event.uppercased()) ON "<t>" BEGIN UPDATE gpkg_ogr_contents
      SET feature_count = feature_count \(sign) 1 WHERE lower(table_name) = lower('<*>'); END
      """)
  }

  /// Two triggers that refuse a row: one before insertions, one before updates of a column.
  private static func refusing(
    _ name: String, _ column: String, table: String = "<t>", by how: String = "ABORT",
    where conditions: String...
  ) -> [TriggerTemplate] {
    let body = conditions.map { "SELECT RAISE(\(how), '*') WHERE \($0);" }.joined(separator: " ")
    return [("insert", "INSERT"), ("update", #"UPDATE OF "\#(column)""#)].map { suffix, event in
      TriggerTemplate(
        "\(name)_\(suffix)", #"BEFORE \#(event) ON "\#(table)" BEGIN \#(body) END"#)
    }
  }

  /// Annex D of versions 1.0 to 1.2.
  private static let tileMatrices: [TriggerTemplate] = {
    func of(_ column: String, _ condition: String) -> [TriggerTemplate] {
      let table = "gpkg_tile_matrix"
      return refusing("\(table)_\(column)", column, table: table, where: condition)
    }
    return of("zoom_level", "(NEW.zoom_level < 0)") + of("matrix_width", "(NEW.matrix_width < 1)")
      + of("matrix_height", "(NEW.matrix_height < 1)")
      + of("pixel_x_size", "NOT (NEW.pixel_x_size > 0)")
      + of("pixel_y_size", "NOT (NEW.pixel_y_size > 0)")
  }()

  /// The triggers of each tile pyramid. From version 3 on GDAL compares names ignoring their case.
  private static let pyramids = ["table_name = '*'", "lower(table_name) = lower('*')"].flatMap {
    isOwn in
    func within(_ column: String, _ size: String) -> [TriggerTemplate] {
      refusing(
        "*_\(column)", column, where: "(NEW.\(column) < 0)",
        "NOT (NEW.\(column) < (SELECT \(size) FROM gpkg_tile_matrix WHERE \(isOwn) "
          + "AND zoom_level = NEW.zoom_level))")
    }
    return refusing(
      "*_zoom", "zoom_level",
      where: "NOT (NEW.zoom_level IN (SELECT zoom_level FROM gpkg_tile_matrix WHERE \(isOwn)))")
      + within("tile_column", "matrix_width") + within("tile_row", "matrix_height")
  }

  /// Annex D's triggers of the metadata extension. Some versions have `catalog`, and two words run
  /// together, with which SQLite refuses every change.
  private static let metadata: [TriggerTemplate] = {
    let reference = "gpkg_metadata_reference"
    func of(_ column: String, _ conditions: String...) -> [TriggerTemplate] {
      conditions.count == 1
        ? refusing("\(reference)_\(column)", column, table: reference, where: conditions[0])
        : refusing(
          "\(reference)_\(column)", column, table: reference, where: conditions[0], conditions[1])
    }
    let scopes = ["catalog", "catalogue"].flatMap { catalogue in
      refusing(
        "gpkg_metadata_md_scope", "md_scope", table: "gpkg_metadata",
        where: """
          NOT (NEW.md_scope IN ('undefined', 'fieldSession', 'collectionSession', 'series',
          'dataset', 'featureType', 'feature', 'attributeType', 'attribute', 'tile', 'model',
          '\(catalogue)', 'schema', 'taxonomy', 'software', 'service', 'collectionHardware',
          'nonGeographicDataset', 'dimensionGroup'))
          """)
    }
    let columns = ["column_name", "column_nameIS"].flatMap { name in
      of(
        "column_name",
        "(NEW.reference_scope IN ('geopackage', 'table', 'row') AND NEW.\(name) NOT NULL)",
        """
        (NEW.reference_scope IN ('column', 'row/col') AND NOT NEW.table_name IN
        (SELECT name FROM sqlite_master WHERE type = 'table' AND name = NEW.table_name
        AND sql LIKE ('%' || NEW.column_name || '%')))
        """)
    }
    let isRowless =
      "NEW.reference_scope IN ('geopackage', 'table', 'column') AND NEW.row_id_value NOT NULL"
    let isNoRow = """
      NEW.reference_scope IN ('row', 'row/col') AND NOT EXISTS (SELECT rowid FROM
      (SELECT NEW.table_name AS table_name) WHERE rowid = NEW.row_id_value)
      """
    let times = ["1-3", "0-3"].flatMap { days in
      of(
        "timestamp",
        """
        NOT (NEW.timestamp GLOB '[1-2][0-9][0-9][0-9]-[0-1][0-9]-[\(days)][0-9]T[0-2][0-9]:[0-5]\
        [0-9]:[0-5][0-9].[0-9][0-9][0-9]Z' AND strftime('%s', NEW.timestamp) NOT NULL)
        """)
    }
    return scopes + columns + times + of("row_id_value", isRowless)
      + of("row_id_value", isRowless, isNoRow)
      + of(
        "reference_scope",
        "NOT NEW.reference_scope IN ('geopackage', 'table', 'column', 'row', 'row/col')")
  }()

  /// Triggers of drafts of version 1.0.
  private static let geometryColumns: [TriggerTemplate] = ["z", "m"].flatMap { column in
    ["NOT (NEW.\(column) IN (0, 1, 2))", "NOT NEW.\(column) IN (0, 1, 2)"].flatMap {
      refusing(
        "gpkg_geometry_columns_\(column)", column, table: "gpkg_geometry_columns", where: $0)
    }
  }

  /// The geometry type and SRS triggers of versions 1.0 and 1.1, as the standard and SpatiaLite
  /// have them.
  private static let retired: [TriggerTemplate] = {
    func of(_ kind: String, _ column: String, _ test: String) -> [TriggerTemplate] {
      [("i", "INSERT"), ("u", #"UPDATE OF "<c>""#)].map { letter, event in
        TriggerTemplate(
          "\(kind)\(letter)_*",
          """
          BEFORE \(event) ON "<t>" BEGIN SELECT RAISE(ROLLBACK, '*') WHERE (SELECT \(column)
          FROM gpkg_geometry_columns WHERE lower(table_name) = lower('*')
          AND lower(column_name) = lower('*') AND \(test)); END
          """)
      }
    }
    return of(
      "fgt", "geometry_type_name",
      #"gpkg_IsAssignable(geometry_type_name, ST_GeometryType(NEW."<c>")) = 0"#)
      + of("fgs", "srs_id", #"ST_SRID(NEW."<c>") <> srs_id"#)
  }()
}
