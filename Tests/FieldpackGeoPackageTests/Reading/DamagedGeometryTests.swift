import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Geometries that cannot be read, under conditions, in exports and in counts.
@Suite struct DamagedGeometryTests {
  /// Five points on a line, the third and the fifth cut short.
  private func package(isIndexed: Bool) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(layer: "lines", geometry: GeometryColumn(type: .lineString)))
        for x in 1...5 {
          try writer.create(Feature(geometry: line(Double(x), 0, Double(x), 9)), in: "lines")
        }
      }
    }
    if !isIndexed { try package.dropIndex("lines") }
    let connection = try Connection(path: package.path, mode: .readWrite, profile: .bulk)
    try connection.execute("PRAGMA ignore_check_constraints = ON")
    for trigger in RTreeSQL(table: "lines", column: "geom", idColumn: "fid").triggerNames {
      try connection.execute("DROP TRIGGER IF EXISTS \(quoted(trigger))")
    }
    try connection.execute(
      "UPDATE lines SET geom = substr(geom, 1, length(geom) - 3) WHERE fid IN (3, 5)")
    return package
  }

  private static let rectangle = polygon(0, 0, 4, 0, 4, 4, 0, 4, 0, 0)

  @Test(arguments: [true, false])
  func `names the feature that ends a query`(isIndexed: Bool) async throws {
    let package = try await package(isIndexed: isIndexed)
    let store = try await package.store()
    for query in [
      Query("lines"), Query("lines", where: .intersects(Self.rectangle)),
      Query("lines", where: .relation(.crosses, Self.rectangle)),
    ] {
      let error = await thrown { _ = try await store.features(query) }
      #expect(error?.code == .invalidData)
      #expect(error?.location == .init(store: "survey", layer: "lines", feature: 3))
    }
    let query = Query("lines", where: .relation(.crosses, Self.rectangle))
    let error = await thrown { _ = try await store.count(query) }
    #expect(error?.location == .init(store: "survey", layer: "lines", feature: 3))
    #expect(try await store.count(query.skippingErrors()) == 2)
    // What the counts came across is no matter of the next query.
    let next = try await store.query(Query("lines").limit(1).skippingErrors())
    for try await batch in next { #expect(batch.ids == [1]) }
    #expect(next.report.current.skipped.listed == [])
    await store.close()
  }

  @Test(arguments: [true, false])
  func `passes over what cannot be tested, and says so`(isIndexed: Bool) async throws {
    let package = try await package(isIndexed: isIndexed)
    let store = try await package.store()
    let cases: [(Filter, [Int64], [FeatureID])] = [
      (.all, [1, 2, 4], [3, 5]),
      (.relation(.crosses, Self.rectangle), [1, 2], [3]),
      (.not(.relation(.disjoint, Self.rectangle)), [1, 2, 4], [3]),
    ]
    for (filter, ids, skipped) in cases {
      let query = Query("lines", where: filter).skippingErrors()
      let batches = try await store.query(query)
      var found: [Int64] = []
      for try await batch in batches {
        for case .integer(let id) in batch.ids { found.append(id) }
      }
      #expect(found == ids, "\(filter)")
      #expect(batches.report.current.skipped.listed.map(\.location.feature) == skipped, "\(filter)")
      // What is passed over counts in neither limit nor offset.
      #expect(try await store.ids(query.limit(1, offset: 2)) == Array(ids.dropFirst(2)))
      let falling = query.order(by: [Order("fid", descending: true)])
      #expect(try await store.ids(falling.limit(2)) == Array(ids.reversed().prefix(2)))
    }
    await store.close()
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    arguments: SpatialRelation.allCases)
  func `survives every damaged blob in every relation`(relation: SpatialRelation) async throws {
    let file = SharedData.url("real/gpkg-malformed/d_blob_cases_a.gpkg")
    let package = try TestPackage(copying: file)
    let store = try await package.store()
    let world = polygon(-90, -90, 90, -90, 90, 90, -90, 90, -90, -90)
    for filter in [Filter.relation(relation, world), .not(.relation(relation, world))] {
      let query = Query("cases", where: filter).skippingErrors()
      let (batches, report) = try await store.readAll(query)
      let named = Set(report.skipped.listed.compactMap(\.location.feature))
      #expect(named.isSuperset(of: [2, 3, 4, 5, 6, 7, 8, 9, 10, 16]), "\(named)")
      #expect(named.isDisjoint(with: batches))
    }
    for relation in EnvelopeRelation.allCases {
      let box = Envelope(minX: -90, minY: -90, maxX: 90, maxY: 90)
      _ = try await store.readAll(Query("cases", where: .envelope(relation, box)).skippingErrors())
    }
    await store.close()
  }
}

extension Store {
  fileprivate func readAll(
    _ query: Query
  ) async throws -> ([FeatureID], QueryReport.Contents) {
    let batches = try await self.query(query)
    var ids: [FeatureID] = []
    for try await batch in batches { ids += batch.ids }
    return (ids, batches.report.current)
  }
}
