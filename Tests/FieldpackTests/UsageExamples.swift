import Fieldpack

/// The examples in the doc comments of the types that people use first.
///
/// `UsageExampleTests` compares the lines between `Example` and `End` with the doc comments, so an
/// example that no longer compiles fails the build, and one that differs fails a test.
enum UsageExamples {
  static func query(_ store: any Store) async throws -> [String] {
    // Example: Query
    let deepest = Query("wells", where: Column<Bool>("active") == true)
      .select("name", "depth")
      .order(by: [Order("depth", descending: true)])
      .limit(3)
    var names: [String] = []
    for try await feature in try await store.query(deepest).features {
      names.append(feature[Column<String>("name")] ?? "")
    }
    // End
    return names
  }

  static func filter() throws -> [Filter] {
    // Example: Filter
    let deep = Column<String>("use") == "irrigation" && Column<Double>("depth") > 40.5
    let same = try Filter(cql2: "use = 'irrigation' AND depth > 40.5")
    let near = Filter.isWithin(500, of: .point(x: 13.9, y: 51.95), srs: .wgs84)
    let query = Query("wells", where: deep && !near)
    // End
    return [deep, same, query.filter]
  }

  static func attributes(_ number: Int, _ top: Double) -> Attributes {
    // Example: Attributes
    let attributes: Attributes = ["name": "Markt \(number)", "depth": top + 12.5, "use": nil]
    // End
    return attributes
  }

  static func feature() -> (Feature, Double?) {
    // Example: Feature
    var well = Feature(
      geometry: .point(x: 13.9, y: 51.95), attributes: ["name": "Markt 41", "depth": 12.5])
    well.attributes["active"] = true
    let depth = Column<Double>("depth")
    well[depth] = (well[depth] ?? 0) + 1.5
    // End
    return (well, well[depth])
  }

  static func store(_ store: any Store) async throws -> ([LayerID], Int, Feature?, Int) {
    // Example: Store
    let names = try await store.layers().map(\.id)
    let count = try await store.count(Query("wells"))
    let well = try await store.feature(.integer(101), in: "wells")
    var byteCount = 0
    for try await batch in try await store.query(Query("wells")) {
      byteCount += batch.byteCount
    }
    // End
    return (names, count, well, byteCount)
  }

  static func geoPackageStore(_ path: String) async throws -> FeatureID {
    // Example: GeoPackageStore
    let store = try await GeoPackageStore(path: path, id: "survey")
    let well = Feature(geometry: .point(x: 13.9, y: 51.95), attributes: ["name": "Markt 41"])
    let id = try await store.write { (writer) throws(FieldpackError) in
      try writer.create(well, in: "wells")
    }
    await store.close()
    // End
    return id
  }

  static func write(_ workspace: Workspace, _ well: Feature) async throws -> [FeatureID] {
    // Example: write
    let ids = try await workspace.write(store: "survey") { writer in
      try writer.update(101, in: "wells", set: ["depth": 95.5])
      try writer.delete(102, in: "wells")
      return [try writer.create(well, in: "wells")]
    }
    // End
    return ids
  }

  static func fileImport(_ wells: String, _ walk: String, _ path: String) async throws -> [LayerID]
  {
    // Example: FileImport
    var options = ImportOptions(mode: .append)
    options.skipsErrors = true
    let report = try await FileImport(options).run([wells, walk], into: path)
    let layers = report.imported.map(\.layer)
    // End
    return layers
  }

  static func importFeatures(_ geoPackage: String, _ file: String) async throws -> Int {
    // Example: importFeatures
    let workspace = try await Workspace.open(file: geoPackage, id: "survey")
    let report = try await workspace.importFeatures(from: file, into: "wells", of: "survey")
    await workspace.close()
    // End
    return report.count
  }

  static func workspace(_ config: String) async throws -> [String] {
    // Example: Workspace
    let workspace = try await Workspace.open([config])
    var names: [String] = []
    for try await well in try await workspace.query(Query("wells").limit(3)).features {
      names.append(well[Column<String>("name")] ?? "")
    }
    await workspace.close()
    // End
    return names
  }

  static func column(_ well: Feature) -> (Query, Double?) {
    // Example: Column
    let depth = Column<Double>("depth")
    let query = Query("wells", where: depth > 40 && Column<String>("name").like("Burglehn%"))
    let value = well[depth]
    // End
    return (query, value)
  }

  static func keyTuple() -> (String, KeyTuple?) {
    // Example: KeyTuple
    let key = KeyTuple(store: "survey", layer: "wells", feature: 127)
    let text = key.description
    let same = KeyTuple(text)
    // End
    return (text, same)
  }

  static func geometry() throws -> (Geometry, Envelope?, String) {
    // Example: Geometry
    let path = Geometry.lineString(
      CoordinateSequence([Position(x: 13, y: 51), Position(x: 14, y: 52)], dimensions: .xy))
    let same = try WKT.read("LINESTRING (13 51,14 52)")
    let box = path.envelope
    let text = WKT.text(of: .point(x: 13.9, y: 51.95))
    // End
    return (same, box, text)
  }

  static func srs() -> (SRS?, Query) {
    // Example: SRS
    let utm = SRS("EPSG", 25833)
    let same = SRS("urn:ogc:def:crs:EPSG::25833")
    let query = Query("wells").transformed(to: utm)
    // End
    return (same, query)
  }

  static func schema(_ store: GeoPackageStore) async throws {
    // Example: Schema
    let visits = Schema(
      layer: "visits", geometry: GeometryColumn(type: .point, srs: .wgs84),
      columns: [ColumnDefinition("well", .text(), isNullable: false), .init("level", .double)])
    try await store.write { (writer) throws(FieldpackError) in try writer.createLayer(visits) }
    // End
  }

  static func error(_ store: any Store, _ show: (String) -> Void) async -> Int {
    var count = 0
    // Example: FieldpackError
    do throws(FieldpackError) {
      count = try await store.count(Query("well"))
    } catch {
      show(error.code == .notFound ? error.message : "\(error)")
    }
    // End
    return count
  }

  static func exportFeatures(_ workspace: Workspace, _ file: String) async throws -> Int {
    // Example: exportFeatures
    let deep = Query("wells", where: Column<Double>("depth") > 80).select("name", "depth")
    var options = ExportOptions()
    options.overwrite = true
    let report = try await workspace.exportFeatures(deep, to: file, options: options)
    // End
    return report.count
  }

  static func changes(
    _ workspace: Workspace, _ refresh: (KeyTuple) async -> Void, _ refreshAll: () async -> Void
  ) async throws {
    // Example: changes
    for try await change in workspace.changes(matching: Query("wells")) {
      if let key = change.key { await refresh(key) } else { await refreshAll() }
    }
    // End
  }

  static func geofenceMonitor(
    _ store: any Store, _ source: ReplaySource, _ show: (Detection) -> Void
  ) async throws {
    // Example: GeofenceMonitor
    let zones = RegionLayer("zones", of: store)
    let monitor = try GeofenceMonitor(try await zones.regions())
    for try await detections in monitor.detections(of: source, watching: zones) {
      for seen in detections where seen.kind == .enter { show(seen) }
    }
    // End
  }

  static func trackRecorder(_ store: GeoPackageStore, _ source: ReplaySource) async throws -> Int {
    var count = 0
    // Example: TrackRecorder
    let recorder = TrackRecorder(store)
    for try await step in try recorder.record(source, as: "walk", .region(80)) {
      count += step.points.count
    }
    // End
    return count
  }
}
