import FieldpackGeoPackage
import FieldpackGeometry

// Foundation would bring all of its data into a tool that holds Swift's own libraries.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension TilePyramid {
  /// The zoom level whose pixels are nearest in size, as a ratio; the finer one of two.
  ///
  /// - Parameter pixelSize: in units of the pyramid's SRS.
  func matrix(matching pixelSize: Double) -> TileMatrix? {
    func distance(_ matrix: TileMatrix) -> Double {
      let size = (matrix.pixelWidth * matrix.pixelHeight).squareRoot()
      return abs(log2(size / pixelSize))
    }
    // Sizes that differ by rounding alone count as the same.
    return matrices.reduce(nil) { best, matrix in
      guard let best else { return matrix }
      return distance(matrix) <= distance(best) + 1e-9 ? matrix : best
    }
  }

  /// The width and height of a tile.
  ///
  /// Some programs store rounded pixel sizes, and the error grows with each column. The bounds tell
  /// it more exactly, where they agree with the pixel sizes at all.
  func span(of matrix: TileMatrix) -> (width: Double, height: Double) {
    func chosen(_ pixels: Double, _ whole: Double, _ count: Int) -> Double {
      let shared = whole / Double(count)
      return abs(shared / pixels - 1) < 1e-6 ? shared : pixels
    }
    return (
      chosen(Double(matrix.tileWidth) * matrix.pixelWidth, bounds.width, matrix.width),
      chosen(Double(matrix.tileHeight) * matrix.pixelHeight, bounds.height, matrix.height)
    )
  }

  /// The area of a tile of the matrix.
  func envelope(of address: TileAddress, in matrix: TileMatrix) -> Envelope {
    let (width, height) = span(of: matrix)
    let left = bounds.minX + Double(address.column) * width
    let top = bounds.maxY - Double(address.row) * height
    return Envelope(minX: left, minY: top - height, maxX: left + width, maxY: top)
  }

  /// The columns and rows of the matrix that an area touches; `nil` where it lies outside.
  func tiles(
    touching area: Envelope, in matrix: TileMatrix
  ) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>)? {
    let (width, height) = span(of: matrix)
    guard
      let columns = Self.indices(
        (area.minX - bounds.minX) / width, (area.maxX - bounds.minX) / width, matrix.width),
      let rows = Self.indices(
        (bounds.maxY - area.maxY) / height, (bounds.maxY - area.minY) / height, matrix.height)
    else { return nil }
    return (columns, rows)
  }

  /// The indices between two positions. A part of a tile that is no more than rounding does not
  /// count.
  private static func indices(_ low: Double, _ high: Double, _ count: Int) -> ClosedRange<Int>? {
    let first = max(0, (low + 1e-6).rounded(.down))
    let last = min(Double(count - 1), (high - 1e-6).rounded(.up) - 1)
    return first <= last ? Int(first)...Int(last) : nil
  }

  /// The tile of the matrix that has exactly this area and this many pixels; `nil` where none does.
  func address(
    covering area: Envelope, pixels: Int, in matrix: TileMatrix
  ) -> TileAddress? {
    guard matrix.tileWidth == pixels, matrix.tileHeight == pixels,
      let (columns, rows) = tiles(touching: area, in: matrix), columns.count == 1, rows.count == 1
    else { return nil }
    let address = TileAddress(
      zoom: matrix.zoom, column: columns.lowerBound, row: rows.lowerBound)
    let own = envelope(of: address, in: matrix)
    // A hundredth of a pixel is not seen.
    let tolerance = area.width / Double(pixels) / 100
    let distances = [
      own.minX - area.minX, own.minY - area.minY, own.maxX - area.maxX, own.maxY - area.maxY,
    ]
    return distances.allSatisfy { abs($0) <= tolerance } ? address : nil
  }
}
