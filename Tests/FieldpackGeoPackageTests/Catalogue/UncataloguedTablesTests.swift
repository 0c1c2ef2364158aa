import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackGeoPackage

@Suite struct UncataloguedTablesTests {
  @Test func `tables that no catalogue names are told, and those of the file are not`()
    async throws
  {
    let schema = Schema(layer: "wells", geometry: GeometryColumn(type: .point))
    let package = try TestPackage(.v14, [schema])
    try package.run(
      """
      CREATE TABLE notes (note TEXT);
      CREATE VIEW latest AS SELECT * FROM notes;
      CREATE TABLE fieldpack_schema (layer TEXT);
      CREATE TABLE layer_styles (id INTEGER);
      CREATE INDEX by_note ON notes(note);
      ANALYZE
      """)
    let found = try await package.withStore { try await $0.uncataloguedTables() }
    #expect(found == ["notes", "latest"])
  }
}
