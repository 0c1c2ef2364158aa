package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackGeometry

/// A file or folder of tiles of web maps, as their addresses begin: row 0 is at the top.
package protocol TileArchive {
  /// What people call it; `nil` where it does not tell.
  var title: String? { get }
  var description: String? { get }
  var count: Int { get }
  /// Where the tiles of each zoom level lie, by zoom.
  var extents: [Int: TileExtent] { get }
  /// What was passed over, for the user.
  var notes: [Note] { get }
  /// Lends each tile once.
  func readAll(
    _ body: (TileAddress, RawSpan) throws(FieldpackError) -> Void
  ) throws(FieldpackError)
  /// Stops the work from another thread.
  var interrupt: (@Sendable () -> Void)? { get }
}

extension TileArchive {
  /// The pyramid that takes the tiles.
  ///
  /// - Throws: `.invalidData` where there are none.
  package func pyramid(_ name: LayerID, of path: String) throws(FieldpackError) -> TilePyramid {
    guard let low = extents.keys.min(), let high = extents.keys.max(), let finest = extents[high]
    else {
      throw FieldpackError(
        .invalidData, "\(path) has no tiles", position: FilePosition(file: path))
    }
    var pyramid = TilePyramid.webMercator(name, zooms: low...high)
    pyramid.title = title
    pyramid.description = description
    pyramid.envelope = finest.area(zoom: high)
    return pyramid
  }
}

/// Where the tiles of one zoom level lie.
package struct TileExtent: Hashable, Sendable {
  package var columns: ClosedRange<Int>
  /// From the top.
  package var rows: ClosedRange<Int>

  package init(_ address: TileAddress) {
    columns = address.column...address.column
    rows = address.row...address.row
  }

  init(columns: ClosedRange<Int>, rows: ClosedRange<Int>) {
    self.columns = columns
    self.rows = rows
  }

  package mutating func extend(_ address: TileAddress) {
    columns =
      min(columns.lowerBound, address.column)...max(columns.upperBound, address.column)
    rows = min(rows.lowerBound, address.row)...max(rows.upperBound, address.row)
  }

  /// In metres of Web Mercator.
  func area(zoom: Int) -> Envelope? {
    guard
      var area = WebMercator.envelope(
        of: TileAddress(zoom: zoom, column: columns.lowerBound, row: rows.lowerBound)),
      let last = WebMercator.envelope(
        of: TileAddress(zoom: zoom, column: columns.upperBound, row: rows.upperBound))
    else { return nil }
    area.formUnion(last)
    return area
  }
}

extension TileAddress {
  /// Whether the grid of web maps has the address.
  var isOfWebMaps: Bool { WebMercator.envelope(of: self) != nil }
}
