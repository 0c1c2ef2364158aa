package enum GPKGSpatialRefSys: String, SystemTable {
  case name = "srs_name TEXT NOT NULL"
  case id = "srs_id INTEGER NOT NULL PRIMARY KEY"
  case organization = "organization TEXT NOT NULL"
  case code = "organization_coordsys_id INTEGER NOT NULL"
  case definition = "definition TEXT NOT NULL"
  case description = "description TEXT"
  // The columns of the CRS WKT extension; `epoch` is from its version 1.1.
  case wkt2 = "definition_12_063 TEXT NOT NULL"
  case epoch = "epoch DOUBLE"

  package static let table = "gpkg_spatial_ref_sys"
  package static let columns: [Self] = [
    .name, .id, .organization, .code, .definition, .description,
  ]
}

package enum GPKGContents: String, SystemTable {
  case tableName = "table_name TEXT NOT NULL PRIMARY KEY"
  case dataType = "data_type TEXT NOT NULL"
  case identifier = "identifier TEXT UNIQUE"
  case description = "description TEXT DEFAULT ''"
  case lastChange = "last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now'))"
  case minX = "min_x DOUBLE"
  case minY = "min_y DOUBLE"
  case maxX = "max_x DOUBLE"
  case maxY = "max_y DOUBLE"
  case srsID = "srs_id INTEGER"

  package static let table = "gpkg_contents"
  package static let constraints = [
    "CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id)"
  ]
  package static let extent: [Self] = [.minX, .minY, .maxX, .maxY]
}

package enum GPKGGeometryColumns: String, SystemTable {
  case tableName = "table_name TEXT NOT NULL"
  case columnName = "column_name TEXT NOT NULL"
  case typeName = "geometry_type_name TEXT NOT NULL"
  case srsID = "srs_id INTEGER NOT NULL"
  case z = "z TINYINT NOT NULL"
  case m = "m TINYINT NOT NULL"

  package static let table = "gpkg_geometry_columns"
  package static let constraints = [
    "CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name)",
    "CONSTRAINT uk_gc_table_name UNIQUE (table_name)",
    "CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name)",
    "CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id)",
  ]
}

package enum GPKGExtensions: String, SystemTable {
  case tableName = "table_name TEXT"
  case columnName = "column_name TEXT"
  case name = "extension_name TEXT NOT NULL"
  case definition = "definition TEXT NOT NULL"
  case scope = "scope TEXT NOT NULL"

  package static let table = "gpkg_extensions"
  package static let constraints = [
    "CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name)"
  ]
}

package enum GPKGDataColumns: String, SystemTable {
  case tableName = "table_name TEXT NOT NULL"
  case columnName = "column_name TEXT NOT NULL"
  case name = "name TEXT"
  case title = "title TEXT"
  case description = "description TEXT"
  case mediaType = "mime_type TEXT"
  case constraintName = "constraint_name TEXT"

  package static let table = "gpkg_data_columns"
  package static let constraints = [
    "CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name)",
    "CONSTRAINT gdc_tn UNIQUE (table_name, name)",
  ]
}

package enum GPKGDataColumnConstraints: String, SystemTable {
  case name = "constraint_name TEXT NOT NULL"
  case type = "constraint_type TEXT NOT NULL"
  case value = "value TEXT"
  case min = "min NUMERIC"
  case minIsInclusive = "min_is_inclusive BOOLEAN"
  case max = "max NUMERIC"
  case maxIsInclusive = "max_is_inclusive BOOLEAN"
  case description = "description TEXT"

  package static let table = "gpkg_data_column_constraints"
  package static let constraints = [
    "CONSTRAINT gdcc_ntv UNIQUE (constraint_name, constraint_type, value)"
  ]

  /// The column's name in version 1.0.
  package var formerSQL: String {
    switch self {
    case .minIsInclusive: "minIsInclusive"
    case .maxIsInclusive: "maxIsInclusive"
    default: sql
    }
  }
}

package enum GPKGMetadata: String, SystemTable {
  case id = "id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL"
  case scope = "md_scope TEXT NOT NULL DEFAULT 'dataset'"
  case standardURI = "md_standard_uri TEXT NOT NULL"
  case mediaType = "mime_type TEXT NOT NULL DEFAULT 'text/xml'"
  case content = "metadata TEXT NOT NULL DEFAULT ''"

  package static let table = "gpkg_metadata"
}

package enum GPKGMetadataReference: String, SystemTable {
  case scope = "reference_scope TEXT NOT NULL"
  case tableName = "table_name TEXT"
  case columnName = "column_name TEXT"
  case rowID = "row_id_value INTEGER"
  case timestamp = "timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now'))"
  case metadata = "md_file_id INTEGER NOT NULL"
  case parent = "md_parent_id INTEGER"

  package static let table = "gpkg_metadata_reference"
  package static let constraints = [
    "CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id) REFERENCES gpkg_metadata(id)",
    "CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id) REFERENCES gpkg_metadata(id)",
  ]
}

