import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// Makes one vector tile of one layer.
struct VectorTileMaker {
  let snapshot: any TileReading
  let schema: Schema
  let options: VectorTileOptions
  let plane: TilePlane
  /// What the tile shows, in the SRS of the layer.
  let boxes: [Envelope]
  /// The columns that become properties.
  let columns: [String]
  /// Whether the tile only tells where points are, which the R-tree tells well enough: it rounds their
  /// positions by less than a step of the grid.
  let isOfPointsAlone: Bool

  /// The last zoom at which floats are good enough for positions.
  private static let lastZoomOfFloats = 12
  /// The most ids that a query looks up one by one.
  private static let mostIDs = 30_000

  init(
    _ layer: LayerID, _ address: TileAddress, _ options: VectorTileOptions,
    in snapshot: any TileReading
  ) throws(FieldpackError) {
    let area = try WebMercator.area(of: address, for: .init(layer: layer))
    guard let schema = try snapshot.schema(of: layer) else { throw snapshot.missing(layer) }
    let location = KeyTuple.Partial(layer: schema.layer)
    guard let geometry = schema.geometry else {
      throw FieldpackError(
        .invalidArgument, "layer '\(schema.layer)' has no geometry for tiles", location: location)
    }
    guard !geometry.srs.isUndefined else {
      throw FieldpackError(
        .unsupported,
        "layer '\(schema.layer)' has no reference system, so nobody can tell where its features lie",
        location: location)
    }
    self.snapshot = snapshot
    self.schema = schema
    self.options = options
    plane = try TilePlane(area, options, of: schema.layer, geometry.srs, in: snapshot)
    boxes = try plane.boxes(of: schema.layer, in: snapshot)
    columns = options.properties ?? schema.columns.filter { !$0.type.isBlob }.map(\.name)
    isOfPointsAlone =
      columns.isEmpty && geometry.type == .point && address.zoom <= Self.lastZoomOfFloats
  }

  func tile() throws(FieldpackError) -> VectorTile {
    guard !boxes.isEmpty else { return tile(of: writer(), skipped: 0) }
    // Counting in the R-tree takes a fraction of the time of looking at each feature.
    if let budget = options.budget, !isOfPointsAlone, try indexedCount() ?? .max <= budget {
      return try rows()
    }
    let needsCandidates = isOfPointsAlone || options.budget != nil
    let indexed = needsCandidates ? try indexedCandidates() : nil
    guard let budget = options.budget else {
      if let indexed, isOfPointsAlone { return points(indexed, nil) }
      return try rows()
    }
    let candidates = if let indexed { indexed } else { try scannedCandidates() }
    guard candidates.count > budget else {
      return isOfPointsAlone && indexed != nil ? points(candidates, nil) : try rows()
    }
    let chosen = TileThinning.chosen(candidates, budget: budget, extent: options.extent)
    if isOfPointsAlone, indexed != nil { return points(candidates, chosen) }
    return try rows(
      chosen.map { candidates.ids[$0] }, of: candidates.count, areIDs: indexed != nil)
  }

  /// As ``tile()``; `nil` where it may have more features than `most`.
  func tile(ofAtMost most: Int) throws(FieldpackError) -> VectorTile? {
    guard let count = try indexedCount(), count <= most else { return nil }
    return try tile()
  }

  /// How many features the R-tree has in the tile; `nil` where it cannot tell.
  private func indexedCount() throws(FieldpackError) -> Int? {
    var count = 0
    for box in boxes {
      guard let found = try snapshot.indexedCount(of: schema.layer, touching: box) else {
        return nil
      }
      count += found
    }
    return count
  }

  private func writer() -> TileLayerWriter {
    TileLayerWriter(name: schema.layer.rawValue, extent: options.extent)
  }

  /// The finished tile.
  ///
  /// - Parameter total: how many features there are; `nil` where none was left out for a budget.
  private func tile(
    of writer: TileLayerWriter, total: Int? = nil, skipped: Int
  ) -> VectorTile {
    var bytes: [UInt8] = []
    writer.write(to: &bytes)
    if let total {
      let note = TileLayerWriter(name: "\(schema.layer):thinned", extent: options.extent)
      note.begin(.integer(-1))
      note.add(note.addKey("shown"), integer: Int64(writer.count))
      note.add(note.addKey("of"), integer: Int64(total))
      let middle = Int32(options.extent / 2)
      note.geometry { $0.point(SIMD2(middle, middle)) }
      note.end(.points)
      note.write(to: &bytes)
    }
    return VectorTile(
      bytes: bytes, featureCount: writer.count, thinnedFrom: total, skippedCount: skipped)
  }

