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
    let across = PixelShares(from: size.width, to: other.width)
    let down = PixelShares(from: size.height, to: other.height)
    var result = Bitmap(other)
    // A target row: colours times alpha, and alpha.
    var sums = [SIMD4<Double>](repeating: .zero, count: other.width)
    for row in 0..<other.height {
      for column in sums.indices { sums[column] = .zero }
      for index in down.starts[row]..<down.starts[row + 1] {
        let source = (down.firsts[row] + index - down.starts[row]) * size.width * 4
        bytes.withUnsafeBytes { bytes in
          let pixels = UnsafeRawBufferPointer(rebasing: bytes[source..<source + size.width * 4])
          Self.add(pixels, times: down.shares[index], across, to: &sums)
        }
      }
      for column in 0..<other.width where sums[column].w > 0 {
        let at = (row * other.width + column) * 4
        let alpha = sums[column].w
        for channel in 0..<3 {
          result.bytes[at + channel] = UInt8(min(255, sums[column][channel] / alpha + 0.5))
        }
        result.bytes[at + 3] = UInt8(min(255, alpha + 0.5))
      }
    }
    return result
  }

  /// Adds a row, narrowed or widened.
  private static func add(
    _ row: UnsafeRawBufferPointer, times weight: Double, _ across: PixelShares,
    to sums: inout [SIMD4<Double>]
  ) {
    for column in sums.indices {
      var at = across.firsts[column] * 4
      var sum = SIMD4<Double>.zero
      for index in across.starts[column]..<across.starts[column + 1] {
        let alpha = Double(row[at + 3]) * across.shares[index]
        sum += alpha * SIMD4(Double(row[at]), Double(row[at + 1]), Double(row[at + 2]), 1)
        at += 4
      }
      sums[column] += sum * weight
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

/// For each pixel of a line those of another line that it covers, with their shares, which make 1.
private struct PixelShares {
  /// The first pixel that each covers.
  private(set) var firsts: [Int] = []
  /// Where the shares of each begin, and where the last ones end.
  private(set) var starts = [0]
  private(set) var shares: [Double] = []

  init(from source: Int, to target: Int) {
    let step = Double(source) / Double(target)
    for index in 0..<target {
      let (start, end) = (Double(index) * step, Double(index + 1) * step)
      let last = min(source - 1, Int(end.rounded(.up)) - 1)
      firsts.append(Int(start))
      for pixel in Int(start)...max(Int(start), last) {
        shares.append((min(end, Double(pixel + 1)) - max(start, Double(pixel))) / step)
      }
      starts.append(shares.count)
    }
  }
}
