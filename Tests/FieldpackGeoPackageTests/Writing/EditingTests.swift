import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Transactions that only change features, and keep what is known of the layers.
@Suite struct EditingTests {
  private func package() async throws -> TestPackage {
    try await TestPackage(
      points: [Feature(geometry: .point(x: 1, y: 1), attributes: ["name": "one"])], "")
  }

  /// The extent of the layer as the file states it.
  private func extent(in package: TestPackage) throws -> [SQLiteValue] {
    let connection = try Connection(path: package.path, mode: .readOnly)
    let row = try connection.prepare(
      "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = 'points'")
    _ = try row.step()
    return row.values
  }

  @Test func `extents stay true from edit to edit`() async throws {
    let package = try await package()
    try await package.withStore { store in
      let edits: [(Feature?, FeatureID?, [SQLiteValue])] = [
        (Feature(geometry: .point(x: 9, y: 5)), nil, [.real(1), .real(1), .real(9), .real(5)]),
        (Feature(geometry: .point(x: 4, y: 7)), nil, [.real(1), .real(1), .real(9), .real(7)]),
        (nil, .integer(2), [.real(1), .real(1), .real(4), .real(7)]),
        (nil, .integer(3), [.real(1), .real(1), .real(1), .real(1)]),
      ]
      for (added, removed, expected) in edits {
        try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
          if let added { try writer.create(added, in: "points") }
          if let removed { try writer.delete(removed, in: "points") }
        }
        #expect(try extent(in: package) == expected)
      }
      #expect(try await store.layers().map(\.featureCount) == [1])
    }
  }

  @Test func `an edit sees what another program has changed`() async throws {
    let package = try await package()
    try await package.withStore { store in
      func edit(_ attributes: Attributes) async throws {
        try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
          try writer.update(.integer(1), in: "points", set: attributes)
        }
      }
      try await edit(["name": "uno"])
      try await edit(["name": "due"])
      try package.run("ALTER TABLE points ADD COLUMN depth REAL")
      try await edit(["depth": 2.5])
      try package.run("UPDATE gpkg_contents SET min_x = -3, max_x = 3 WHERE table_name = 'points'")
      try await edit(["name": "tre"])
      let found = try await store.features(Query("points")).map(\.attributes)
      #expect(found == [["name": "tre", "depth": 2.5]])
      // The extent that the other program states does not hold, and is computed.
      #expect(try extent(in: package) == [.real(1), .real(1), .real(1), .real(1)])
    }
  }

  @Test func `an edit that fails leaves nothing behind`() async throws {
    let package = try await package()
    try await package.withStore { store in
      let point = Feature(geometry: .point(x: 50, y: 50))
      let error = await thrown {
        try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
          try writer.create(point, in: "points")
          try writer.update(.integer(77), in: "points", set: ["name": "none"])
        }
      }
      #expect(error?.code == .notFound)
      try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(.integer(1), in: "points", set: ["name": "uno"])
      }
      #expect(try extent(in: package) == [.real(1), .real(1), .real(1), .real(1)])
    }
  }

  @Test func `each update sets its own columns`() async throws {
    let package = try await package()
    // The last two names are equal in Swift, and two in SQLite.
    try package.run(
      "ALTER TABLE points ADD COLUMN depth REAL; ALTER TABLE points ADD COLUMN \"caf\u{E9}\" TEXT; "
        + "ALTER TABLE points ADD COLUMN \"cafe\u{301}\" TEXT")
    try await package.withStore { store in
      let edits: [Attributes] = [
        ["name": "uno"], ["caf\u{E9}": "a"], ["cafe\u{301}": "b"], ["depth": 1, "name": "due"],
        ["name": "tre", "depth": 2],
      ]
      try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
        for edit in edits { try writer.update(.integer(1), in: "points", set: edit) }
      }
      let expected: Attributes = [
        "name": "tre", "depth": 2.0, "caf\u{E9}": "a", "cafe\u{301}": "b",
      ]
      #expect(try await store.features(Query("points")).map(\.attributes) == [expected])
    }
  }

  @Test(arguments: [true, false])
  func `a commit waits for the disk unless it need not`(usesWAL: Bool) async throws {
    let package = try await package()
    let store = try await package.store(as: "a", usesWAL: usesWAL)
    var levels: [SQLiteValue?] = []
    for waits in [true, false, true] {
      let level = try await store.edit(waitsForDisk: waits) {
        (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(.integer(1), in: "points", set: ["name": .text("\(waits)")])
        return try writer.rows("PRAGMA synchronous").first?.first
      }
      levels.append(level)
    }
    await store.close()
    #expect(levels == [.integer(3), .integer(usesWAL ? 1 : 3), .integer(3)])
  }

  @Test func `what is found out is asked again where the file has changed`() async throws {
    let package = try await package()
    let asked = Locked(0)
    try await package.withStore { store in
      func edit(adding column: String? = nil) async throws -> Int {
        try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
          let found = try writer.finding("how often") { () throws(FieldpackError) -> Int in
            asked.withLock { $0 += 1 }
            return asked.withLock { $0 }
          }
          try writer.update(.integer(1), in: "points", set: ["name": .text("\(found)")])
          if let column { try writer.addColumns([ColumnDefinition(column, .text())], to: "points") }
          return found
        }
      }
      #expect(try await [edit(), edit(), edit(adding: "a")] == [1, 1, 1])
      #expect(try await [edit(), edit()] == [2, 2])
      try package.run("UPDATE points SET name = 'others'")
      #expect(try await [edit(), edit()] == [3, 3])
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(.integer(1), in: "points", set: ["a": "b"])
      }
      #expect(try await edit() == 4)
    }
  }

  @Test func `a second edit does not read the layers again`() async throws {
    let package = try await package()
    let statements = Locked<[String]>([])
    try await package.withStore { store in
      for name in ["uno", "due", "tre"] {
        try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
          statements.withLock { $0 = [] }
          writer.connection.trace { sql, _ in statements.withLock { $0.append(sql) } }
          try writer.update(.integer(1), in: "points", set: ["name": .text(name)])
        }
      }
    }
    #expect(!statements.withLock { $0 }.contains { $0.contains("gpkg_geometry_columns") })
    #expect(statements.withLock { $0 }.contains { $0.hasPrefix("UPDATE \"points\"") })
  }
}
