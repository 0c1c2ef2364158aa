package import FieldpackCore
package import FieldpackGeoPackage
package import FieldpackGeometry
import FieldpackProjection
import FieldpackTiles

/// A pyramid of pictures as a collection.
package struct ServedPyramid: Sendable {
  package let pyramid: TilePyramid
  /// Where the pictures lie, in longitude and latitude, as of ``ServedLayer/extent``.
  package let extent: [Envelope]
  /// The system of the tiles; `nil` for a system that has no name outside of its file.
  package let crs: CRSName?
  /// Whether latitude or northing comes first in that system.
  let isNorthFirst: Bool
  /// The area that ``extent`` is of, in the system of the tiles.
  private let covered: Envelope
  /// The number of metres in a unit of the system; of a degree on the equator.
  let unit: Double

  /// - Returns: `nil` for grids of values, which are no pictures, and for a pyramid without matrices or
  ///   bounds.
  package init?(_ pyramid: TilePyramid) {
    guard pyramid.kind == .tiles, !pyramid.matrices.isEmpty, pyramid.bounds.width > 0,
      pyramid.bounds.height > 0
    else { return nil }
    self.pyramid = pyramid
    let definition = try? SRSCatalogue().definition(of: pyramid.srs)
    crs = definition == nil ? nil : CRSName(storage: pyramid.srs)
    isNorthFirst = crs != .crs84 && definition?.isNorthFirst == true
    let radius = 6_378_137.0
    unit = (definition?.unitFactor ?? 1) * (definition?.isGeographic == true ? radius : 1)
    // A file may say that a single position has content.
    let box =
      pyramid.envelope.flatMap { $0.isEmpty || $0.width <= 0 ? nil : $0 } ?? pyramid.bounds
    covered = box
    if crs != nil,
      let transformation = try? CoordinateTransformation(from: pyramid.srs, to: .wgs84)
    {
      extent = (try? transformation.transform(box)) ?? []
    } else {
      extent = []
    }
  }

  package var id: LayerID { pyramid.name }
  package var title: String { pyramid.title ?? id.rawValue }
  package var collectionID: String { CollectionName.id(of: id) }

  /// The id of the grid that the tiles are stored on.
  package var setID: String { Self.setID(of: id) }

  /// The zoom levels of web maps whose pixels are about as large as those of the pyramid; `nil` where it
  /// has no tiles on that grid.
  var webZooms: ClosedRange<Int>? {
    guard crs != nil, let box = extent.box else { return nil }
    let degrees = box[0] <= box[2] ? box[2] - box[0] : box[2] - box[0] + 360
    func zoom(_ matrix: TileMatrix) -> Int {
      // Pixels that are a little smaller than those of a level need no further level.
      let pixel = 1.1 * degrees / covered.width * matrix.pixelWidth
      let side = Double(WebMercator.tileSize)
      return TileDocuments.zooms.first { 360 / (side * Double(1 << $0)) <= pixel }
        ?? TileDocuments.zooms.upperBound
    }
    let zooms = pyramid.matrices.map(zoom)
    guard let least = zooms.min(), let most = zooms.max() else { return nil }
    return least...most
  }

  static func setID(of pyramid: LayerID) -> String {
    let id = CollectionName.id(of: pyramid)
    return id == TileDocuments.setID ? "~" + id : id
  }

  /// The grids that the pyramid has tiles on: the grid of web maps, where its system is known, and its
  /// own.
  package var setIDs: [String] { crs == nil ? [setID] : [TileDocuments.setID, setID] }
}
