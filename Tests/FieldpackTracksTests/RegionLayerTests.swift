import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackSQL
import FieldpackSQLite
import FieldpackTestSupport
import FieldpackTracks
import Testing

@Suite struct RegionLayerTests {
  private func makeLayer(
    _ store: GeoPackageStore, _ layer: LayerID = "zones", srs: SRS = .wgs84,
    column: String = "radius_m"
  ) async throws {
    let schema = Schema(
      layer: layer, geometry: GeometryColumn(srs: srs),
      columns: [ColumnDefinition(column, .double), ColumnDefinition("name", .text())])
    try await store.write { (writer) throws(FieldpackError) in try writer.createLayer(schema) }
  }

  private func feature(_ wkt: String, radius: Double? = nil, id: FeatureID? = nil) throws -> Feature
  {
    Feature(
      id: id, geometry: try WKT.read(wkt),
      attributes: radius.map { ["radius_m": .real($0)] } ?? [:])
  }

  private func add(_ features: [Feature], to store: GeoPackageStore) async throws {
    try await store.write { (writer) throws(FieldpackError) in
      for feature in features { try writer.create(feature, in: "zones") }
    }
  }

  @Test func `points with radii and areas of a layer are regions`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      try await makeLayer(store)
      try await add(
        [
          try feature("POINT (13 52)", radius: 100), try feature("POINT (13 52)"),
          try feature(
            "CURVEPOLYGON (CIRCULARSTRING (12.9 52, 13 52.1, 13.1 52, 13 51.9, 12.9 52))"),
          Feature(),
        ], to: store)
      let regions = try await RegionLayer("zones", of: store, radius: 50).regions()
      #expect(regions.ids == [1, 2, 3])
      #expect(regions.notes == ["1 feature of layer 'zones' without a geometry"])
      #expect(regions.ids(holding: Position(x: 13.001, y: 52)) == [1, 3])
      #expect(regions.ids(holding: Position(x: 13.0005, y: 52)) == [1, 2, 3])
      #expect(regions.ids(holding: Position(x: 13.0706, y: 52.0706)) == [3])
      #expect(regions.ids(holding: Position(x: 13.072, y: 52.072)) == [])
    }
  }

  @Test func `a run goes on with the regions that it began with only`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      try await makeLayer(store)
      try await makeLayer(store, "schools")
      try await add([try feature("POINT (13 52)")], to: store)
      func run(_ layer: LayerID, radius: Double, column: String? = nil) async throws {
        let monitor = try GeofenceMonitor(try WatchedRegions([]))
        let regions = RegionLayer(layer, of: store, radius: radius, radiusColumn: column)
        try await RecordedMonitor(monitor, in: store, as: "run", watching: regions).watch(
          ScriptedSource([Fix(longitude: 13, latitude: 52)])
        ).run()
      }
      try await run("zones", radius: 50)
      try await run("zones", radius: 50)
      for (layer, radius, column) in [
        ("schools", 50, nil), ("zones", 60, nil), ("zones", 50, "radius_m"),
      ] as [(LayerID, Double, String?)] {
        let error = await failure { try await run(layer, radius: radius, column: column) }
        #expect(error?.code == .invalidArgument)
      }
      let kinds = try await store.detections(ofRun: "run").map(\.kind)
      #expect(kinds == [.enter])
    }
    #expect(
      try package.rows("SELECT parameters, fixes FROM monitor_run") == [
        "regions detect=enter,exit,cross hysteresis=0.0 layer=field:zones radius=50.0|2"
      ])
  }

  @Test func `what cannot be watched is named with its layer and store`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      try await makeLayer(store)
      try await add(
        [try feature("POINT (13 52)", radius: 1), try feature("POINT (1 2)")], to: store)
      func failure(_ layer: RegionLayer) async -> FieldpackError? {
        do throws(FieldpackError) {
          _ = try await layer.regions()
          return nil
        } catch {
          return error
        }
      }
      let noRadius = await failure(RegionLayer("zones", of: store))
      #expect(noRadius?.location == .init(store: "field", layer: "zones", feature: 2))
      #expect(noRadius?.code == .invalidData)
      let noColumn = await failure(RegionLayer("zones", of: store, radiusColumn: "size"))
      #expect(noColumn?.message.hasPrefix("layer 'zones' has no column 'size'") == true)
      #expect(await failure(RegionLayer("areas", of: store))?.code == .notFound)
    }
  }

  @Test func `a layer in another reference system is brought to longitude and latitude`()
    async throws
  {
    let package = try FieldFile()
    try await package.withStore { store in
      try await makeLayer(store, srs: SRS("EPSG", 32633))
      try await add(
        [try feature("POLYGON ((400000 5800000, 401000 5800000, 401000 5801000, 400000 5800000))")],
        to: store)
      let regions = try await RegionLayer("ZONES", of: store).regions()
      #expect(regions.ids(holding: Position(x: 13.5423, y: 52.3440)) == [1])
      #expect(regions.ids(holding: Position(x: 13.5363, y: 52.3475)) == [])
    }
  }

  /// The ids that SQL finds in the GeoPackage at a position.
  private func truth(
    _ store: GeoPackageStore, _ position: Position
  ) async throws -> [FeatureID] {
    let sql = """
      SELECT fid FROM zones WHERE geom IS NOT NULL AND CASE ST_GeometryType(geom)
      WHEN 'POINT' THEN ST_GeodesicDistance(geom, ST_SetSRID(?1, 4326)) <= coalesce(radius_m, 500)
      ELSE ST_Covers(geom, ST_SetSRID(?1, 4326)) END ORDER BY fid
      """
    let point = Geometry.point(x: position.x, y: position.y)
    var ids: [FeatureID] = []
    for try await batch in store.rows(sql: sql, parameters: [.geometry(point)]) {
      for case .integer(let id)? in batch.rows.map(\.first) { ids.append(.integer(id)) }
    }
    return ids
  }

  @Test func `the copy agrees with the file after every edit`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      try await makeLayer(store)
      try await makeLayer(store, "other")
      let layer = RegionLayer("zones", of: store, radius: 500)
      let box = Envelope(minX: 13, minY: 52, maxX: 13.1, maxY: 52.1)
      var random = RandomRegions(seed: 3, in: box, through: [])
      var ids: [FeatureID] = []
      var before = try await layer.regions()
      let foreign = try await GeoPackageStore(path: package.path, id: "foreign")
      for (step, region) in random.regions(60).enumerated() {
        let feature = Feature(
          geometry: region.geometry,
          attributes: region.radius.map { ["radius_m": .real(min($0, 2000))] } ?? [:])
        let writer = step % 3 == 0 ? foreign : store
        if step % 4 == 3, let id = ids.randomElement(using: &random.random) {
          try await writer.write { (writer) throws(FieldpackError) in
            try writer.delete(id, in: "zones")
          }
          ids.removeAll { $0 == id }
        } else if step % 4 == 2, let id = ids.randomElement(using: &random.random) {
          try await writer.write { (writer) throws(FieldpackError) in
            try writer.update(id, in: "zones", geometry: .set(feature.geometry))
          }
        } else {
          ids.append(
            try await writer.write { (writer) throws(FieldpackError) in
              try writer.create(feature, in: "zones")
            })
        }
        let now = try await layer.regions()
        #expect(now !== before)
        before = now
        for _ in 0..<20 {
          let position = Position(
            x: .random(in: 13...13.1, using: &random.random),
            y: .random(in: 52...52.1, using: &random.random))
          #expect(try await truth(store, position) == now.ids(holding: position))
        }
        // A commit to another layer of the store leaves the copy as it is.
        _ = try await store.write { (writer) throws(FieldpackError) in
          try writer.create(Feature(), in: "other")
        }
        #expect(try await layer.regions() === now)
      }
      _ = try await store.run(sql: "DELETE FROM zones")
      #expect(try await layer.regions().ids == [])
      await foreign.close()
    }
  }

  @Test func `a source is watched in the regions as they are at each batch`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      try await makeLayer(store)
      try await add([try feature("POINT (13 52)", radius: 100)], to: store)
      let layer = RegionLayer("zones", of: store)
      let near = Fix(longitude: 13, latitude: 52)
      let script = ScriptedSource([near, near, near])
      var seen: [String] = []
      let monitor = try GeofenceMonitor(try await layer.regions())
      for try await batch in monitor.detections(of: script, watching: layer) {
        seen += batch.map { "\($0.fix) \($0.kind) \($0.region.map { "\($0)" } ?? "-")" }
        guard seen.count == 1 else { continue }
        try await store.write { (writer) throws(FieldpackError) in
          try writer.delete(1, in: "zones")
        }
      }
      #expect(seen == ["0 enter 1", "1 exit 1"])
    }
  }
}