  // MARK: Candidates

  /// The features that the R-tree has in the tile; `nil` where it cannot tell.
  private func indexedCandidates() throws(FieldpackError) -> TileCandidates? {
    var candidates = TileCandidates()
    var seen: Set<Int64> = []
    for box in boxes {
      let isSure = try snapshot.visitIndex(of: schema.layer, touching: box) { id, bounds in
        // A feature may touch both boxes of a tile at the antimeridian.
        guard boxes.count == 1 || seen.insert(id).inserted else { return }
        candidates.add(id, bounds)
      }
      guard isSure else { return nil }
    }
    place(&candidates)
    return candidates
  }

  private func scannedCandidates() throws(FieldpackError) -> TileCandidates {
    var sink = TileCandidateSink()
    try snapshot.scan(query([]).skippingErrors(), into: &sink)
    var candidates = sink.candidates
    place(&candidates)
    return candidates
  }

  private func place(_ candidates: inout TileCandidates) {
    plane.placeEach(&candidates.middles)
    // Only of points the middle tells whether they are in the tile.
    if schema.geometry?.type == .point { candidates.keep(in: plane.box) }
  }

  /// A tile of points without properties, of all candidates or those with the indices.
  private func points(_ candidates: TileCandidates, _ chosen: [Int]?) -> VectorTile {
    let writer = writer()
    func write(_ index: Int) {
      writer.begin(.integer(candidates.ids[index]))
      let place = TileSimplifier.rounded(candidates.middles[index])
      writer.geometry { $0.point(place) }
      writer.end(.points)
    }
    if let chosen { chosen.forEach(write) } else { candidates.ids.indices.forEach(write) }
    return tile(of: writer, total: chosen == nil ? nil : candidates.count, skipped: 0)
  }

  // MARK: Rows

  private func query(_ columns: [String]) -> Query {
    let tests = boxes.map { Filter.envelope(.intersects, $0) }
    return Query(schema.layer, where: tests.count == 1 ? tests[0] : .or(tests)).select(columns)
  }

  private func rows() throws(FieldpackError) -> VectorTile {
    try rows(query(columns), chosen: nil, total: nil)
  }

  /// A tile of chosen features.
  ///
  /// - Parameter areIDs: whether the numbers are ids, which can be looked up.
  private func rows(
    _ chosen: [Int64], of total: Int, areIDs: Bool
  ) throws(FieldpackError) -> VectorTile {
    guard !chosen.isEmpty else { return tile(of: writer(), total: total, skipped: 0) }
    if areIDs, let id = schema.idColumn, chosen.count <= Self.mostIDs {
      let query = query(columns).where(Column<Int64>(id).isIn(chosen))
      return try rows(query, chosen: nil, total: total)
    }
    return try rows(query(columns), chosen: Set(chosen), total: total)
  }

  /// Reads the rows of a query; where one of them cannot be read, once more without those.
  private func rows(
    _ query: Query, chosen: Set<Int64>?, total: Int?
  ) throws(FieldpackError) -> VectorTile {
    var sink = TileRowSink(writer(), on: plane, chosen: chosen)
    do throws(FieldpackError) {
      try snapshot.scan(query, into: &sink)
      return tile(of: sink.writer, total: total, skipped: sink.skipped)
    } catch {
      guard error.code == .invalidData else { throw error }
    }
    let before = snapshot.skippedCount
    sink = TileRowSink(writer(), on: plane, chosen: chosen)
    try snapshot.scan(query.skippingErrors(), into: &sink)
    let skipped = sink.skipped + snapshot.skippedCount - before
    return tile(of: sink.writer, total: total, skipped: skipped)
  }
}

extension ColumnType {
  fileprivate var isBlob: Bool { if case .blob = self { true } else { false } }
}
