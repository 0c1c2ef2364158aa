extension Bitmap {
  /// The picture on a square of so many pixels, as large as it fits and in the middle; what is around it
  /// is clear, and so are the corners of the square.
  package func fitted(_ side: Int, cornerRadius radius: Int) -> Bitmap {
    let long = max(size.width, size.height)
    func scaled(_ length: Int) -> Int { max(1, (2 * length * side + long) / (2 * long)) }
    let shown = PictureSize(width: scaled(size.width), height: scaled(size.height))
    let picture = resized(to: shown)
    var square = Bitmap(PictureSize(width: side, height: side))
    let (left, top) = ((side - shown.width) / 2, (side - shown.height) / 2)
    for row in 0..<shown.height {
      let from = row * shown.width * 4
      let to = ((top + row) * side + left) * 4
      square.bytes.replaceSubrange(
        to..<to + shown.width * 4, with: picture.bytes[from..<from + shown.width * 4])
    }
    square.roundCorners(radius)
    return square
  }

  /// Each pixel is the mean of those that lie under it.
  private func resized(to other: PictureSize) -> Bitmap {
    let across = Self.weights(from: size.width, to: other.width)
    let down = Self.weights(from: size.height, to: other.height)
    var result = Bitmap(other)
    // The rows of one target row, narrowed: colours times alpha, and alpha.
    for (row, rows) in down.enumerated() {
      var sums = [Double](repeating: 0, count: other.width * 4)
      for (source, weight) in rows {
        for (column, columns) in across.enumerated() {
          var (red, green, blue, sum) = (0.0, 0.0, 0.0, 0.0)
          for (x, share) in columns {
            let at = (source * size.width + x) * 4
            let alpha = Double(bytes[at + 3]) * weight * share
            red += Double(bytes[at]) * alpha
            green += Double(bytes[at + 1]) * alpha
            blue += Double(bytes[at + 2]) * alpha
            sum += alpha
          }
          sums[column * 4] += red
          sums[column * 4 + 1] += green
          sums[column * 4 + 2] += blue
          sums[column * 4 + 3] += sum
        }
      }
      for column in 0..<other.width {
        let alpha = sums[column * 4 + 3]
        guard alpha > 0 else { continue }
        let at = (row * other.width + column) * 4
        for channel in 0..<3 {
          result.bytes[at + channel] = UInt8(
            min(255, (sums[column * 4 + channel] / alpha).rounded()))
        }
        result.bytes[at + 3] = UInt8(min(255, alpha.rounded()))
      }
    }
    return result
  }

  /// For each of `target` pixels in a line the pixels of `source` that it covers, with their shares,
  /// which make 1.
  private static func weights(from source: Int, to target: Int) -> [[(Int, Double)]] {
    let step = Double(source) / Double(target)
    return (0..<target).map { index in
      let (start, end) = (Double(index) * step, Double(index + 1) * step)
      let last = min(source - 1, Int(end.rounded(.up)) - 1)
      return (Int(start)...max(Int(start), last)).map { pixel in
        (pixel, (min(end, Double(pixel + 1)) - max(start, Double(pixel))) / step)
      }
    }
  }

  /// Clears what lies outside of the circles in the corners. A pixel at the edge is as clear as much of it
  /// lies outside.
  private mutating func roundCorners(_ radius: Int) {
    let reach = Double(min(radius, size.width / 2, size.height / 2))
    guard reach > 0 else { return }
    for row in 0..<size.height {
      let down = max(
        0, max(reach - Double(row) - 0.5, Double(row) + 0.5 - Double(size.height) + reach))
      guard down > 0 else { continue }
      for column in 0..<size.width {
        let across = max(
          0, max(reach - Double(column) - 0.5, Double(column) + 0.5 - Double(size.width) + reach))
        guard across > 0 else { continue }
        let share = reach + 0.5 - (across * across + down * down).squareRoot()
        guard share < 1 else { continue }
        let at = (row * size.width + column) * 4 + 3
        bytes[at] = UInt8((Double(bytes[at]) * max(0, share)).rounded())
      }
    }
  }
}