package enum GPKGRelations: String, SystemTable {
  case id = "id INTEGER PRIMARY KEY AUTOINCREMENT"
  case base = "base_table_name TEXT NOT NULL"
  case baseColumn = "base_primary_column TEXT NOT NULL DEFAULT 'id'"
  case related = "related_table_name TEXT NOT NULL"
  case relatedColumn = "related_primary_column TEXT NOT NULL DEFAULT 'id'"
  case name = "relation_name TEXT NOT NULL"
  case mapping = "mapping_table_name TEXT NOT NULL UNIQUE"

  package static let table = "gpkgext_relations"
}

package enum GPKGTileMatrixSet: String, SystemTable {
  case tableName = "table_name TEXT NOT NULL PRIMARY KEY"
  case srsID = "srs_id INTEGER NOT NULL"
  case minX = "min_x DOUBLE NOT NULL"
  case minY = "min_y DOUBLE NOT NULL"
  case maxX = "max_x DOUBLE NOT NULL"
  case maxY = "max_y DOUBLE NOT NULL"

  package static let table = "gpkg_tile_matrix_set"
  package static let constraints = [
    "CONSTRAINT fk_gtms_table_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name)",
    "CONSTRAINT fk_gtms_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id)",
  ]
  package static let bounds: [Self] = [.minX, .minY, .maxX, .maxY]
}

package enum GPKGTileMatrix: String, SystemTable {
  case tableName = "table_name TEXT NOT NULL"
  case zoom = "zoom_level INTEGER NOT NULL"
  case width = "matrix_width INTEGER NOT NULL"
  case height = "matrix_height INTEGER NOT NULL"
  case tileWidth = "tile_width INTEGER NOT NULL"
  case tileHeight = "tile_height INTEGER NOT NULL"
  case pixelWidth = "pixel_x_size DOUBLE NOT NULL"
  case pixelHeight = "pixel_y_size DOUBLE NOT NULL"

  package static let table = "gpkg_tile_matrix"
  package static let constraints = [
    "CONSTRAINT pk_ttm PRIMARY KEY (table_name, zoom_level)",
    "CONSTRAINT fk_tmm_table_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name)",
  ]
  package static let counts: [Self] = [.width, .height, .tileWidth, .tileHeight]
  package static let pixels: [Self] = [.pixelWidth, .pixelHeight]
}

// MARK: Tables that are only read

package enum GPKGCoverageAncillary: String, SystemTable {
  case id = "id INTEGER NOT NULL PRIMARY KEY"
  case tableName = "tile_matrix_set_name TEXT NOT NULL"
  case dataType = "datatype TEXT NOT NULL DEFAULT 'integer'"
  case scale = "scale REAL NOT NULL DEFAULT 1.0"
  case offset = "offset REAL NOT NULL DEFAULT 0.0"
  case precision = "precision REAL DEFAULT 1.0"
  case null = "data_null REAL"
  case encoding = "grid_cell_encoding TEXT DEFAULT 'grid-value-is-center'"
  case unit = "uom TEXT"
  case fieldName = "field_name TEXT DEFAULT 'Height'"
  case quantity = "quantity_definition TEXT DEFAULT 'Height'"

  package static let table = "gpkg_2d_gridded_coverage_ancillary"
}

package enum GPKGTileAncillary: String, SystemTable {
  case id = "id INTEGER PRIMARY KEY"
  case tableName = "tpudt_name TEXT NOT NULL"
  case tile = "tpudt_id INTEGER NOT NULL"
  case scale = "scale REAL NOT NULL DEFAULT 1.0"
  case offset = "offset REAL NOT NULL DEFAULT 0.0"
  case min = "min REAL"
  case max = "max REAL"
  case mean = "mean REAL"
  case deviation = "std_dev REAL"

  package static let table = "gpkg_2d_gridded_tile_ancillary"
}

// MARK: Tables that a user names

/// A table of tiles, by the name that the standard uses as an example.
package enum GPKGTiles: String, SystemTable {
  case id = "id INTEGER PRIMARY KEY AUTOINCREMENT"
  case zoom = "zoom_level INTEGER NOT NULL"
  case column = "tile_column INTEGER NOT NULL"
  case row = "tile_row INTEGER NOT NULL"
  case data = "tile_data BLOB NOT NULL"

  package static let table = "sample_tile_pyramid"
}

/// The columns of a mapping table that the standard requires, by the name that the standard uses as
/// an example.
package enum GPKGMapping: String, SystemTable {
  case base = "base_id INTEGER NOT NULL"
  case related = "related_id INTEGER NOT NULL"

  package static let table = "sample_mapping_table"
}
