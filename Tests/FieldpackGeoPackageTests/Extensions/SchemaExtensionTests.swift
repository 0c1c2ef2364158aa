import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Column constraints in `gpkg_data_columns` and `gpkg_data_column_constraints`.
@Suite(.programs) struct SchemaExtensionTests {
  static let states = ColumnConstraint(
    "states", .oneOf([.init("new", description: "just found"), "known"]))
  static let depths = ColumnConstraint(
    "depths", .range(from: .init(0, isInclusive: false), to: .init(250.5)),
    description: "metres below ground")
  static let years = ColumnConstraint.glob("[12][0-9][0-9][0-9]", named: "years")

  static let schema: Schema = {
    var photo = ColumnDefinition("photo", .blob(), title: "Photo")
    photo.mediaType = "image/jpeg"
    photo.shortName = "pic"
    return Schema(
      layer: "wells", geometry: GeometryColumn(type: .point),
      columns: [
        ColumnDefinition("state", .text(), constraint: states),
        ColumnDefinition("depth", .double, description: "of the well", constraint: depths),
        ColumnDefinition("year", .text(), constraint: years),
        ColumnDefinition("before", .text(), constraint: states), photo,
        ColumnDefinition("tags", .json),
      ])
  }()

  static func package(_ version: GeoPackageVersion = .v14) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(schema)
        try writer.create(
          Feature(
            geometry: .point(x: 1, y: 2),
            attributes: ["state": "new", "depth": 250.5, "year": "2024"]), in: "wells")
      }
    }
    return package
  }

  @Test func `are written once and read back`() async throws {
    let package = try await Self.package()
    let schema = try await package.withStore { try await $0.schemas()[0] }
    #expect(schema.columns == Self.schema.columns)
    #expect(
      try package.rows("SELECT * FROM gpkg_data_column_constraints") == [
        "states|enum|new|NULL|NULL|NULL|NULL|just found",
        "states|enum|known|NULL|NULL|NULL|NULL|NULL",
        "depths|range|NULL|0|0|250.5|1|metres below ground",
        "years|glob|[12][0-9][0-9][0-9]|NULL|NULL|NULL|NULL|NULL",
      ])
    #expect(
      try package.rows(
        "SELECT table_name, column_name, scope FROM gpkg_extensions "
          + "WHERE extension_name = 'gpkg_schema'") == [
          "gpkg_data_columns|NULL|read-write", "gpkg_data_column_constraints|NULL|read-write",
        ])
  }

  @Test(
    arguments: [
      (["state": "lost"], "state", "lost", "'states' allows one of 'new', 'known'"),
      (["state": "New"], "state", "New", "'states' allows one of 'new', 'known'"),
      (["depth": 0], "depth", "0.0", "'depths' allows above 0 and at most 250.5"),
      (["depth": 251], "depth", "251.0", "'depths' allows above 0 and at most 250.5"),
      (["year": "924"], "year", "924", "'years' allows texts like '[12][0-9][0-9][0-9]'"),
      (["year": "2024 "], "year", "2024 ", "'years' allows texts like '[12][0-9][0-9][0-9]'"),
    ] as [(Attributes, String, String, String)])
  func `hold creates, updates and loads`(
    attributes: Attributes, column: String, value: String, allowed: String
  ) async throws {
    let package = try await Self.package()
    func message(_ feature: String) -> String {
      "column '\(column)' of layer 'wells' cannot hold the value '\(value)'\(feature): "
        + "its constraint \(allowed)"
    }
    try await package.withStore { store in
      let creating = await thrown {
        _ = try await store.write { (writer) throws(FieldpackError) in
          try writer.create(Feature(attributes: attributes), in: "wells")
        }
      }
      #expect(creating?.code == .constraint)
      #expect(creating?.message == message(""))
      let updating = await thrown {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.update(1, in: "wells", set: attributes)
        }
      }
      #expect(updating?.message == message(" of feature 1"))
      #expect(updating?.location == .init(store: "survey", layer: "wells", feature: 1))
    }
    let loading = await thrown { _ = try Self.load([attributes], into: package) }
    #expect(loading?.code == .constraint)
    #expect(loading?.message == message(" of feature 0"))
    #expect(try package.rows("SELECT count(*), state, depth FROM wells") == ["1|new|250.5"])
  }

  /// Appends features to the layer, as an import does.
  private static func load(
    _ attributes: [Attributes], into package: TestPackage, skippingErrors: Bool = false
  ) throws -> [SkippedFeature] {
    let writer = try GeoPackageBulkWriter(changing: package.path, store: "survey")
    writer.loader.skipsErrors = skippingErrors
    let schema = Schema(
      layer: "wells", geometry: GeometryColumn(type: .point),
      columns: [
        ColumnDefinition("state", .text()), ColumnDefinition("depth", .double),
        ColumnDefinition("year", .text()),
      ])
    try writer.append(schema, to: "wells")
    let loader = writer.loader
    try loader.begin(schema)
    for (index, attributes) in attributes.enumerated() {
      let values = schema.columns.map { column -> Value in
        let value = attributes[column.name] ?? .null
        if case .integer(let number) = value { return .real(Double(number)) }
        return value
      }
      try loader.feature(ValueRow(id: .integer(Int64(index)), values))
    }
    _ = try writer.commit()
    return writer.loader.skipped.listed
  }

  @Test func `let a load pass over what they refuse`() async throws {
    let package = try await Self.package()
    let skipped = try Self.load(
      [["state": "known"], ["state": "lost"], ["depth": 3.5], ["depth": -1.0], [:]],
      into: package, skippingErrors: true)
    #expect(skipped.map(\.location.feature) == [1, 3])
    #expect(
      try package.rows("SELECT fid, state, depth FROM wells WHERE fid > 1")
        == ["2|known|NULL", "3|NULL|3.5", "4|NULL|NULL"])
    #expect(try package.faults() == [])
  }

  @Test func `are changed, shared and taken away without leftovers`() async throws {
    let package = try await Self.package()
    let other = ColumnConstraint.oneOf("open", "shut", named: "STATES")
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.setConstraint(other, of: "before", in: "wells")
        try writer.setConstraint(nil, of: "depth", in: "wells")
        try writer.setConstraint(.range(0...1, named: "tagged"), of: "tags", in: "wells")
        try writer.setConstraint(nil, of: "tags", in: "wells")
        try writer.setConstraint(nil, of: "year", in: "wells")
        try writer.update(1, in: "wells", set: ["depth": -5, "before": "shut", "year": "none"])
      }
    }
    #expect(
      try package.rows("SELECT DISTINCT constraint_name FROM gpkg_data_column_constraints")
        == ["states", "states_2"])
    #expect(
      try package.rows("SELECT column_name, constraint_name FROM gpkg_data_columns ORDER BY 1") == [
        "before|states_2", "depth|NULL", "photo|NULL", "state|states", "tags|NULL",
      ])
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in try writer.removeLayer("wells") }
    }
    #expect(
      try package.rows(
        "SELECT name FROM sqlite_master WHERE name LIKE 'gpkg_data_col%' UNION ALL "
          + "SELECT extension_name FROM gpkg_extensions") == [])
  }

  @Test(arguments: [
    ColumnConstraint("x", .oneOf([])), ColumnConstraint("", .glob("*")),
    ColumnConstraint("x", .oneOf(["a", "a"])), ColumnConstraint("x", .range(from: nil, to: nil)),
    ColumnConstraint("x", .range(from: .init(2), to: .init(1))),
    ColumnConstraint("x", .range(from: .init("2024-01-01"), to: nil)),
    ColumnConstraint("x", .range(from: .init("a"), to: .init("b"))),
  ])
  func `that the standard has no place for are refused`(constraint: ColumnConstraint) async throws {
    let package = try await Self.package()
    let error = await thrown {
      try await package.withStore { store in
        try await store.write { (writer) throws(FieldpackError) in
          try writer.setConstraint(constraint, of: "state", in: "wells")
        }
      }
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `of version 1.0 are read and written in its spelling`() async throws {
    let package = try await Self.package(.v12)
    try package.run(
      """
      DROP TABLE gpkg_data_column_constraints;
      CREATE TABLE gpkg_data_column_constraints (constraint_name TEXT NOT NULL,
        constraint_type TEXT NOT NULL, value TEXT, min NUMERIC, minIsInclusive BOOLEAN,
        max NUMERIC, maxIsInclusive BOOLEAN, UNIQUE (constraint_name, constraint_type, value));
      INSERT INTO gpkg_data_column_constraints VALUES
        ('depths', 'range', NULL, 1, 'true', 10, 'false'), ('Years', 'GLOB', '1*', NULL, NULL,
        NULL, NULL), ('states', 'enum', 'x', NULL, NULL, NULL, NULL),
        ('states', 'range', NULL, 1, 1, 2, 1), ('strange', 'regex', 'x', NULL, NULL, NULL, NULL);
      """)
    try await package.withStore { store in
      let columns = try await store.schemas()[0].columns
      #expect(
        columns.map { $0.constraint?.rule } == [
          .oneOf(["x"]), .range(from: .init(1), to: .init(10, isInclusive: false)), .glob("1*"),
          .oneOf(["x"]), nil, nil,
        ])
      try await store.write { (writer) throws(FieldpackError) in
        try writer.setConstraint(
          ColumnConstraint("open", .range(from: .init(5), to: nil)), of: "depth", in: "wells")
      }
    }
    #expect(
      try package.rows("SELECT * FROM gpkg_data_column_constraints WHERE constraint_name = 'open'")
        == ["open|range|NULL|5|1|Inf|1"])
    let columns = try await package.withStore { try await $0.schemas()[0].columns }
    #expect(columns[1].constraint?.rule == .range(from: .init(5), to: nil))
  }

  @Test func `of a great many rows are read in little time`() async throws {
    let package = try await Self.package()
    try package.run(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO gpkg_data_column_constraints (constraint_name, constraint_type, value)
        SELECT 'States', 'enum', i FROM n;
      INSERT INTO gpkg_data_column_constraints (constraint_name, constraint_type, value)
        VALUES ('depths', 'enum', 'no range'), ('states', 'glob', 'no enumeration');
      """)
    let (schema, seconds) = try await onThread {
      let connection = try Connection(path: package.path, mode: .readOnly)
      let session = try connection.session("survey", .own)
      let start = threadSeconds()
      let layers = try session.catalogue().layers
      return (layers[0].layer.schema, threadSeconds() - start)
    }
    // A second; were each row to copy those before it, it would be minutes.
    #expect(seconds < 30)
    guard case .oneOf(let members)? = schema.columns[0].constraint?.rule else {
      Issue.record("no enumeration")
      return
    }
    #expect(members.count == 100_002)
    #expect(members.map(\.value).prefix(3) == ["new", "known", "1"])
    #expect(schema.columns[1].constraint == Self.depths)
  }

  @Test func `glob as the SQLite that is linked`() throws {
    let package = try TestPackage()
    let letters = ["a", "b", "-", "]", "[", "^", "*", "?", "é"]
    var random = SystemRandomNumberGenerator()
    var cases: [(String, String)] = []
    for _ in 0..<5_000 {
      func text(_ length: Int) -> String {
        (0..<length).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
      }
      cases.append((text(Int.random(in: 0...7)), text(Int.random(in: 0...4))))
    }
    try package.withConnection { connection in
      let statement = try connection.prepare("SELECT ?1 GLOB ?2")
      for (pattern, text) in cases {
        try statement.bind([.text(text), .text(pattern)])
        _ = try statement.step()
        #expect(
          GlobPattern(pattern).matches(text) == (statement.integer(0) == 1), "\(pattern) \(text)")
        statement.reset()
      }
    }
  }

  // MARK: Peers

  @Test(
    .enabled(if: !Programs.validators.isEmpty, Comment(rawValue: Programs.noValidator)),
    arguments: GeoPackageVersion.allCases)
  func `pass GDAL's validator`(version: GeoPackageVersion) async throws {
    try await GDALChecks.expectValid(try await Self.package(version), version)
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `are field domains in GDAL`() async throws {
    let package = try await Self.package(.v13)
    let lines = try await GDALChecks.python(
      """
      ds = gdal.OpenEx(path, gdal.OF_VECTOR)
      d = ds.GetLayer(0).GetLayerDefn()
      for i in range(d.GetFieldCount()):
          print(d.GetFieldDefn(i).GetName(), d.GetFieldDefn(i).GetDomainName())
      s = ds.GetFieldDomain('states'); print(sorted(s.GetEnumeration().items()))
      r = ds.GetFieldDomain('depths')
      print(r.GetMinAsDouble(), r.IsMinInclusive(), r.GetMaxAsDouble(), r.IsMaxInclusive(), r.GetDescription())
      print(ds.GetFieldDomain('years').GetGlob())
      """, package)
    #expect(
      lines == [
        "state states", "depth depths", "year years", "before states", "photo ", "tags ",
        "[('known', None), ('new', 'just found')]", "0.0 False 250.5 True metres below ground",
        "[12][0-9][0-9][0-9]",
      ])
  }

  // MARK: Real files

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `of a file by NGA's library are read and held to`() async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg/import_db.gpkg"))
    try await package.withStore { store in
      var found: [LayerID: String] = [:]
      for schema in try await store.schemas() {
        for column in schema.columns where column.constraint != nil {
          let rule = column.constraint?.summary ?? ""
          found[schema.layer] =
            "\(column.name): \(rule), \(column.title ?? ""), \(column.mediaType ?? "")"
        }
      }
      let said = "TEST_TITLE, TEST_MIME_TYPE"
      let rules = [
        "integer: at least 1 and at most 10, \(said)",
        "integer: one of '1', '3', '5', '7', '9', \(said)",
        "integer: texts like '[1-2][0-9][0-9][0-9]', \(said)",
      ]
      #expect(
        found == [
          "point1": rules[0], "line1": rules[1], "polygon1": rules[2], "geometry1": rules[0],
          "point2": rules[1], "line2": rules[2], "polygon2": rules[0], "geometry2": rules[1],
        ])
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(1, in: "point1", set: ["integer": 10])
        try writer.update(1, in: "line1", set: ["integer": 3])
        try writer.update(1, in: "polygon1", set: ["integer": 2000])
      }
      for (layer, value) in [("point1", 11), ("line1", 4), ("polygon1", 3000)] as [(LayerID, Int)] {
        let error = await thrown {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.update(1, in: layer, set: ["integer": .integer(Int64(value))])
          }
        }
        #expect(error?.code == .constraint)
      }
    }
  }
}
