import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMedia
import FieldpackProjection

/// The pixels of a web map's tile, each with its place in a pyramid of another system.
struct TileWarp {
  private static let size = WebMercator.tileSize
  /// The middles of the pixels in the pyramid's system; infinite where there is none.
  private var x: [Double] = []
  private var y: [Double] = []

  init(_ area: Envelope, by transformation: CoordinateTransformation) {
    let step = area.width / Double(Self.size)
    for row in 0..<Self.size {
      for column in 0..<Self.size {
        x.append(area.minX + (Double(column) + 0.5) * step)
        y.append(area.maxY - (Double(row) + 0.5) * step)
      }
    }
    _ = transformation.transform(x: &x, y: &y)
  }

  /// How large a pixel in the middle is in units of the pyramid's system; `nil` where that cannot be
  /// told.
  var pixelSize: Double? {
    let middle = Self.size / 2 * Self.size + Self.size / 2
    let (right, down) = (middle + 1, middle + Self.size)
    let area =
      (x[right] - x[middle]) * (y[down] - y[middle])
      - (x[down] - x[middle]) * (y[right] - y[middle])
    let size = abs(area).squareRoot()
    return size.isFinite && size > 0 ? size : nil
  }

  /// The pixels by the tile of the matrix that they lie in.
  func pixels(
    of pyramid: TilePyramid, in matrix: TileMatrix
  ) -> [TileAddress: [Int]] {
    let (width, height) = pyramid.span(of: matrix)
    var found: [TileAddress: [Int]] = [:]
    for index in x.indices where x[index].isFinite && y[index].isFinite {
      let column = ((x[index] - pyramid.bounds.minX) / width).rounded(.down)
      let row = ((pyramid.bounds.maxY - y[index]) / height).rounded(.down)
      guard column >= 0, column < Double(matrix.width), row >= 0, row < Double(matrix.height)
      else { continue }
      let address = TileAddress(zoom: matrix.zoom, column: Int(column), row: Int(row))
      found[address, default: []].append(index)
    }
    return found
  }

  /// Takes the pixels that lie in a tile from the tile, each the nearest one.
  func copy(
    _ pixels: [Int], from picture: Bitmap, of place: Envelope, into bitmap: inout Bitmap
  ) {
    guard picture.size.width > 0, picture.size.height > 0 else { return }
    func cell(_ share: Double, _ count: Int) -> Int? {
      share.isFinite ? Int(min(Double(count - 1), max(0, share * Double(count)))) : nil
    }
    for pixel in pixels {
      guard let column = cell((x[pixel] - place.minX) / place.width, picture.size.width),
        let row = cell((place.maxY - y[pixel]) / place.height, picture.size.height)
      else { continue }
      let source = 4 * (row * picture.size.width + column)
      bitmap.bytes.replaceSubrange(
        4 * pixel..<4 * pixel + 4, with: picture.bytes[source..<source + 4])
    }
  }
}
