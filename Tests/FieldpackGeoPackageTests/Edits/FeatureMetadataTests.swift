import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What the change log tells of features, beside them.
@Suite struct FeatureMetadataTests {
  /// Feature 1 is older than the log and updated, 2 is untouched, 3 is created in the log.
  private static func package() async throws -> TestPackage {
    let package = try await EditLogTests.package()
    try await package.withStore(EditLogTests.editor) { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.create(
          Feature(geometry: .point(x: 5, y: 5), attributes: ["name": "three"]), in: "points")
        try writer.update(.integer(1), in: "points", set: ["name": "uno"])
      }
    }
    try package.run(
      """
      UPDATE points_audit SET audit_timestamp = '2026-05-01T09:00:00.000Z' WHERE audit_op = 1;
      UPDATE points_audit SET audit_timestamp = '2026-05-02 09:00:00' WHERE audit_op = 2;
      """)
    return package
  }

  private static let first = Instant("2026-05-01T09:00:00Z")
  private static let second = Instant("2026-05-02T09:00:00Z")
  private static let metadata: [FeatureMetadata?] = [
    FeatureMetadata(modified: second, author: "ann", device: "D1"), nil,
    FeatureMetadata(created: first, modified: first, author: "ann", device: "D1"),
  ]

  @Test func `one feature has them, and its attributes are those of the layer`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      for (id, expected) in zip([1, 2, 3] as [Int64], Self.metadata) {
        let feature = try #require(try await store.feature(.integer(id), in: "points"))
        #expect(feature.metadata == expected)
        #expect(feature.attributes.names == ["name"])
      }
    }
  }

  @Test(arguments: [
    Query("points"), Query("points").order(by: [Order("name", descending: true)]),
    Query("points", where: .envelope(.intersects, Envelope(minX: -1, minY: -1, maxX: 9, maxY: 9))),
    Query("points").nearest(to: .point(x: 0, y: 0)), Query("points").select([]).withoutGeometry(),
  ])
  func `a query has them where it asks`(query: Query) async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let asked = try await store.features(query.withMetadata())
      let plain = try await store.features(query)
      #expect(plain.map(\.id) == asked.map(\.id))
      #expect(plain.map(\.attributes) == asked.map(\.attributes))
      #expect(plain.allSatisfy { $0.metadata == nil })
      for feature in asked {
        guard case .integer(let id)? = feature.id else { continue }
        #expect(feature.metadata == Self.metadata[Int(id) - 1], "\(id)")
      }
      let prepared = try await store.prepare(query.withMetadata())
      let names = prepared.layers[0].schema.columns.map(\.name)
      let added = names.filter { $0 != "distance" }.suffix(4)
      #expect(added == ["created", "modified", "author", "device"])
    }
  }

  @Test func `columns of the same names stand beside them, and layers without a log have none`()
    async throws
  {
    let package = try await Self.package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.addColumns([ColumnDefinition("author", .text())], to: "points")
        try writer.update(.integer(2), in: "points", set: ["author": "poet"])
        try writer.createLayer(Schema(layer: "plain", columns: [ColumnDefinition("n", .integer)]))
        try writer.create(Feature(attributes: ["n": 7]), in: "plain")
      }
      let two = try #require(try await store.feature(.integer(2), in: "points"))
      #expect(two.attributes["author"] == .text("poet"))
      #expect(two.metadata?.author == nil && two.metadata?.modified != nil)
      let plain = try await store.features(Query("plain").withMetadata())
      #expect(plain.map(\.attributes) == [["n": 7]])
      #expect(plain.map(\.metadata) == [nil])
    }
  }

  @Test func `a query that does not ask reads no log`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let sql = try await store.explain(Query("points")).map(\.sql).joined()
      #expect(!sql.contains("audit"))
      #expect(try await store.explain(Query("points").withMetadata())[0].sql.contains("audit"))
    }
  }
}
