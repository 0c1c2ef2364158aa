package import FieldpackCore
package import FieldpackGeoPackage
package import FieldpackGeometry
import FieldpackProjection

/// A pyramid of pictures as a collection.
package struct ServedPyramid: Sendable {
  package let pyramid: TilePyramid
  /// Where the pictures lie, in longitude and latitude, as of ``ServedLayer/extent``.
  package let extent: [Envelope]
  /// The system of the tiles; `nil` for a system that has no name outside of its file.
  package let crs: CRSName?
  /// Whether latitude or northing comes first in that system.
  let isNorthFirst: Bool
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
    let box = pyramid.envelope.flatMap { $0.isEmpty ? nil : $0 } ?? pyramid.bounds
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

  static func setID(of pyramid: LayerID) -> String {
    let id = CollectionName.id(of: pyramid)
    return id == TileDocuments.setID ? "~" + id : id
  }

  /// The grids that the pyramid has tiles on: the grid of web maps, where its system is known, and its
  /// own.
  package var setIDs: [String] { crs == nil ? [setID] : [TileDocuments.setID, setID] }
}
