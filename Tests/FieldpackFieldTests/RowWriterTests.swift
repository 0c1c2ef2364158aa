import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@Suite struct RowWriterTests {
  private static let layer: LayerID = "seen"
  private static let insertion = RowWriter.insertion(
    into: layer, ["name", "count", "share", "region", "region_text"])

  @Test func `an insertion names its columns and has a parameter for each`() {
    #expect(
      Self.insertion
        == "INSERT INTO seen (name, count, share, region, region_text) VALUES (?, ?, ?, ?, ?)")
  }

  @Test func `values follow the columns, row by row`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("field.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, store: "field").commit()
    let store = try await GeoPackageStore(path: path, id: "field")
    let rows = try await store.write { (writer) throws(FieldpackError) -> [[SQLiteValue]] in
      try writer.createLayer(
        Schema(
          layer: Self.layer,
          columns: [
            ColumnDefinition("name", .text()), ColumnDefinition("count", .integer),
            ColumnDefinition("share", .double), ColumnDefinition("region", .integer),
            ColumnDefinition("region_text", .text()),
          ]))
      var rows = try RowWriter(Self.insertion, in: Self.layer, writer)
      let regions: [FeatureID?] = [.integer(7), .text("north"), nil]
      var ids: [Int64] = []
      for (number, region) in regions.enumerated() {
        try rows.add(number == 1 ? nil : "row \(number)")
        try rows.add(number)
        try rows.add(Double(number) / 2)
        try rows.add(region: region)
        ids.append(try rows.insert())
      }
      guard ids == [1, 2, 3] else { throw FieldpackError(.invalidData, "\(ids)") }
      var change = try RowWriter("UPDATE seen SET count = ? WHERE fid = ?", in: Self.layer, writer)
      try change.add(Int64(40))
      try change.add(ids[2])
      try change.run()
      return try writer.rows("SELECT name, count, share, region, region_text FROM seen")
    }
    #expect(
      rows == [
        ["row 0", 0, 0.0, 7, nil], [nil, 1, 0.5, nil, "north"], ["row 2", 40, 1.0, nil, nil],
      ])
    await store.close()
  }
}
