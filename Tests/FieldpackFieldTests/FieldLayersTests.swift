import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct FieldLayersTests {
  private static let layer: LayerID = #"a"b; DROP"#

  /// The layer as its first version made it, with a row.
  private static let first = Schema(
    layer: layer, idColumn: "id",
    columns: [
      ColumnDefinition("token", .text(), isNullable: false, title: "token"),
      ColumnDefinition("farm", .integer, isNullable: false, defaultSQL: "7"),
    ])

  private static let added = [
    ColumnDefinition(
      "state", .text(), isNullable: false, defaultSQL: "'queued'",
      constraint: ColumnConstraint("states", .oneOf(["queued", "failed"]))),
    ColumnDefinition("attempt", .integer),
  ]

  /// The layer of today.
  private static func layers(
    _ migrations: [Migration] = [
      Migration(
        "names", to: 2,
        [
          .rename("token", to: #"sub"ject"#), .add(added),
          .fill("state", with: "CASE WHEN farm = 7 THEN 'failed' ELSE 'queued' END"),
        ]),
      Migration("farms", to: 3, [.redefine([ColumnDefinition("farm", .integer)])]),
    ]
  ) -> FieldLayers {
    FieldLayers(
      version: 3,
      [
        FieldLayer(
          Schema(
            layer: layer, idColumn: "id",
            columns: [ColumnDefinition(#"sub"ject"#, .text(), isNullable: false)] + added + [
              ColumnDefinition("farm", .integer)
            ]),
          indexes: [#"CREATE INDEX IF NOT EXISTS by_state ON "a""b; DROP" (state)"#],
          firstColumns: ["token", "farm"], migrations: migrations)
      ])
  }

  private func package(_ schema: Schema? = FieldLayersTests.first) async throws -> FieldFile {
    let package = try FieldFile()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        guard let schema else { return }
        try writer.createLayer(schema)
        for farm in [7, 8] {
          try writer.create(
            Feature(attributes: ["token": .text("t\(farm)"), "farm": .integer(Int64(farm))]),
            in: Self.layer)
        }
      }
    }
    return package
  }

  private func prepare(
    _ package: FieldFile, _ layers: FieldLayers = FieldLayersTests.layers()
  ) async throws {
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in try layers.prepare(in: writer) }
    }
  }

  /// The file without SQLite's counters of changes, which also count that its journal was another.
  private func bytes(_ package: FieldFile) throws -> Data {
    var data = try Data(contentsOf: URL(fileURLWithPath: package.path))
    for counter in [24..<28, 92..<96] { data.replaceSubrange(counter, with: [0, 0, 0, 0]) }
    return data
  }

  @Test func `an old layer gets what it lacks, once`() async throws {
    let package = try await package()
    try await prepare(package)
    let rows = #"SELECT id, "sub""ject", state, attempt, farm FROM "a""b; DROP" ORDER BY id"#
    #expect(try package.rows(rows) == ["1|t7|failed|NULL|7", "2|t8|queued|NULL|8"])
    #expect(
      try package.rows(#"SELECT name, "notnull" FROM pragma_table_info('a"b; DROP')"#)
        == ["id|1", #"sub"ject|1"#, "state|1", "attempt|0", "farm|0"])
    #expect(
      try package.rows("SELECT column_name, title FROM gpkg_data_columns ORDER BY column_name")
        == ["state|NULL", #"sub"ject|token"#])
    #expect(
      try package.rows("SELECT layer, version FROM fieldpack_schema") == [#"a"b; DROP|3"#])
    #expect(try package.findings() == [])
    try package.run(#"UPDATE "a""b; DROP" SET state = 'queued'"#)
    let before = try bytes(package)
    try await prepare(package)
    #expect(try bytes(package) == before)
  }

  @Test func `a new layer is made whole, and no migration is applied to it`() async throws {
    let package = try await package(nil)
    let never = Migration("never", to: 3, [.fill("farm", with: "no_such_function()")])
    try await prepare(package, Self.layers([never]))
    #expect(
      try package.rows(#"SELECT name FROM pragma_table_info('a"b; DROP')"#)
        == ["id", #"sub"ject"#, "state", "attempt", "farm"])
    #expect(
      try package.rows("SELECT name FROM sqlite_master WHERE name = 'by_state'") == ["by_state"])
    try await prepare(package, Self.layers([never]))
  }

  @Test func `a migration of what stands makes no layer`() async throws {
    let package = try await package(nil)
    let before = try bytes(package)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try Self.layers().migrate(in: writer)
      }
    }
    #expect(try bytes(package) == before)
  }

  @Test func `a stated version is not migrated to again`() async throws {
    let package = try await package(nil)
    try await prepare(package)
    try package.run("UPDATE fieldpack_schema SET version = 2")
    let only = Migration("only", to: 3, [.fill("farm", with: "9")])
    let passed = Migration("passed", to: 2, [.fill("farm", with: "no_such_function()")])
    try package.run(#"INSERT INTO "a""b; DROP" ("sub""ject") VALUES ('t')"#)
    try await prepare(package, Self.layers([passed, only]))
    #expect(try package.rows(#"SELECT farm FROM "a""b; DROP""#) == ["9"])
  }

  @Test func `a migration that fails is named, and changes nothing`() async throws {
    let package = try await package()
    let before = try bytes(package)
    let error = await failure {
      try await prepare(
        package,
        Self.layers([
          Migration("names", to: 2, [.rename("token", to: "subject"), .rename("less", to: "more")])
        ]))
    }
    #expect(error?.code == .notFound)
    #expect(
      error?.message.hasPrefix(
        #"layer 'a"b; DROP' could not be brought to version 2 (names): "#) == true, "\(error!)")
    #expect(try bytes(package) == before)
  }

  @Test(arguments: [
    (
      "CREATE TABLE \"a\"\"b; DROP\" (id INTEGER PRIMARY KEY, token TEXT)", "cannotCreate",
      "it lacks farm"
    ),
    (
      "CREATE TABLE fieldpack_schema (layer TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL);"
        + "INSERT INTO fieldpack_schema VALUES ('a\"b; DROP', 4)", "unsupported", "has version 4"
    ),
  ])
  func `what is no layer of ours, or a newer one, stays as it is`(
    script: String, code: String, words: String
  ) async throws {
    let package = try await package(nil)
    try package.run(script)
    if code == "cannotCreate" {
      try package.run(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier) "
          + "VALUES ('a\"b; DROP', 'attributes', 'x')")
    }
    let before = try bytes(package)
    let error = await failure { try await prepare(package) }
    #expect(error?.code.name == code)
    #expect(error?.message.contains(words) == true, "\(error!)")
    #expect(try bytes(package) == before)
  }
}
