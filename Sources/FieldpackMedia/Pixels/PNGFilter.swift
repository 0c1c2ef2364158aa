/// How a row of a PNG foretells its bytes (ISO/IEC 15948, 9).
///
/// `step` is how many bytes a pixel has, at least 1. Left of the first pixel and above the first row
/// everything is 0.
enum PNGFilter: UInt8, CaseIterable {
  case none, sub, up, average, paeth

  /// Filters a row into one of the same length.
  ///
  /// - Returns: how large the differences are in all.
  func apply(
    to row: UnsafeRawBufferPointer, under above: UnsafeRawBufferPointer, step: Int,
    into result: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(above.count >= row.count && result.count >= row.count)
    let start = min(step, row.count)
    switch self {
    case .none:
      result.copyMemory(from: row)
    case .sub:
      for index in 0..<start { result[index] = row[index] }
      for index in start..<row.count { result[index] = row[index] &- row[index - step] }
    case .up:
      for index in 0..<row.count { result[index] = row[index] &- above[index] }
    case .average:
      for index in 0..<start { result[index] = row[index] &- above[index] >> 1 }
      for index in start..<row.count {
        result[index] = row[index] &- Self.mean(row[index - step], above[index])
      }
    case .paeth:
      for index in 0..<start { result[index] = row[index] &- above[index] }
      for index in start..<row.count {
        result[index] =
          row[index] &- Self.nearest(row[index - step], above[index], above[index - step])
      }
    }
    var sum = 0
    for index in 0..<row.count {
      let difference = result[index]
      sum &+= Int(difference < 128 ? difference : 0 &- difference)
    }
    return sum
  }

  /// Makes the bytes of a row from their differences.
  func undo(
    _ row: UnsafeMutableRawBufferPointer, under above: UnsafeRawBufferPointer, step: Int
  ) {
    precondition(above.count >= row.count)
    let start = min(step, row.count)
    switch self {
    case .none: break
    case .sub:
      for index in start..<row.count { row[index] &+= row[index - step] }
    case .up:
      for index in 0..<row.count { row[index] &+= above[index] }
    case .average:
      for index in 0..<start { row[index] &+= above[index] >> 1 }
      for index in start..<row.count { row[index] &+= Self.mean(row[index - step], above[index]) }
    case .paeth:
      for index in 0..<start { row[index] &+= above[index] }
      for index in start..<row.count {
        row[index] &+= Self.nearest(row[index - step], above[index], above[index - step])
      }
    }
  }

  @inline(__always)
  private static func mean(_ left: UInt8, _ up: UInt8) -> UInt8 {
    UInt8(truncatingIfNeeded: (Int(left) + Int(up)) >> 1)
  }

  /// The one that is nearest to left + up - corner.
  @inline(__always)
  private static func nearest(_ left: UInt8, _ up: UInt8, _ corner: UInt8) -> UInt8 {
    let (fromLeft, fromUp) = (Int(up) - Int(corner), Int(left) - Int(corner))
    let (a, b, c) = (fromLeft.magnitude, fromUp.magnitude, (fromLeft + fromUp).magnitude)
    return a <= b && a <= c ? left : b <= c ? up : corner
  }
}
