import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTiles

/// A store that gives tiles on the grid of web maps and has no features: queries answer nothing.
final class TileStore: RasterStore {
  let id: StoreID
  /// The one layer, named like the store.
  private let pyramid: TilePyramid
  private let tile: @Sendable (TileAddress) async throws(FieldpackError) -> Tile?
  private let end: @Sendable () async -> Void
  private let isClosed = Locked(false)

  /// - Parameters:
  ///   - end: called when the store is closed.
  ///   - tile: makes or gets a tile of the pyramid's zoom levels; `nil` where there is none.
  init(
    id: StoreID, pyramid: TilePyramid, end: @escaping @Sendable () async -> Void = {},
    tile: @escaping @Sendable (TileAddress) async throws(FieldpackError) -> Tile?
  ) {
    self.id = id
    self.pyramid = pyramid
    self.end = end
    self.tile = tile
  }

  func close() async {
    isClosed.withLock { $0 = true }
    await end()
  }

  private func checkOpen() throws(FieldpackError) {
    guard isClosed.withLock({ $0 }) else { return }
    throw FieldpackError(.unavailable, "store '\(id)' is closed", location: .init(store: id))
  }

  // MARK: Tiles

  func webTile(
    _ address: TileAddress, of layer: LayerID
  ) async throws(FieldpackError) -> Tile? {
    try check(layer)
    try WebMercator.area(of: address, for: .init(store: id, layer: pyramid.name))
    return pyramid.matrix(zoom: address.zoom) == nil ? nil : try await tile(address)
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
  fileprivate func check(_ query: Query) throws(FieldpackError) {
    try checkOpen()
    if let layer = query.layers.first { throw missing(layer) }
  }

  fileprivate func missing(_ layer: LayerID) -> FieldpackError {
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
    return try body(StoreSnapshot(NoFeatures(store: self)))
  }

  func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try check(query)
    return []
  }
}

/// The snapshot of a store that has no features.
private struct NoFeatures: SnapshotReading {
  let store: TileStore

  func layers() -> [Layer] { [] }

  func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    try store.check(query)
  }

  func count(_ query: Query) throws(FieldpackError) -> Int {
    try store.check(query)
    return 0
  }

  func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature? {
    throw store.missing(layer)
  }
}
