import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTiles

/// A store that gives tiles on the grid of web maps and has no features: queries answer nothing.
protocol TileSource: RasterStore {
  /// The one layer, named like the store.
  var pyramid: TilePyramid { get }
  func checkOpen() throws(FieldpackError)
}

extension TileSource {
  /// Whether the layer has the zoom level of the address.
  func has(_ address: TileAddress, in layer: LayerID) throws(FieldpackError) -> Bool {
    try check(layer)
    try WebMercator.area(of: address, for: .init(store: id, layer: pyramid.name))
    return pyramid.matrix(zoom: address.zoom) != nil
  }

  private func check(_ layer: LayerID) throws(FieldpackError) {
    try checkOpen()
    guard layer.rawValue.lowercased() == pyramid.name.rawValue.lowercased() else {
      throw FieldpackError(
        .notFound, "store '\(id)' has no tiles '\(layer)' (it has: \(pyramid.name))",
        location: .init(store: id, layer: layer))
    }
  }

  func tilePyramids() async throws(FieldpackError) -> [TilePyramid] {
    try checkOpen()
    return [pyramid]
  }

  func tileCoverage(of layer: LayerID, zoom: Int?) async throws(FieldpackError) -> Geometry {
    try check(layer)
    if let zoom, pyramid.matrix(zoom: zoom) == nil { return .multiPolygon([], .xy) }
    return Geometry(pyramid.bounds)
  }

  // MARK: No features

  /// - Throws: `.notFound` where the query names a layer.
  func check(_ query: Query) throws(FieldpackError) {
    try checkOpen()
    if let layer = query.layers.first { throw missing(layer) }
  }

  func missing(_ layer: LayerID) -> FieldpackError {
    FieldpackError(
      .notFound, "layer '\(layer)' is not in store '\(id)' (it has none)",
      location: .init(store: id, layer: layer))
  }

  func layers() async throws(FieldpackError) -> [Layer] {
    try checkOpen()
    return []
  }

  func schemas() async throws(FieldpackError) -> [Schema] {
    try checkOpen()
    return []
  }

  func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try check(query)
    return FeatureBatches { { () async throws(FieldpackError) in nil } }
  }

  func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    try check(query)
    return sink
  }

  func count(_ query: Query) async throws(FieldpackError) -> Int {
    try check(query)
    return 0
  }

  func feature(_ id: FeatureID, in layer: LayerID) async throws(FieldpackError) -> Feature? {
    try checkOpen()
    throw missing(layer)
  }

  func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try checkOpen()
    return try body(StoreSnapshot(NoFeatures(source: self)))
  }

  func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try check(query)
    return []
  }
}

/// The snapshot of a store that has no features.
private struct NoFeatures<Source: TileSource>: SnapshotReading {
  let source: Source

  func layers() -> [Layer] { [] }

  func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    try source.check(query)
  }

  func count(_ query: Query) throws(FieldpackError) -> Int {
    try source.check(query)
    return 0
  }

  func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature? {
    throw source.missing(layer)
  }
}
