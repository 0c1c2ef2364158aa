import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ReplaySourceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A GeoPackage with the layer `walk` of points.
  private func store(
    _ columns: [ColumnDefinition], srs: SRS = .wgs84, type: GeometryType = .point,
    _ rows: [(Geometry?, [Value])]
  ) async throws -> GeoPackageStore {
    let path = folder.file("\(UUID().uuidString).gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, store: "field").commit()
    let store = try await GeoPackageStore(path: path, id: "field")
    let schema = Schema(
      layer: "walk", geometry: GeometryColumn(type: type, srs: srs), columns: columns)
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(schema)
      for (geometry, values) in rows {
        var attributes = Attributes()
        for (column, value) in zip(columns, values) { attributes[column.name] = value }
        try writer.create(Feature(geometry: geometry, attributes: attributes), in: "walk")
      }
    }
    return store
  }

  private func point(_ x: Double) -> Geometry { .point(x: x, y: 50) }

  private func time(_ second: Int64) -> Value {
    .dateTime(Instant(milliseconds: 1_714_557_600_000 + second * 1000))
  }

  @Test func `fixes come by time and then by feature id`() async throws {
    let store = try await store(
      [ColumnDefinition("time", .dateTime)],
      [
        (point(3), [time(20)]), (point(1), [time(10)]), (point(2), [time(10)]),
        (point(0), [.null]),
      ])
    let (updates, failure) = await LineSourceTests.read(ReplaySource(store, layer: "walk"))
    #expect(failure == nil)
    let times = [nil, 10, 10, 20].map { (second: Int64?) in
      second.map { Instant(milliseconds: 1_714_557_600_000 + $0 * 1000) }
    }
    #expect(
      updates
        == times.enumerated().map { index, time in
          .fix(Fix(longitude: Double(index), latitude: 50, time: time))
        })
  }

  @Test func `columns are known by their names or chosen`() async throws {
    let store = try await store(
      [
        ColumnDefinition("Time_Unix", .double), ColumnDefinition("device", .text()),
        ColumnDefinition("accuracy_m", .double), ColumnDefinition("ele_m", .double),
        ColumnDefinition("course", .double), ColumnDefinition("speed", .double),
        ColumnDefinition("other", .integer),
      ],
      [
        (
          point(1),
          [
            .real(1_714_557_600.5), .text("a"), .real(5), .real(34), .real(360),
            .real(1.5), .integer(7),
          ]
        )
      ])
    var fix = Fix(
      longitude: 1, latitude: 50, elevation: 34,
      time: Instant(milliseconds: 1_714_557_600_500), accuracy: 5, course: 0, speed: 1.5,
      device: "a")
    #expect(await LineSourceTests.read(ReplaySource(store, layer: "walk")).0 == [.fix(fix)])
    var options = ReplaySource.Options()
    options.columns.device = "other"
    fix.device = "7"
    let chosen = ReplaySource(store, layer: "walk", options: options)
    #expect(await LineSourceTests.read(chosen).0 == [.fix(fix)])
    options.columns.device = "none"
    let (_, failure) = await LineSourceTests.read(
      ReplaySource(store, layer: "walk", options: options))
    #expect(failure?.message == "layer 'walk' has no column 'none'")
  }

  @Test func `points of another system are brought to WGS 84`() async throws {
    let store = try await store(
      [], srs: SRS("EPSG", 3857), [(.point(x: 1_491_681.21, y: 6_895_245.7), [])])
    let (updates, failure) = await LineSourceTests.read(ReplaySource(store, layer: "walk"))
    #expect(failure == nil)
    guard case .fix(let fix)? = updates.first else { return #expect(Bool(false)) }
    #expect(abs(fix.longitude - 13.4) < 1e-6)
    #expect(abs(fix.latitude - 52.523) < 1e-3)
  }

  @Test func `the fastest replay gives some 16,384 fixes at a time`() async throws {
    let store = try await store([], (0..<70_000).map { (point(Double($0 % 180)), []) })
    var counts: [Int] = []
    for try await batch in ReplaySource(store, layer: "walk").updates() {
      counts.append(batch.count)
    }
    #expect(counts.count == 5 && counts.reduce(0, +) == 70_000, "\(counts)")
    #expect(16_384..<18_000 ~= counts[0], "\(counts)")
  }

  @Test func `what comes before an error is given, also of later batches`() async throws {
    let store = try await store(
      [ColumnDefinition("time", .text())],
      (0..<3000).map { (point(1), [.text($0 == 2500 ? "soon" : "2024-05-06T07:00:00Z")]) })
    let source = ReplaySource(store, layer: "walk")
    let (updates, failure) = await LineSourceTests.read(source)
    // As text, what is no time comes last.
    #expect(updates.count == 2999)
    #expect(failure?.location.feature != nil)
    var options = ReplaySource.Options()
    options.skipsErrors = true
    let skipping = ReplaySource(store, layer: "walk", options: options)
    let (rest, none) = await LineSourceTests.read(skipping)
    #expect((rest.count, none == nil) == (2999, true))
  }

  @Test func `a pace waits for each fix and gives those that are due together`() async throws {
    let store = try await store(
      [ColumnDefinition("time", .dateTime)],
      [0, 0, 100, 250, 300, 400].map { (point(Double($0) / 10), [time($0)]) })
    func replay(_ clock: TestClock, _ rate: Double? = nil) async throws -> [Int] {
      var counts: [Int] = []
      let source = ReplaySource(
        store, layer: "walk", options: .init(speed: .times(1000), rate: rate), clock: clock.clock)
      for try await batch in source.updates() { counts.append(batch.count) }
      return counts
    }
    let exact = TestClock(.movedBySleep())
    #expect(try await replay(exact) == [2, 1, 1, 1, 1])
    #expect(exact.sleeps == [100, 150, 50, 100].map { .milliseconds($0) })
    let late = TestClock(.movedBySleep(late: .milliseconds(60)))
    #expect(try await replay(late) == [2, 1, 2, 1])
    #expect(late.sleeps == [100, 90, 90].map { .milliseconds($0) })
    let rated = TestClock(.movedBySleep())
    #expect(try await replay(rated, 0.5) == [1, 1, 1, 1, 1, 1])
    #expect(rated.sleeps == [2, 2, 2, 2, 2].map { .milliseconds($0) })
  }

  @Test func `a pace needs times or a rate`() async throws {
    let store = try await store([], [(point(0), []), (point(1), [])])
    func read(_ rate: Double?) async -> ([LocationUpdate], FieldpackError?) {
      let options = ReplaySource.Options(speed: .times(10), rate: rate)
      return await LineSourceTests.read(ReplaySource(store, layer: "walk", options: options))
    }
    let (none, failure) = await read(nil)
    #expect(none.isEmpty)
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == "layer 'walk' has no times to keep the pace of")
    #expect(failure?.advice == .setPace)
    #expect(await read(100).0.count == 2)
    #expect(await read(0).1?.code == .invalidArgument)
  }

  @Test(arguments: [1, 1e-300])
  func `cancelling ends a replay that waits`(speed: Double) async throws {
    let store = try await store(
      [ColumnDefinition("time", .dateTime)], [(point(0), [time(0)]), (point(1), [time(86_400)])])
    let (started, begin) = AsyncStream.makeStream(of: Void.self)
    let source = ReplaySource(store, layer: "walk", options: .init(speed: .times(speed)))
    let reading = Task {
      do throws(FieldpackError) {
        for try await _ in source.updates() { begin.yield() }
        return FieldpackError.Code.invalidData
      } catch {
        return error.code
      }
    }
    for await _ in started { break }
    reading.cancel()
    #expect(await reading.value == .interrupted)
  }

  @Test func `what is no fix ends the replay with its key, or is counted`() async throws {
    let store = try await store(
      [ColumnDefinition("time", .text())],
      [
        (point(0), [.text("1")]), (point(1), [.text("2024-05-01T10:00:00Z")]),
        (nil, [.text("3")]), (.point(x: 181, y: 0), [.text("4")]),
      ])
    let (updates, failure) = await LineSourceTests.read(ReplaySource(store, layer: "walk"))
    #expect(updates.isEmpty)
    #expect(failure?.message == "'1' is not a time like 2024-05-01T10:00:00Z")
    #expect(failure?.location == .init(store: "field", layer: "walk", feature: .integer(1)))
    var options = ReplaySource.Options()
    options.skipsErrors = true
    let skipping = ReplaySource(store, layer: "walk", options: options)
    #expect(await LineSourceTests.read(skipping).0.count == 1)
    #expect(
      skipping.report.current.skipped.listed.map(\.reason) == [
        "'1' is not a time like 2024-05-01T10:00:00Z", "the feature has no position",
        "the position 181.0 0.0 is not on Earth",
      ])
  }

  @Test func `a layer that is not there, or not of points, is an error`() async throws {
    let store = try await store([], type: .lineString, [])
    #expect(await !ReplaySource(store, layer: "run").isAvailable)
    let (_, missing) = await LineSourceTests.read(ReplaySource(store, layer: "run"))
    #expect(missing?.locationFailure == .unavailable)
    let (_, lines) = await LineSourceTests.read(ReplaySource(store, layer: "walk"))
    #expect(lines?.code == .invalidArgument)
    let failure = await #expect(throws: FieldpackError.self) {
      try await ReplaySource.layer(of: store)
    }
    #expect(failure?.message == "store 'field' has no layer of points to take fixes from")
  }
}
