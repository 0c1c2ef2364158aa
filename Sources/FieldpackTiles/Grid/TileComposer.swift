import FieldpackGeometry
import FieldpackMedia

/// Puts parts of pictures together to one, each pixel the mean of what it covers, by area.
///
/// What no picture covers is clear.
struct TileComposer {
  private let area: Envelope
  private let size: Int
  /// Red, green and blue times alpha, and alpha, each as a share of the pixel.
  private var sums: [Float]

  /// - Parameter size: of each side, in pixels.
  init(_ area: Envelope, size: Int) {
    self.area = area
    self.size = size
    sums = [Float](repeating: 0, count: 4 * size * size)
  }

  /// A pixel of the source, and how much of a pixel of the result it covers along one side.
  private struct Share {
    var index: Int
    var weight: Float
  }

  /// Adds a picture of an area in the same system.
  mutating func add(_ picture: Bitmap, of place: Envelope) {
    let (width, height) = (picture.size.width, picture.size.height)
    let columns = shares(
      from: (area.minX - place.minX) / place.width, length: area.width / place.width, of: width)
    let rows = shares(
      from: (place.maxY - area.maxY) / place.height, length: area.height / place.height,
      of: height)
    picture.bytes.withUnsafeBufferPointer { pixels in
      sums.withUnsafeMutableBufferPointer { sums in
        for (y, lines) in rows.enumerated() where !lines.isEmpty {
          for (x, cells) in columns.enumerated() where !cells.isEmpty {
            let target = 4 * (y * size + x)
            for line in lines {
              for cell in cells {
                let pixel = 4 * (line.index * width + cell.index)
                let alpha = line.weight * cell.weight * Float(pixels[pixel + 3])
                sums[target] += alpha * Float(pixels[pixel])
                sums[target + 1] += alpha * Float(pixels[pixel + 1])
                sums[target + 2] += alpha * Float(pixels[pixel + 2])
                sums[target + 3] += alpha
              }
            }
          }
        }
      }
    }
  }

  /// The pixels of the source for each pixel of the result, along one side.
  ///
  /// - Parameters:
  ///   - start: where the result begins, with the source as 0 to 1.
  ///   - count: the pixels of the source.
  private func shares(from start: Double, length: Double, of count: Int) -> [[Share]] {
    let step = length * Double(count) / Double(size)
    let origin = start * Double(count)
    return (0..<size).map { index in
      let low = max(0, origin + Double(index) * step)
      let high = min(Double(count), origin + Double(index + 1) * step)
      guard high > low else { return [] }
      return (Int(low)..<Int(high.rounded(.up))).compactMap { pixel in
        let weight = (min(high, Double(pixel + 1)) - max(low, Double(pixel))) / step
        // Less than that is rounding.
        return weight > 1e-6 ? Share(index: pixel, weight: Float(weight)) : nil
      }
    }
  }

  /// The picture so far.
  var bitmap: Bitmap {
    var bitmap = Bitmap(PictureSize(width: size, height: size))
    for pixel in stride(from: 0, to: sums.count, by: 4) where sums[pixel + 3] >= 0.5 {
      let alpha = sums[pixel + 3]
      for channel in 0..<3 {
        bitmap.bytes[pixel + channel] = UInt8(min(255, (sums[pixel + channel] / alpha).rounded()))
      }
      bitmap.bytes[pixel + 3] = UInt8(min(255, alpha.rounded()))
    }
    return bitmap
  }
}
