public import FieldpackCore
public import FieldpackGeometry
import FieldpackProjection

extension GeoPackageStore {
  /// Transforms geometries from `srs` to the SRS of a layer, found by its code or the file's own
  /// definition.
  ///
  /// A layer without a defined SRS takes the geometries as they are.
  /// - Throws: `.notFound` for an unknown layer, `.invalidData` for positions that cannot be
  ///   transformed.
  public func transformed(
    _ geometries: [Geometry], from srs: SRS, to layer: LayerID
  ) async throws(FieldpackError) -> [Geometry] {
    try await transformed(geometries, layer) { (file, table, catalogue) throws(FieldpackError) in
      if table.schema.geometry?.srs == srs { return nil }
      return try file.transformation(from: srs, to: table, in: catalogue)
    }
  }

  /// Transforms geometries from the SRS of a layer to `srs`; see ``transformed(_:from:to:)``.
  public func transformed(
    _ geometries: [Geometry], of layer: LayerID, to srs: SRS
  ) async throws(FieldpackError) -> [Geometry] {
    try await transformed(geometries, layer) { (file, table, catalogue) throws(FieldpackError) in
      try file.transformation(from: table, to: srs, in: catalogue)
    }
  }

  private func transformed(
    _ geometries: [Geometry], _ layer: LayerID,
    by find:
      @Sendable (GeoPackageSession, LayerTable, Catalogue) throws(FieldpackError)
      -> CoordinateTransformation?
  ) async throws(FieldpackError) -> [Geometry] {
    guard !geometries.isEmpty else { return [] }
    return try await read { (snapshot) throws(FieldpackError) in
      let file = snapshot.file
      let catalogue = try file.catalogue()
      guard let table = catalogue.layer(layer) else {
        throw file.missingLayer(layer, in: catalogue)
      }
      guard let srs = table.schema.geometry?.srs, !srs.isUndefined,
        let transformation = try find(file, table, catalogue)
      else { return geometries }
      do throws(ProjectionError) {
        var moved: [Geometry] = []
        for geometry in geometries { moved.append(try transformation.transform(geometry)) }
        return moved
      } catch {
        throw FieldpackError(error, location: .init(store: file.store, layer: table.layer.id))
      }
    }
  }
}
