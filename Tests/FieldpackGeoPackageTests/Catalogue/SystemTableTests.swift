import FieldpackSQLite
import Testing

@testable import FieldpackGeoPackage

@Suite struct SystemTableTests {
  @Test func `a declaration is the text that creates its table`() {
    #expect(
      GPKGContents.creation() == """
        CREATE TABLE gpkg_contents (
          table_name TEXT NOT NULL PRIMARY KEY,
          data_type TEXT NOT NULL,
          identifier TEXT UNIQUE,
          description TEXT DEFAULT '',
          last_change DATETIME NOT NULL DEFAULT (\(RequiredTables.now)),
          min_x DOUBLE,
          min_y DOUBLE,
          max_x DOUBLE,
          max_y DOUBLE,
          srs_id INTEGER,
          CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id)
        )
        """)
  }

  @Test func `a table is created without the columns of extensions`() {
    let names = GPKGSpatialRefSys.columns.map(\.sql)
    #expect(
      names == [
        "srs_name", "srs_id", "organization", "organization_coordsys_id", "definition",
        "description",
      ])
    #expect(
      GPKGSpatialRefSys.creation(GPKGSpatialRefSys.columns + [.wkt2]).hasSuffix(
        "\n  description TEXT,\n  definition_12_063 TEXT NOT NULL\n)"))
  }

  @Test func `a reader and an insertion name the columns of a declaration`() {
    #expect(
      GPKGTileMatrixSet.selection(GPKGTileMatrixSet.columns)
        == "SELECT table_name, srs_id, min_x, min_y, max_x, max_y FROM gpkg_tile_matrix_set")
    #expect(
      GPKGMetadata.insertion([.scope, .content])
        == "INSERT INTO gpkg_metadata (md_scope, metadata) VALUES (?, ?)")
    #expect(
      GPKGMapping.insertion(replacing: true)
        == "INSERT OR REPLACE INTO sample_mapping_table (base_id, related_id) VALUES (?, ?)")
  }

  @Test func `SQLite reads every declaration as its columns`() throws {
    let connection = try Connection(inMemory: .own)
    func examine<Table: SystemTable>(_: Table.Type) throws {
      try connection.execute(Table.creation())
      let info = try connection.prepare("PRAGMA table_xinfo(\(Table.table))")
      var names: [SQLiteValue] = []
      while try info.step() { names.append(info.value(1)) }
      #expect(names == Table.columns.map { .text($0.sql) })
    }
    try examine(GPKGSpatialRefSys.self)
    try examine(GPKGContents.self)
    try examine(GPKGGeometryColumns.self)
    try examine(GPKGExtensions.self)
    try examine(GPKGDataColumns.self)
    try examine(GPKGDataColumnConstraints.self)
    try examine(GPKGMetadata.self)
    try examine(GPKGMetadataReference.self)
    try examine(GPKGRelations.self)
    try examine(GPKGTileMatrixSet.self)
    try examine(GPKGTileMatrix.self)
    try examine(GPKGCoverageAncillary.self)
    try examine(GPKGTileAncillary.self)
    try examine(GPKGTiles.self)
    try examine(GPKGMapping.self)
  }

  @Test func `a row gives values by column, and expressions after them`() {
    let values: [SQLiteValue] = ["roads", 4326, 0, 1.5]
    let row = SystemRow([GPKGContents.tableName, .srsID, .minX], values[...])
    #expect(row[.tableName] == "roads")
    #expect(row[[.minX, .srsID]] == [0, 4326])
    #expect(row.also(0) == 1.5)
  }
}
