import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackWFS

/// Layers of a service in a GeoPackage.
@Suite struct WFSCopyTests {
  private static func schema(_ name: LayerID) -> Schema {
    Schema(layer: name, columns: [ColumnDefinition("name", .text())])
  }

  private static func features(_ ids: [FeatureID]) -> [Feature] {
    ids.enumerated().map { Feature(id: $1, attributes: ["name": .text("n\($0)")]) }
  }

  /// The ids and names in a copy of layers, each page of which has two features. Ids in the column of
  /// the source are quoted.
  private func copied(_ layers: [(LayerID, [FeatureID])]) async throws -> [LayerID: [String]] {
    let folder = try TemporaryFolder()
    let served = ServedLayers(
      layers.map { Self.schema($0.0) },
      Dictionary(uniqueKeysWithValues: layers.map { ($0.0, Self.features($0.1)) }),
      .init(cap: 2))
    let server = try served.serve()
    let store = try WFSStore(address: server.address, id: "survey")
    let path = folder.file("copy.gpkg").path
    try await store.copy([], to: path)
    let copy = try await GeoPackageStore(path: path, id: "copy")
    var found: [LayerID: [String]] = [:]
    for (layer, _) in layers {
      for feature in try await PeerLayers.features(copy, Query(layer)) {
        let name = feature.attributes["name"]?.plainText ?? ""
        let own = feature.attributes["fieldpack_wfs_id"].map { "'\($0.plainText)'" }
        found[layer, default: []].append("\(own ?? feature.id!.description) \(name)")
      }
    }
    return found
  }

  @Test func `integers are ids, and texts are where one is none`() async throws {
    let found = try await copied([
      ("wells", [7, 3, 12]), ("springs", [1, 2, "b.4", 3]), ("pumps", [5]), ("none", []),
    ])
    #expect(
      found == [
        "wells": ["3 n1", "7 n0", "12 n2"],
        "springs": ["'1' n0", "'2' n1", "'b.4' n2", "'3' n3"],
        "pumps": ["5 n0"],
      ])
  }

  @Test func `ids of two features are texts`() async throws {
    let found = try await copied([("springs", [2]), ("wells", [7, 3, 4, 3])])
    #expect(found == ["springs": ["2 n0"], "wells": ["'7' n0", "'3' n1", "'4' n2", "'3' n3"]])
  }
}
