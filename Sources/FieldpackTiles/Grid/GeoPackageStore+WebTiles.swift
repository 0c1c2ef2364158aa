public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackGeometry
public import FieldpackMedia
import FieldpackProjection
import FieldpackTopology

extension GeoPackageStore {
  /// A tile of the usual grid of web maps out of a pyramid on any grid.
  ///
  ///     let tile = try await store.webTile(.init(zoom: 14, column: 8587, row: 5664), of: "ortho")
  ///
  /// It is made of the zoom level with tiles whose pixels are nearest in size. Where a stored tile has exactly
  /// the area asked for and 256 x 256 pixels, its bytes are given unchanged. Else the tile is a PNG
  /// made of the stored tiles that it touches: each pixel is the mean of what it covers, by area,
  /// and clear where there is no tile. Pyramids of other systems than Web Mercator are warped, each
  /// pixel the nearest one.
  ///
  /// - Parameters:
  ///   - address: zoom, x and y; row 0 is at the top.
  ///   - ffmpeg: decodes JPEG and WebP where a tile has to be made of them.
  /// - Returns: `nil` where the pyramid has nothing there.
  /// - Throws: `.notFound` for an unknown pyramid, `.invalidArgument` for an address that the grid
  ///   does not have, `.unsupported` for gridded coverages, for pyramids without an SRS and for
  ///   tiles that would be made of too many others, `.unavailable` where ffmpeg is needed and not
  ///   installed, `.invalidData` for tiles that cannot be decoded.
  public func webTile(
    _ address: TileAddress, of pyramid: LayerID, ffmpeg: FFmpeg
  ) async throws(FieldpackError) -> Tile? {
    let area = try WebMercator.area(of: address, for: .init(store: id, layer: pyramid))
    let found = try await read {
      (snapshot) throws(FieldpackError) -> (WebTile, WebTile.Source)? in
      var pyramid = try snapshot.tilePyramid(pyramid)
      for matrix in pyramid.matrices
      where try !snapshot.hasTiles(of: pyramid.name, zoom: matrix.zoom) {
        pyramid.matrices.removeAll { $0.zoom == matrix.zoom }
      }
      let tile = WebTile(address: address, area: area, pyramid: pyramid)
      let system = try snapshot.system(toReach: pyramid)
      return try tile.source(in: snapshot, system: system).map { (tile, $0) }
    }
    guard let (tile, source) = found else { return nil }
    do throws(FieldpackError) {
      return try await tile.tile(from: source, ffmpeg)
    } catch { throw error.adding(location: .init(store: id, layer: pyramid)) }
  }

  /// The area that a pyramid has tiles for, in its own SRS.
  ///
  /// - Parameter zoom: the level whose existing tiles are meant; `nil` for the whole area of the
  ///   matrices, which is a rectangle.
  /// - Throws: `.notFound` for an unknown pyramid.
  public func tileCoverage(
    of pyramid: LayerID, zoom: Int? = nil
  ) async throws(FieldpackError) -> Geometry {
    let areas = try await read { (snapshot) throws(FieldpackError) -> [Envelope] in
      let pyramid = try snapshot.tilePyramid(pyramid)
      guard let zoom else { return pyramid.bounds.isEmpty ? [] : [pyramid.bounds] }
      guard let matrix = pyramid.matrix(zoom: zoom) else { return [] }
      return Self.runs(try snapshot.tileAddresses(of: pyramid.name, zoom: zoom)).map { run in
        var area = pyramid.envelope(of: run.first, in: matrix)
        area.formUnion(pyramid.envelope(of: run.last, in: matrix))
        return area
      }
    }
    guard areas.count != 1 else { return Geometry(areas[0]) }
    do throws(TopologyError) {
      return try Geometry.union(of: areas.map { Geometry($0) }) ?? .multiPolygon([], .xy)
    } catch {
      throw FieldpackError(
        .invalidData, "the tiles of '\(pyramid)' make no area: \(error)",
        location: .init(store: id, layer: pyramid), underlying: error)
    }
  }

  /// Neighbours side by side, from the first to the last.
  private static func runs(
    _ addresses: [TileAddress]
  ) -> [(first: TileAddress, last: TileAddress)] {
    var runs: [(first: TileAddress, last: TileAddress)] = []
    for address in addresses {
      if let last = runs.last?.last, last.row == address.row, last.column + 1 == address.column {
        runs[runs.count - 1].last = address
      } else {
        runs.append((address, address))
      }
    }
    return runs
  }
}

extension GeoPackageSnapshot {
  /// The system that positions have to be brought to; `nil` where they are in it already.
  fileprivate func system(toReach pyramid: TilePyramid) throws(FieldpackError) -> SRSReference? {
    guard pyramid.kind == .tiles else {
      throw FieldpackError(
        .unsupported,
        "'\(pyramid.name)' is a gridded coverage, whose tiles are values and no pictures",
        location: .init(layer: pyramid.name))
    }
    guard pyramid.bounds.width > 0, pyramid.bounds.height > 0 else {
      throw FieldpackError(
        .invalidData,
        "nobody can tell where the tiles of '\(pyramid.name)' lie: its bounds are empty",
        location: .init(layer: pyramid.name))
    }
    if WebMercator.contains(pyramid.srs) { return nil }
    guard !pyramid.srs.isUndefined else {
      throw FieldpackError(
        .unsupported,
        "the tiles of '\(pyramid.name)' have no reference system, so nobody can tell where they lie",
        location: .init(layer: pyramid.name))
    }
    return SRSReference(pyramid.srs)
  }
}

extension Geometry {
  /// The rectangle.
  package init(_ area: Envelope) {
    let ring = [
      area.minX, area.minY, area.maxX, area.minY, area.maxX, area.maxY, area.minX, area.maxY,
      area.minX, area.minY,
    ]
    self = .polygon([CoordinateSequence(dimensions: .xy, ordinates: ring)], .xy)
  }
}
