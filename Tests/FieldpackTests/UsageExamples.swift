import Fieldpack
import Foundation

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

  static func feature() -> (Feature, Double?) {
    // Example: Feature
    var well = Feature(
      geometry: .point(x: 13.9, y: 51.95), attributes: ["name": "Markt 41", "depth": 12.5])
    well.attributes["active"] = true
    let depth = well[Column<Double>("depth")]
    // End
    return (well, depth)
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

  static func importFeatures(_ geoPackage: URL, _ file: URL) async throws -> Int {
    // Example: importFeatures
    let workspace = try await Workspace.open(file: geoPackage, id: "survey")
    let report = try await workspace.importFeatures(from: file, into: "wells", of: "survey")
    await workspace.close()
    // End
    return report.count
  }
}
