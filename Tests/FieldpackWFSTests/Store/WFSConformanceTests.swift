import FieldpackCore
import FieldpackGeometry
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

@testable import FieldpackWFS

/// What every store must do, done by a service.
@Suite struct WFSConformanceTests {
  static let ways: [ServedLayers.Options] = [
    .init(), .init(version: .wfs11, pages: false), .init(offersJSON: true),
    .init(offersJSON: true, refusesJSON: true, refusesFilters: true),
    .init(cap: 2, hidesMatched: true),
  ]

  @Test(arguments: StoreConformance.reading, ways.indices)
  func `reads as a store`(behaviour: StoreConformance, way: Int) async throws {
    let layers = StoreConformance.layers
    let features = layers.map { ($0.layer, StoreConformance.features(of: $0.layer)) }
    let options = Self.ways[way]
    let served = ServedLayers(layers, Dictionary(uniqueKeysWithValues: features), options)
    let server = try served.serve()
    try await behaviour.check(
      WFSStore(address: server.address + "/wfs", id: "survey", version: options.version))
    // The server has to be there until here.
    #expect(server.left == 0)
  }
}
