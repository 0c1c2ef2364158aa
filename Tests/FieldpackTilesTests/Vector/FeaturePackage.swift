import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import FieldpackTiles
import Foundation

/// A GeoPackage of layers with features in a folder of its own.
final class FeaturePackage: Sendable {
  let folder: TemporaryFolder
  let path: String

  init(_ layers: [(schema: Schema, features: [Feature])]) async throws {
    folder = try TemporaryFolder()
    path = folder.file("survey.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, version: .v13, store: "survey").commit()
    try await withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        for (schema, features) in layers {
          try writer.createLayer(schema)
          for feature in features { _ = try writer.create(feature, in: schema.layer) }
        }
      }
    }
  }

  convenience init(
    _ layer: LayerID, _ type: GeometryType, _ geometries: [Geometry], srs: SRS = .wgs84
  ) async throws {
    let schema = Schema(layer: layer, geometry: GeometryColumn(type: type, srs: srs))
    try await self.init([(schema, geometries.map { Feature(geometry: $0) })])
  }

  func withStore<R: Sendable>(
    _ body: @Sendable (GeoPackageStore) async throws -> R
  ) async throws -> R {
    try await Self.withStore(path, body)
  }

  static func withStore<R: Sendable>(
    _ path: String, _ body: @Sendable (GeoPackageStore) async throws -> R
  ) async throws -> R {
    try await GeoPackageStore.opened(path, id: "survey", body)
  }

  func tile(
    _ layer: LayerID, _ address: TileAddress, _ options: VectorTileOptions = .init()
  ) async throws -> VectorTile {
    try await withStore { store in
      try await store.vectorTile(of: layer, at: address, options: options)
    }
  }
}
