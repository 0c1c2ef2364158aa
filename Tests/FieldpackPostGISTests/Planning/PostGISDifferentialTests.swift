#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackStoreKit
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Conditions at random over features at random, in memory, in SQLite and in PostgreSQL. Where
  /// `FIELDPACK_POSTGIS_DIFFERENCES` names numbers such as `10000,1000`, these are the numbers of features
  /// and of conditions for each type of geometries.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISDifferentialTests {
    static let seed: UInt64 = 20_261_127
    static let size: (rows: Int, conditions: Int) = {
      let text = ProcessInfo.processInfo.environment["FIELDPACK_POSTGIS_DIFFERENCES"] ?? ""
      let numbers = text.split(separator: ",").compactMap { Int($0) }
      return numbers.count == 2 ? (numbers[0], numbers[1]) : (200, 170)
    }()

    @Test(arguments: [GeometryType.geometry, .point, .polygon])
    func `finds what memory and SQLite find`(type: GeometryType) async throws {
      let rows = try await ThreeStores(type, count: Self.size.rows, seed: Self.seed)
      var generator = FilterGenerator(seed: Self.seed ^ UInt64(type.rawValue))
      var (failures, matches, number) = (0, 0, 0)
      // Many conditions find too much to hold all answers at a time.
      while number < Self.size.conditions, failures < 5 {
        let filters = (number..<min(Self.size.conditions, number + 100)).map { _ in
          generator.filter()
        }
        number += filters.count
        let expected = try filters.map { try rows.expected($0) }
        let inSQLite = try await rows.found(filters, in: rows.package)
        let inPostGIS = try await rows.found(filters, in: rows.database)
        for (index, filter) in filters.enumerated() where failures < 5 {
          matches += expected[index].yes.count
          for (store, found) in [("SQLite", inSQLite[index]), ("PostGIS", inPostGIS[index])]
          where found != expected[index] {
            failures += 1
            let text = (try? filter.cql2Text) ?? "\(filter)"
            Issue.record(
              """
              \(text)
              \(store) \(found.difference(to: expected[index]))
              \(try await rows.sql(filter))
              """)
          }
        }
        if Self.size.conditions > 1_000 { print("DIFFERENCES \(type.name) \(number): \(failures)") }
      }
      #expect(matches > Self.size.conditions)
      await rows.package.close()
      await rows.database.close()
    }

    /// PostGIS's own test of points and polygons answers otherwise for some of these points.
    @Test func `points beside edges are where memory has them`() async throws {
      let corners = [(8.1, 1.6), (1.8, 2.7), (4.2, 4.8), (8.1, 1.6)]
      var points: [Geometry] = [.point(x: 7.3125, y: 1.7375)]
      for (start, end) in zip(corners, corners.dropFirst()) {
        for step in 0...80 {
          let part = Double(step) / 80
          points.append(
            .point(
              x: start.0 + (end.0 - start.0) * part, y: start.1 + (end.1 - start.1) * part))
        }
      }
      let schema = Schema(layer: "points", geometry: GeometryColumn(type: .point, srs: .wgs84))
      let features = points.enumerated().map {
        Feature(id: .integer(Int64($0.offset + 1)), geometry: $0.element)
      }
      let table = try await TestSchema.make()
      try table.fill(schema, features)
      let store = table.store()
      let ring = corners.flatMap { [$0.0, $0.1] }
      let polygon = Geometry.polygon([CoordinateSequence(dimensions: .xy, ordinates: ring)], .xy)
      for relation: SpatialRelation in [
        .intersects, .disjoint, .within, .contains, .covers, .coveredBy, .touches, .equals,
      ] {
        let filter = Filter.relation(relation, polygon)
        let evaluator = try FilterEvaluator(filter, schema: schema)
        var expected: [FeatureID] = []
        for feature in features {
          guard let id = feature.id else { continue }
          let row = ValueRow(feature, id: id, schema: schema)
          if try evaluator.evaluate(row) == true { expected.append(id) }
        }
        #expect(try await ids(store, Query("points", where: filter)) == expected, "\(relation)")
      }
      await store.close()
    }

    @Test func `sorts as SQLite sorts`() async throws {
      let rows = try await ThreeStores(.point, count: 300, seed: 5)
      for column in rows.schema.columns.map(\.name) + ["fid"] {
        for isDescending in [false, true] {
          let query = Query("places").order(by: [Order(column, descending: isDescending)])
            .limit(100, offset: 50)
          let expected = try await ids(rows.package, query)
          #expect(try await ids(rows.database, query) == expected, "\(column) \(isDescending)")
        }
      }
      await rows.package.close()
      await rows.database.close()
    }

    @Test(arguments: [DistanceMetric.geodesic, .planar])
    func `finds the nearest as SQLite does`(metric: DistanceMetric) async throws {
      let rows = try await ThreeStores(.point, count: 2_000, seed: 9, scatters: true)
      // Features beside the target are clipped away.
      var clipped = GeometryOperations()
      clipped.clip = .init(Envelope(minX: 100, minY: -60, maxX: 170, maxY: 60))
      let targets: [Geometry] = [
        .point(x: 10, y: 48), .point(x: 179.9, y: -17), .point(x: 0, y: 89),
        .lineString(CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 40, 60])),
      ]
      for target in targets {
        let visits = Column<Int64>("visits") > 0
        for query in [
          Query("places").nearest(to: target, srs: .wgs84, count: 12, metric: metric),
          Query("places", where: visits).nearest(to: target, count: 7, metric: metric),
          Query("places").nearest(
            to: target, count: 5, metric: metric,
            within: metric == .geodesic ? 500_000 : 5),
          Query("places").nearest(to: target, metric: metric, within: 3),
          Query("places").nearest(to: target, count: 9, metric: metric).applying(clipped),
        ] {
          let expected = try await features(rows.package, query)
          #expect(try await features(rows.database, query) == expected)
          #expect(try await rows.database.count(query) == expected.count)
        }
      }
      await rows.package.close()
      await rows.database.close()
    }

    @Test func `works on geometries as SQLite does`() async throws {
      let rows = try await ThreeStores(.point, count: 300, seed: 3, scatters: true)
      var clipped = GeometryOperations()
      clipped.clip = .init(Envelope(minX: -20, minY: -20, maxX: 60, maxY: 60))
      var buffered = GeometryOperations()
      buffered.buffer = .init(metres: 1_000)
      for query in [
        Query("places").applying(clipped), Query("places").applying(buffered).limit(3),
        Query("places", where: .intersects(Envelope(minX: 0, minY: 0, maxX: 50, maxY: 50)))
          .transformed(to: SRS("EPSG", 3857)),
        Query("places").select("name").withoutGeometry().limit(5, offset: 7),
      ] {
        let expected = try await features(rows.package, query)
        #expect(!expected.isEmpty)
        #expect(try await features(rows.database, query) == expected)
      }
      await rows.package.close()
      await rows.database.close()
    }

    private func ids(_ store: any Store, _ query: Query) async throws -> [FeatureID] {
      var ids: [FeatureID] = []
      for try await batch in try await store.query(query) { ids += batch.ids }
      return ids
    }

    private func features(_ store: any Store, _ query: Query) async throws -> [Feature] {
      var features: [Feature] = []
      for try await feature in try await store.query(query).features { features.append(feature) }
      return features
    }
  }

  /// The same features in memory, in a GeoPackage and in a database.
  private final class ThreeStores: Sendable {
    struct Answer: Equatable {
      var yes: [Int64] = []
      var no: [Int64] = []

      /// The ids that only one of the answers has, a few of them.
      func difference(to memory: Answer) -> String {
        let pairs = [("true", yes, memory.yes), ("false", no, memory.no)]
        return pairs.map { name, own, other in
          let (more, fewer) = (Set(own).subtracting(other), Set(other).subtracting(own))
          return "\(name): has \(more.sorted().prefix(9)), memory has \(fewer.sorted().prefix(9))"
        }.joined(separator: "; ")
      }
    }

    let schema: Schema
    let features: [Feature]
    let package: GeoPackageStore
    let database: PostGISStore
    private let table: TestSchema
    private let folder: TemporaryFolder

    /// - Parameter scatters: whether points lie anywhere, and not only where conditions look.
    init(_ type: GeometryType, count: Int, seed: UInt64, scatters: Bool = false) async throws {
      var schema = Schema(layer: "places", geometry: GeometryColumn(type: type, srs: .wgs84))
      schema.columns = FilterTable.columns.map {
        ColumnDefinition($0.name, ColumnType(sql: $0.type))
      }
      if type == .geometry {
        schema.geometry?.z = .optional
        schema.geometry?.m = .optional
      }
      self.schema = schema
      features = Self.features(schema, count, seed, scatters)
      folder = try TemporaryFolder()
      table = try await TestSchema.make()
      try table.fill(schema, features)
      database = table.store()
      let path = folder.file("places.gpkg").path
      let writer = try GeoPackageBulkWriter(creating: path, store: "survey")
      _ = try writer.create(schema, ids: .given)
      try writer.loader.begin(schema)
      for feature in features {
        guard let id = feature.id else { continue }
        try writer.loader.feature(ValueRow(feature, id: id, schema: schema))
      }
      _ = try writer.commit()
      package = try await GeoPackageStore(path: path, id: "survey")
    }

    private static func features(
      _ schema: Schema, _ count: Int, _ seed: UInt64, _ scatters: Bool
    ) -> [Feature] {
      var generator = FilterGenerator(seed: ~seed)
      var numbers = FilterGenerator.SplitMix(state: seed)
      let type = schema.geometry?.type ?? .geometry
      return (1...count).map { number in
        var geometry: Geometry?
        for _ in 0..<20 where geometry == nil {
          let made = generator.geometry()
          geometry = type == .geometry || made?.type == type ? made : nil
        }
        if scatters {
          geometry = .point(
            x: Double.random(in: -180...180, using: &numbers),
            y: Double.random(in: -90...90, using: &numbers))
        }
        var attributes = Attributes()
        for column in schema.columns {
          var value = Value.null
          for _ in 0..<10 where value == .null {
            value = fitting(generator.value(), column.type, &numbers) ?? .null
          }
          attributes[column.name] = value
        }
        return Feature(
          id: .integer(Int64(number)), geometry: geometry, attributes: attributes)
      }
    }

    /// The value where a column of the type can have it.
    private static func fitting(
      _ value: Value, _ type: ColumnType, _ numbers: inout FilterGenerator.SplitMix
    ) -> Value? {
      switch (type, value) {
      case (.integer, .integer), (.text, .text), (.blob, .blob): value
      // SQLite does not keep the sign of zero, which a power shows.
      case (.double, .real(let number)):
        number.isNaN ? nil : Value.real(number == 0 ? 0 : number)
      case (.double, .integer(let number)): .real(Double(number))
      case (.boolean, .integer(let number)): .boolean(number > 0)
      case (.date, .text(let text)): CalendarDate(text).map { .date($0) }
      case (.dateTime, .text(let text)): Instant(text).map { .dateTime($0) }
      default: nil
      }
    }

    // MARK: Answers

    func expected(_ filter: Filter) throws -> Answer {
      let evaluator = try FilterEvaluator(filter, schema: schema)
      var answer = Answer()
      for (index, feature) in features.enumerated() {
        let row = ValueRow(feature, id: feature.id ?? 0, schema: schema)
        switch try evaluator.evaluate(row) {
        case true?: answer.yes.append(Int64(index + 1))
        case false?: answer.no.append(Int64(index + 1))
        case nil: break
        }
      }
      return answer
    }

    func found(_ filters: [Filter], in store: any Store) async throws -> [Answer] {
      try await store.read { (snapshot) throws(FieldpackError) in
        var answers: [Answer] = []
        for filter in filters {
          let query = Query("places").select([]).withoutGeometry()
          var (yes, no) = (IDs(), IDs())
          try snapshot.scan(query.where(filter), into: &yes)
          try snapshot.scan(query.where(.not(filter)), into: &no)
          let count = try snapshot.count(query.where(filter))
          answers.append(Answer(yes: count == yes.ids.count ? yes.ids : [-1], no: no.ids))
        }
        return answers
      }
    }

    func sql(_ filter: Filter) async throws -> String {
      try await database.explain(Query("places", where: filter)).map {
        "\($0.sql) \($0.parameters)"
      }
      .joined()
    }

    private struct IDs: FeatureSink {
      var ids: [Int64] = []
      mutating func begin(_ schema: Schema) {}
      mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
        if case .integer(let id) = row.id { ids.append(id) }
      }
    }
  }
#endif
