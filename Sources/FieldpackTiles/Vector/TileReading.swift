package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

/// One state of what tiles are made of.
protocol TileReading: SnapshotReading {
  func schema(of layer: LayerID) throws(FieldpackError) -> Schema?
  /// The error for a layer that is not there.
  func missing(_ layer: LayerID) -> FieldpackError
  /// Transforms positions of a layer to `srs`; `nil` where they are in it already.
  func transformation(
    from layer: LayerID, to srs: SRS
  ) throws(FieldpackError) -> CoordinateTransformation?
  /// Transforms positions in `srs` to the SRS of a layer.
  func transformation(
    from srs: SRS, to layer: LayerID
  ) throws(FieldpackError) -> CoordinateTransformation
  /// How many features an index has in a box; `nil` where none tells.
  func indexedCount(
    of layer: LayerID, touching box: Envelope
  ) throws(FieldpackError) -> Int?
  /// Gives the bounds of each feature that may touch a box; false where no index tells them.
  func visitIndex(
    of layer: LayerID, touching box: Envelope, _ body: (Int64, SIMD4<Float>) -> Void
  ) throws(FieldpackError) -> Bool
  /// How many features the queries have passed over.
  var skippedCount: Int { get }
}

extension GeoPackageSnapshot: TileReading {}

extension VectorTile {
  /// A tile of a layer of any store, in one of its states; see
  /// ``FieldpackGeoPackage/GeoPackageStore/vectorTile(of:at:options:)``.
  package static func make(
    of schema: Schema, at address: TileAddress, _ options: VectorTileOptions,
    in snapshot: any SnapshotReading
  ) throws(FieldpackError) -> VectorTile {
    let reading = StoreTileReading(snapshot: snapshot, schema: schema)
    return try VectorTileMaker(schema.layer, address, options, in: reading).tile()
  }
}

/// One layer of any store. The store has an index of its own, which only queries use.
private struct StoreTileReading: TileReading {
  let snapshot: any SnapshotReading
  let schema: Schema

  func layers() throws(FieldpackError) -> [Layer] { try snapshot.layers() }

  func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    try snapshot.scan(query, into: &sink)
  }

  func count(_ query: Query) throws(FieldpackError) -> Int { try snapshot.count(query) }

  func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature? {
    try snapshot.feature(id, in: layer)
  }

  func schema(of layer: LayerID) -> Schema? { layer == schema.layer ? schema : nil }

  func missing(_ layer: LayerID) -> FieldpackError {
    FieldpackError(.notFound, "there is no layer '\(layer)'", location: .init(layer: layer))
  }

  func transformation(
    from layer: LayerID, to srs: SRS
  ) throws(FieldpackError) -> CoordinateTransformation? {
    guard let own = schema.geometry?.srs, own != srs else { return nil }
    return try transformation(from: own, to: srs)
  }

  func transformation(
    from srs: SRS, to layer: LayerID
  ) throws(FieldpackError) -> CoordinateTransformation {
    try transformation(from: srs, to: schema.geometry?.srs ?? .undefinedCartesian)
  }

  private func transformation(
    from source: SRS, to target: SRS
  ) throws(FieldpackError) -> CoordinateTransformation {
    do throws(ProjectionError) {
      return try CoordinateTransformation(from: source, to: target)
    } catch { throw FieldpackError(error, location: .init(layer: schema.layer)) }
  }

  func indexedCount(
    of layer: LayerID, touching box: Envelope
  ) throws(FieldpackError) -> Int? {
    try snapshot.count(Query(layer, where: .envelope(.intersects, box)))
  }

  func visitIndex(
    of layer: LayerID, touching box: Envelope, _ body: (Int64, SIMD4<Float>) -> Void
  ) -> Bool { false }

  var skippedCount: Int { 0 }
}
