package import FieldpackGeometry

/// The Hilbert curve through a grid of 65,536 by 65,536 cells.
package enum Hilbert {
  /// The position on the curve of the cell (x, y), each below 65,536.
  ///
  /// The usual rotation of quadrants, from the coarsest to the finest (J. Skilling, "Programming
  /// the Hilbert curve", 2004, gives the general form).
  package static func index(x: UInt32, y: UInt32) -> UInt32 {
    var (x, y) = (x, y)
    var index: UInt32 = 0
    var side: UInt32 = 1 << 15
    while side > 0 {
      let right: UInt32 = x & side != 0 ? 1 : 0
      let upper: UInt32 = y & side != 0 ? 1 : 0
      index = index << 2 | ((3 &* right) ^ upper)
      if upper == 0 {
        if right == 1 {
          x = 65_535 &- x
          y = 65_535 &- y
        }
        swap(&x, &y)
      }
      side >>= 1
    }
    return index
  }

  /// The curve laid over an envelope.
  package struct Curve {
    private let minX: Double
    private let minY: Double
    private let scaleX: Double
    private let scaleY: Double

    package init(over bounds: Envelope) {
      minX = bounds.minX
      minY = bounds.minY
      scaleX = bounds.width > 0 ? 65_535 / bounds.width : 0
      scaleY = bounds.height > 0 ? 65_535 / bounds.height : 0
    }

    /// The position on the curve of a box's centre.
    package func position(of box: RTreeEntry) -> UInt64 {
      let x = (Double(box.minX) + Double(box.maxX)) / 2 - minX
      let y = (Double(box.minY) + Double(box.maxY)) / 2 - minY
      return UInt64(index(x: Self.cell(x * scaleX), y: Self.cell(y * scaleY)))
    }

    private static func cell(_ value: Double) -> UInt32 {
      value.isFinite ? UInt32(max(0, min(65_535, value))) : 0
    }
  }
}

/// Sorts by counting digits, in time linear in the number of elements.
package enum RadixSort {
  /// Sorts by the upper 32 bits; elements equal in these keep their order.
  package static func sortByUpperHalf(_ elements: inout [UInt64]) {
    var other = [UInt64](repeating: 0, count: elements.count)
    for shift in stride(from: UInt64(32), to: 64, by: 8) {
      var starts = [Int](repeating: 0, count: 257)
      for element in elements { starts[Int(element >> shift & 255) + 1] += 1 }
      for digit in 0..<256 { starts[digit + 1] += starts[digit] }
      for element in elements {
        let digit = Int(element >> shift & 255)
        other[starts[digit]] = element
        starts[digit] += 1
      }
      swap(&elements, &other)
    }
  }
}
