import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

/// The configs in `Configs`, and the two of SpatialConnect's introduction in our own words.
@Suite struct ConfigsTests {

  /// A copy of the checkout as far as the configs need it, with what the demo makes.
  private func copy() async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let files = FileManager.default
    for name in ["TestData", "demo"] {
      try files.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
    }
    for name in ["Configs", "TestData/demo"] {
      try files.copyItem(at: Checkout.file(name), to: folder.file(name))
    }
    for name in ["field", "motion", "persons"] {
      _ = try await FileImport().run(
        [folder.file("TestData/demo/wells.geojson").path],
        into: folder.file("demo/\(name).gpkg").path)
    }
    return folder
  }

  /// `id: state` for each store; the paths of the copy are left out.
  private func states(_ workspace: Workspace, in folder: TemporaryFolder) -> [String] {
    workspace.members.map { member in
      guard let error = member.state.error else { return "\(member.id): \(member.state)" }
      let real = folder.url.resolvingSymlinksInPath().path
      return "\(member.id): \(error.code), \(error.message)"
        .replacingOccurrences(of: real, with: "")
    }
  }

  static let stores: [(String, [String])] = [
    (
      "early.scfg",
      ["field: open", "cb7d237bb7ff0d26: open"]
    ),
    ("motion.scfg", ["motion: open", "zones: open"]),
    ("sensors.scfg", ["persons: open"]),
    (
      "survey.scfg",
      ["field: open", "zones: open", "samples: open", "walk: open"]
    ),
    // The database of the store `field` is not here.
    ("team-postgis.scfg", ["zones: open", "samples: open", "walk: open"]),
    (
      "team.scfg",
      [
        "5b1c53a8-0d3f-4a9e-9c1b-6f3d6f1f5a01: open",
        "field: unavailable, not downloaded yet (http://localhost:8085/field.gpkg)",
        "parcels: open",
      ]
    ),
  ]

  @Test func `each config has a row in the table`() throws {
    let folder = Checkout.file("Configs")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.sorted() == Self.stores.map(\.0))
  }

  @Test(arguments: stores) func `each config opens`(file: String, states: [String]) async throws {
    let folder = try await copy()
    let workspace = try await Workspace.open(
      [folder.file("Configs/" + file).path], allowing: [folder.url.path],
      cache: .folder(folder.file("cache").path))
    let opened = self.states(workspace, in: folder)
    if file == "team-postgis.scfg" {
      #expect(Array(opened.dropFirst()) == states)
    } else {
      #expect(opened == states)
      #expect(workspace.diagnostics.filter { $0.severity != .note } == [])
    }
    await workspace.close()
  }

  @Test func `a config opens where its data cannot be reached`() async throws {
    let folder = try await copy()
    let workspace = try await Workspace.open(
      [folder.file("Configs/early.scfg").path], cache: .folder(folder.file("cache").path))
    let hint = "leaves the folder of its config"
    #expect(
      states(workspace, in: folder) == [
        "field: permission, '../demo/field.gpkg' \(hint)",
        "cb7d237bb7ff0d26: permission, '../TestData/demo/wells.geojson' \(hint)",
      ])
    for member in workspace.members {
      guard case .failed(let error) = member.state else { continue }
      #expect(error.advice == .allowFolder)
    }
    await workspace.close()
  }

  @Test func `a folder of configs opens, the last loaded store of an id counting`() async throws {
    let folder = try await copy()
    let workspace = try await Workspace.open(
      [folder.file("Configs").path], allowing: [folder.url.path],
      cache: .folder(folder.file("cache").path))
    #expect(
      workspace.members.map(\.id) == [
        "cb7d237bb7ff0d26", "motion", "persons", "zones", "samples", "walk",
        "5b1c53a8-0d3f-4a9e-9c1b-6f3d6f1f5a01", "field", "parcels",
      ])
    #expect(
      workspace.diagnostics.filter { $0.severity == .warning }.map(\.message).map {
        $0.prefix { $0 != "/" }
      } == [
        "store 'field' replaces the one of the same id at ",
        "store 'zones' replaces the one of the same id at ",
        "store 'field' replaces the one of the same id at ",
        "store 'zones' replaces the one of the same id at ",
        "store 'samples' replaces the one of the same id at ",
        "store 'walk' replaces the one of the same id at ",
        "store 'field' replaces the one of the same id at ",
      ])
    await workspace.close()
  }

  /// A backend with stores on this device and elsewhere, as SpatialConnect's introduction has it.
  static let introduction: [(String, [String])] = [
    (
      """
      {"remote": {"http_protocol": "http", "http_host": "localhost", "http_port": 8085,
        "mqtt_protocol": "tcp", "mqtt_host": "localhost", "mqtt_port": 1883}}
      """, []
    ),
    (
      """
      {"stores": [
        {"store_type": "geojson", "version": "1", "uri": "wells.geojson", "id": "a5d93796",
         "name": "Wells", "isMainBundle": true},
        {"store_type": "gpkg", "version": "1", "uri": "https://example.org/roads.gpkg",
         "id": "ba293796", "name": "Roads"},
        {"store_type": "wfs", "version": "1.1.0", "uri": "https://example.org/wfs", "id": "71522e9b",
         "name": "Parcels", "default_layers": ["parcels"]}]}
      """,
      [
        "a5d93796: open",
        "ba293796: unavailable, not downloaded yet (https://example.org/roads.gpkg)",
        "71522e9b: open",
      ]
    ),
  ]

  @Test(arguments: introduction)
  func `configs like those of SpatialConnect's introduction open`(
    text: String, states: [String]
  ) async throws {
    let folder = try await copy()
    let config = try folder.write(text, to: "TestData/demo/app.scfg")
    let workspace = try await Workspace.open(
      [config.path], cache: .folder(folder.file("cache").path))
    #expect(self.states(workspace, in: folder) == states)
    await workspace.close()
  }
}
