import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct WorkspaceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private let wells = """
    {"type":"FeatureCollection","features":[
    {"type":"Feature","id":11,"properties":{"name":"Mitte","depth":12},
     "geometry":{"type":"Point","coordinates":[13.4,52.5]}},
    {"type":"Feature","id":12,"properties":{"name":"Nord","depth":8.5},
     "geometry":{"type":"Point","coordinates":[13.5,52.6]}}]}
    """
  private let sights = """
    {"type":"Feature","properties":{"name":"Dom","depth":3},
     "geometry":{"type":"Point","coordinates":[13.401,52.519]}}
    {"type":"Feature","properties":{"name":"Dom","depth":3},
     "geometry":{"type":"Point","coordinates":[13.401,52.519]}}
    """

  private func workspace() async throws -> Workspace {
    _ = try folder.write(wells, to: "wells.geojson")
    _ = try folder.write(sights, to: "sights.geojsonl")
    let target = folder.file("survey.gpkg").path
    _ = try await FileImport().run([folder.file("wells.geojson").path], into: target)
    let config = try folder.write(
      """
      {"stores":[
        {"id":"survey","store_type":"gpkg","version":"1","uri":"survey.gpkg"},
        {"id":"sights","store_type":"geojson","version":1,"uri":"sights.geojsonl"},
        {"id":"gone","store_type":"gpkg","version":"1","uri":"gone.gpkg"}]}
      """, to: "survey.scfg")
    return try await Workspace.open([config.path], cache: .folder(folder.file("cache").path))
  }

  @Test func `default layers answer a query that names none`() async throws {
    try Data(contentsOf: Checkout.file("TestData/gpkg/gdal-3.12.gpkg"))
      .write(to: folder.file("field.gpkg"))
    func workspace(_ defaults: String) async throws -> Workspace {
      let config = try folder.write(
        #"{"stores":[{"id":"field","store_type":"gpkg","version":"1","uri":"field.gpkg","#
          + #""default_layers":\#(defaults)}]}"#, to: "field.scfg")
      return try await Workspace.open([config.path])
    }
    let wells = try await workspace(#"["WELLS", "gone"]"#)
    let report = QueryReport()
    #expect(try await wells.count(Query(), report: report) == 4)
    let note: Note = "store 'field' has no layer 'gone', which its default_layers names"
    #expect(report.current.notes == [note])
    #expect(try await wells.count(Query("remarks")) == 2)
    #expect(try await wells.prepare(Query()).layers.map(\.schema.layer) == ["wells"])
    await wells.close()
    let none = try await workspace(#"["gone"]"#)
    #expect(try await none.count(Query()) == 6)
    await none.close()
  }

  @Test func `an opening that is cancelled gives no workspace of failed stores`() async throws {
    await (try workspace()).close()
    let (config, cache) = (folder.file("survey.scfg"), folder.file("cache").path)
    let opening = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await Workspace.open([config.path], cache: .folder(cache))
    }
    let error = await #expect(throws: FieldpackError.self) { _ = try await opening.value }
    #expect(error?.code == .interrupted && error?.code.exitStatus == 130)
    let read = Task {
      let stores = try WorkspaceConfig([config.path])
      withUnsafeCurrentTask { $0?.cancel() }
      var context = StoreContext()
      context.cache = .folder(cache)
      return await Workspace.open(stores, in: context)
    }
    let workspace = try await read.value
    let codes = workspace.members.map { member -> FieldpackError.Code? in
      if case .failed(let error) = member.state { error.code } else { nil }
    }
    #expect(codes.first == .interrupted)
    await workspace.close()
  }

  private func names(_ query: Query, in workspace: Workspace) async throws -> [String] {
    var names: [String] = []
    for try await feature in try await workspace.query(query).features {
      let key = try #require(feature.key)
      names.append("\(key.store)/\(key.layer)/\(feature[Column<String>("name")] ?? "")")
    }
    return names
  }

  @Test func `asks all stores and names those that are down`() async throws {
    let workspace = try await workspace()
    #expect(
      try await names(Query(), in: workspace)
        == ["survey/wells/Mitte", "survey/wells/Nord", "sights/default/Dom", "sights/default/Dom"])
    let report = QueryReport()
    #expect(try await workspace.count(Query(), report: report) == 4)
    #expect(report.current.failures.map(\.store) == ["gone"])
    await workspace.close()
  }

  @Test func `only the stores that are asked for are opened`() async throws {
    await (try workspace()).close()
    let cache = folder.file("new cache").path
    let workspace = try await Workspace.open(
      [folder.file("survey.scfg").path], only: ["survey", "unknown"], cache: .folder(cache))
    #expect(workspace.members.map(\.id) == ["survey", "sights", "gone"])
    #expect(workspace.members.map { $0.store != nil } == [true, false, false])
    #expect(!FileManager.default.fileExists(atPath: cache))
    let report = QueryReport()
    #expect(try await workspace.count(Query().in(stores: ["survey"]), report: report) == 2)
    #expect(report.current.failures.isEmpty)
    let closed = #expect(throws: FieldpackError.self) { _ = try workspace.store("sights") }
    #expect(closed?.code == .unavailable)
    #expect(closed?.message.contains("opened for other stores only") == true)
    await workspace.close()
  }

  @Test func `merges stores in the order asked`() async throws {
    let workspace = try await workspace()
    let query = Query(where: Column<Double>("depth") < 12).select("name")
      .order(by: [Order("depth", descending: true)]).limit(2)
    #expect(
      try await names(query, in: workspace) == ["survey/wells/Nord", "sights/default/Dom"])
    #expect(
      try await names(query.limit(5, offset: 2), in: workspace) == ["sights/default/Dom"])
    await workspace.close()
  }

  @Test func `gives features of a file ids that hold`() async throws {
    let workspace = try await workspace()
    var keys: [KeyTuple] = []
    let query = Query("sights").in(stores: ["sights"])
    for try await feature in try await workspace.query(query).features {
      keys.append(try #require(feature.key))
    }
    #expect(keys.count == 2)
    #expect("\(keys[0].feature)-2" == "\(keys[1].feature)")
    await workspace.close()
    let again = try await Workspace.open(
      [folder.file("survey.scfg").path], cache: .folder(folder.file("cache").path))
    let second = try #require(try await again.feature(keys[1]))
    #expect(second[Column<String>("name")] == "Dom")
    #expect(second.geometry == .point(x: 13.401, y: 52.519))
    await again.close()
  }

  @Test func `changes a feature by its key tuple`() async throws {
    let workspace = try await workspace()
    let key = KeyTuple(store: "survey", layer: "wells", feature: 12)
    try await workspace.update([FeatureUpdate(key, set: ["name": "Süd", "depth": .null])])
    let changed = try #require(try await workspace.feature(key))
    #expect(changed.attributes == ["name": "Süd", "depth": .null])
    try await workspace.delete(key)
    #expect(try await workspace.feature(key) == nil)
    let created = try await workspace.create(
      Feature(geometry: .point(x: 1, y: 2), attributes: ["name": "Neu"]), in: "wells", of: "survey")
    #expect(created == KeyTuple(store: "survey", layer: "wells", feature: 13))
    await workspace.close()
  }
}
