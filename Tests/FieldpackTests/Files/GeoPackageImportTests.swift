import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Layers of one GeoPackage that are imported into another one.
@Suite struct GeoPackageImportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.file(name).path }

  private static let quality = ColumnConstraint(
    "quality", .oneOf([.init("good"), .init("bad", description: "smells")]))
  private static let wells = Schema(
    layer: "wells",
    geometry: GeometryColumn(type: .point, srs: SRS("EPSG", 25833), z: .mandatory),
    columns: [
      ColumnDefinition(
        "name", .text(maximumLength: 20), isNullable: false, isUnique: true, title: "The name"),
      ColumnDefinition("depth", .float, defaultSQL: "7.5"),
      ColumnDefinition("quality", .text(), constraint: quality),
    ])

  private func write<R: Sendable>(
    _ name: String, _ body: @Sendable (GeoPackageWriter) throws(FieldpackError) -> R
  ) async throws -> R {
    if !FileManager.default.fileExists(atPath: path(name)) {
      _ = try GeoPackageBulkWriter(creating: path(name), store: "made").commit()
    }
    let store = try await GeoPackageStore(path: path(name), id: "made", usesWAL: false)
    let result = try await store.write(body)
    await store.close()
    return result
  }

  private func read<R: Sendable>(
    _ name: String, _ body: @Sendable (GeoPackageSnapshot) throws(FieldpackError) -> R
  ) async throws -> R {
    let store = try await GeoPackageStore(path: path(name), id: "made")
    let result = try await store.read(body)
    await store.close()
    return result
  }

  /// The rows of a statement, a text each.
  private func rows(_ name: String, _ sql: String) throws -> [String] {
    let connection = try Connection(path: path(name), mode: .readOnly)
    let statement = try connection.prepare(sql)
    var rows: [String] = []
    while try statement.step() {
      let values = (0..<statement.columnCount).map { statement.string($0) ?? "-" }
      rows.append(values.joined(separator: "|"))
    }
    return rows
  }

  private static func well(_ id: Int64, _ name: String) -> Feature {
    Feature(
      id: .integer(id),
      geometry: .point(Position(x: 400_000 + Double(id), y: 5_700_000, z: 3), .xyz),
      attributes: ["name": .text(name), "quality": "good"])
  }

  /// Two wells with ids 5 and 9, a picture of the one, an arc, and a document about each level.
  private func makeSurvey(_ name: String = "survey.gpkg") async throws {
    try await write(name) { (writer) throws(FieldpackError) in
      try writer.createLayer(Self.wells)
      for (id, name) in [(5, "north"), (9, "south")] {
        try writer.create(Self.well(Int64(id), name), in: "wells")
      }
      try writer.createLayer(
        Schema(layer: "arcs", geometry: GeometryColumn(type: .geometry, m: .optional)))
      try writer.create(
        Feature(
          geometry: .circularString(
            CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 1, 1, 2, 0]))), in: "arcs")
      try writer.createMediaLayer("photos")
      let photos = try writer.createRelation(
        from: "wells", to: "photos", as: .media, columns: [ColumnDefinition("rank", .integer)])
      let photo = try writer.addMedia(
        [1, 2, 3], as: "image/jpeg", to: "photos", relatedTo: 9, by: photos)
      try writer.link(9, to: photo, by: photos, attributes: ["rank": 4])
      try writer.addMetadata(
        "<wells/>", standard: "urn:x", about: .layer("wells"), .row(9, of: "wells"),
        .column("depth", of: "wells"))
    }
  }

  private func isSound(_ name: String) async throws -> Bool {
    let report = try await FileCheck().run(path(name))
    for finding in report.findings { Issue.record("\(finding.requirement): \(finding.reason)") }
    return report.findings.isEmpty
  }

  // MARK: Whole files

  @Test func `all that belongs to layers comes`() async throws {
    try await makeSurvey()
    let report = try await FileImport().run([path("survey.gpkg")], into: path("out.gpkg"))
    #expect(report.layers.map(\.layer) == ["wells", "arcs", "photos"])
    #expect(report.layers.map(\.count) == [2, 1, 1])
    #expect(report.notes == [])
    #expect(try await isSound("out.gpkg"))
    let (from, into) = ("survey.gpkg", "out.gpkg")
    let schemas = try await read(from) { (file) throws(FieldpackError) in
      try file.layers().map(\.schema)
    }
    #expect(
      try await read(into) { (file) throws(FieldpackError) in try file.layers().map(\.schema) }
        == schemas)
    for sql in [
      "SELECT fid, hex(geom), name, depth, quality FROM wells", "SELECT hex(geom) FROM arcs",
      "SELECT id, hex(data), content_type FROM photos",
      "SELECT base_id, related_id, rank FROM wells_photos",
      "SELECT constraint_name, constraint_type, value, description "
        + "FROM gpkg_data_column_constraints",
      "SELECT reference_scope, table_name, column_name, row_id_value, metadata "
        + "FROM gpkg_metadata_reference JOIN gpkg_metadata ON id = md_file_id",
      "SELECT base_table_name, base_primary_column, related_table_name, related_primary_column, "
        + "relation_name, mapping_table_name FROM gpkgext_relations",
      "SELECT table_name, column_name, extension_name FROM gpkg_extensions "
        + "WHERE extension_name LIKE 'gpkg_geom%'",
    ] {
      #expect(try rows(into, sql) == rows(from, sql), "\(sql)")
    }
  }

  @Test func `a layer comes with its media and under another name`() async throws {
    try await makeSurvey()
    var options = ImportOptions(layer: "old wells")
    options.srs = .wgs84
    let report = try await FileImport(options).run(
      sources: [ImportSource(path("survey.gpkg"), layer: "WELLS")], into: path("out.gpkg"))
    #expect(report.layers.map(\.layer) == ["old wells", "photos"])
    #expect(report.layers.first?.srs == .wgs84)
    #expect(try rows("out.gpkg", "SELECT base_id, related_id FROM wells_photos") == ["9|1"])
    #expect(
      try rows("out.gpkg", "SELECT DISTINCT table_name FROM gpkg_metadata_reference")
        == ["old wells"])
    #expect(try await isSound("out.gpkg"))
  }

  // MARK: Modes

  @Test func `taken ids change, in links and metadata as well`() async throws {
    try await makeSurvey()
    try await write("out.gpkg") { (writer) throws(FieldpackError) in
      try writer.createLayer(Self.wells)
      try writer.create(Self.well(9, "east"), in: "wells")
    }
    let report = try await FileImport(ImportOptions(mode: .append)).run(
      [path("survey.gpkg")], into: path("out.gpkg"))
    #expect(
      report.notes.map(\.text) == [
        "1 feature of layer 'wells' got other ids, because their own ids were taken"
      ])
    #expect(report.layers.map(\.renumberedCount) == [1, 0, 0])
    #expect(
      try rows("out.gpkg", "SELECT fid, name FROM wells ORDER BY 1")
        == ["5|north", "9|east", "10|south"])
    #expect(
      try rows("out.gpkg", "SELECT base_id, related_id, rank FROM wells_photos") == ["10|1|4"])
    #expect(
      try rows(
        "out.gpkg",
        "SELECT row_id_value FROM gpkg_metadata_reference WHERE row_id_value NOTNULL") == ["10"])
    #expect(try await isSound("out.gpkg"))
  }

  @Test func `modes do what they do with other files`() async throws {
    try await makeSurvey()
    let file = [path("survey.gpkg")]
    _ = try await FileImport().run(file, into: path("out.gpkg"))
    let error = await #expect(throws: FieldpackError.self) {
      try await FileImport().run(file, into: path("out.gpkg"))
    }
    #expect(error?.code == .cannotCreate)
    try await write("out.gpkg") { (writer) throws(FieldpackError) in
      try writer.update(9, in: "wells", set: ["quality": "bad"])
      try writer.delete(5, in: "wells")
    }
    let upsert = try await FileImport(ImportOptions(mode: .upsert)).run(
      file, into: path("out.gpkg"))
    #expect(upsert.updatedCount == 2)
    let wells = "SELECT fid, name, quality FROM wells ORDER BY 1"
    #expect(try rows("out.gpkg", wells) == ["5|north|good", "9|south|good"])
    _ = try await FileImport(ImportOptions(mode: .replace)).run(file, into: path("out.gpkg"))
    #expect(try rows("out.gpkg", wells) == ["5|north|good", "9|south|good"])
    #expect(try rows("out.gpkg", "SELECT base_id, related_id, rank FROM wells_photos") == ["9|1|4"])
    #expect(try await isSound("out.gpkg"))
  }

  @Test func `rows matched by a column keep the target's ids`() async throws {
    try await makeSurvey()
    try await write("out.gpkg") { (writer) throws(FieldpackError) in
      try writer.createLayer(Self.wells)
      try writer.create(Self.well(70, "south"), in: "wells")
    }
    var options = ImportOptions(mode: .upsert)
    options.matchColumn = "name"
    _ = try await FileImport(options).run(
      sources: [ImportSource(path("survey.gpkg"), layer: "wells")], into: path("out.gpkg"))
    #expect(
      try rows("out.gpkg", "SELECT fid, name FROM wells ORDER BY 1") == ["70|south", "71|north"])
    #expect(try rows("out.gpkg", "SELECT base_id, related_id FROM wells_photos") == ["70|1"])
    #expect(try await isSound("out.gpkg"))
  }

  @Test func `files of one layer go into one`() async throws {
    for (name, id) in [("a", 1), ("b", 1), ("c", 4)] {
      try await write("\(name).gpkg") { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.wells)
        try writer.create(Self.well(Int64(id), name), in: "wells")
      }
    }
    let files = ["a", "b", "c"].map { path("\($0).gpkg") }
    let report = try await FileImport(ImportOptions(layer: "all")).run(
      files, into: path("out.gpkg"))
    #expect(report.layers.map(\.renumberedCount) == [1])
    #expect(
      try rows("out.gpkg", "SELECT fid, name FROM \"all\" ORDER BY 1") == ["1|a", "4|c", "5|b"])
    #expect(try await isSound("out.gpkg"))
  }

  // MARK: Definitions that differ

  @Test func `a system gets another number where its own is another system's`() async throws {
    let sites = ["north", "south"]
    for site in sites {
      let wkt =
        #"LOCAL_CS["\#(site)",LOCAL_DATUM["\#(site)",0],UNIT["metre",1],"#
        + #"AXIS["x",EAST],AXIS["y",NORTH]]"#
      try await write("\(site).gpkg") { (writer) throws(FieldpackError) in
        let srs = SRS("SITE", 100_001)
        try writer.define(StoredSRS(srs, name: site, definition: wkt))
        try writer.createLayer(
          Schema(layer: LayerID(site), geometry: GeometryColumn(type: .point, srs: srs)))
        try writer.create(Feature(geometry: .point(x: 1, y: 2)), in: LayerID(site))
      }
    }
    let files = sites.map { path("\($0).gpkg") }
    _ = try await FileImport().run(files, into: path("out.gpkg"))
    #expect(
      try rows(
        "out.gpkg",
        "SELECT table_name, srs_id, srs_name, organization_coordsys_id FROM gpkg_geometry_columns "
          + "JOIN gpkg_spatial_ref_sys USING (srs_id) ORDER BY 1")
        == ["north|100001|north|100001", "south|100002|south|100002"])
    #expect(try await isSound("out.gpkg"))
  }

  // MARK: Beside the layers

  @Test func `styles come with the layers that are new, for their names`() async throws {
    try await makeSurvey()
    try await write("survey.gpkg") { (writer) throws(FieldpackError) in
      try writer.createLayer(
        Schema(
          layer: "layer_styles", idColumn: "id",
          columns: [
            ColumnDefinition("f_table_name", .text(maximumLength: 256)),
            ColumnDefinition("styleName", .text(maximumLength: 30)),
            ColumnDefinition("useAsDefault", .boolean),
          ]))
      for (layer, name) in [("wells", "by depth"), ("WELLS", "plain"), ("arcs", "thin")] {
        try writer.create(
          Feature(
            attributes: [
              "f_table_name": .text(layer), "styleName": .text(name), "useAsDefault": true,
            ]), in: "layer_styles")
      }
    }
    let styles =
      "SELECT id, f_table_name, styleName, useAsDefault FROM layer_styles ORDER BY id"
    let one = try await FileImport(ImportOptions(layer: "old wells")).run(
      sources: [ImportSource(path("survey.gpkg"), layer: "wells")], into: path("one.gpkg"))
    #expect(one.layers.map(\.layer) == ["old wells", "photos"])
    #expect(try rows("one.gpkg", styles) == ["1|old wells|by depth|1", "2|old wells|plain|1"])
    let all = try await FileImport().run([path("survey.gpkg")], into: path("all.gpkg"))
    #expect(all.layers.map(\.layer) == ["wells", "arcs", "photos"])
    let expected = ["1|wells|by depth|1", "2|wells|plain|1", "3|arcs|thin|1"]
    #expect(try rows("all.gpkg", styles) == expected)
    #expect(try await isSound("all.gpkg"))
    _ = try await FileImport(ImportOptions(mode: .append)).run(
      sources: [ImportSource(path("survey.gpkg"), layer: "arcs")], into: path("all.gpkg"))
    #expect(try rows("all.gpkg", styles) == expected)
    _ = try await FileImport(ImportOptions(mode: .replace)).run(
      sources: [ImportSource(path("survey.gpkg"), layer: "arcs")], into: path("all.gpkg"))
    #expect(try rows("all.gpkg", styles) == expected.dropLast() + ["4|arcs|thin|1"])
  }

  @Test func `rules of a table and metadata about the file are left out with a note`()
    async throws
  {
    try await write("survey.gpkg") { (writer) throws(FieldpackError) in
      try writer.createLayer(Schema(layer: "wells"))
      try writer.createLayer(Schema(layer: "check", columns: [ColumnDefinition("check", .text())]))
      try writer.addMetadata("<survey/>", standard: "urn:x", about: .geoPackage)
      try writer.addMetadata("<wells/>", standard: "urn:x", about: .layer("wells"))
    }
    try Connection(path: path("survey.gpkg"), mode: .readWrite).execute(
      "ALTER TABLE wells ADD COLUMN rank INTEGER CHECK(rank > 0)")
    let report = try await FileImport().run([path("survey.gpkg")], into: path("out.gpkg"))
    #expect(
      report.notes
        == [
          "survey.gpkg: only layers are imported, not the metadata about the whole file",
          "the CHECK constraints of layer 'wells' are left out",
        ].map { Note($0.replacing("survey.gpkg", with: path("survey.gpkg"))) })
    #expect(
      try rows("out.gpkg", "SELECT metadata FROM gpkg_metadata") == ["<wells/>"])
  }

  // MARK: Refusals

  @Test func `a source that another program has locked is busy`() async throws {
    try await makeSurvey()
    let other = try Connection(path: path("survey.gpkg"), mode: .readWrite)
    try other.execute("BEGIN EXCLUSIVE")
    let error = #expect(throws: FieldpackError.self) {
      try GeoPackageSource(
        path: path("survey.gpkg"), store: "survey", busyTimeout: .milliseconds(20))
    }
    #expect(error?.code == .busy)
    #expect(error?.position == FilePosition(file: path("survey.gpkg")))
    #expect(error?.message == "another program has the file locked. Try again when it is done")
    try other.execute("ROLLBACK")
  }

  @Test func `what cannot come leaves the target as it was`() async throws {
    try await makeSurvey()
    try await write("lines.gpkg") { (writer) throws(FieldpackError) in
      try writer.createLayer(
        Schema(
          layer: "wells",
          geometry: GeometryColumn(type: .lineString, srs: SRS("EPSG", 25833))))
    }
    _ = try folder.write("SQLite format 3\u{0}, not", to: "broken.gpkg")
    let before = try Data(contentsOf: folder.file("lines.gpkg"))
    try FileManager.default.createSymbolicLink(
      atPath: path("link.gpkg"), withDestinationPath: path("lines.gpkg"))
    var named = ImportOptions()
    named.layer = "x"
    var chosen = ImportOptions()
    chosen.only = ["tracks"]
    let cases: [(String, String?, ImportOptions, FieldpackError.Code)] = [
      ("survey.gpkg", "wells", ImportOptions(mode: .append), .invalidData),
      ("survey.gpkg", "welts", ImportOptions(), .notFound),
      ("survey.gpkg", nil, named, .invalidArgument),
      ("survey.gpkg", nil, chosen, .invalidArgument),
      ("broken.gpkg", nil, ImportOptions(), .invalidData),
      ("absent.gpkg", nil, ImportOptions(), .notFound),
      ("lines.gpkg", nil, ImportOptions(mode: .append), .invalidArgument),
      ("link.gpkg", nil, ImportOptions(mode: .append), .invalidArgument),
    ]
    for (file, layer, options, code) in cases {
      let source = ImportSource(path(file), layer: layer.map { LayerID($0) })
      let error = await #expect(throws: FieldpackError.self) {
        try await FileImport(options).run(sources: [source], into: path("lines.gpkg"))
      }
      #expect(error?.code == code, "\(file) \(layer ?? ""): \(error?.message ?? "")")
    }
    #expect(try Data(contentsOf: folder.file("lines.gpkg")) == before)
  }
}
