/// An axis-aligned box with closed borders, in the units of its SRS, with optional Z and M ranges.
public struct Envelope: Hashable, Sendable {
  public var minX: Double
  public var minY: Double
  public var maxX: Double
  public var maxY: Double
  public var z: ClosedRange<Double>?
  public var m: ClosedRange<Double>?

  public init(
    minX: Double, minY: Double, maxX: Double, maxY: Double, z: ClosedRange<Double>? = nil,
    m: ClosedRange<Double>? = nil
  ) {
    self.minX = minX
    self.minY = minY
    self.maxX = maxX
    self.maxY = maxY
    self.z = z
    self.m = m
  }

  /// The envelope of no positions; its union with another envelope is the other.
  public static let empty = Envelope(
    minX: .infinity, minY: .infinity, maxX: -.infinity, maxY: -.infinity)

  public var isEmpty: Bool { !(minX <= maxX && minY <= maxY) }
  public var width: Double { maxX - minX }
  public var height: Double { maxY - minY }

  public func intersects(_ other: Envelope) -> Bool {
    minX <= other.maxX && maxX >= other.minX && minY <= other.maxY && maxY >= other.minY
  }

  public func contains(_ other: Envelope) -> Bool {
    minX <= other.minX && maxX >= other.maxX && minY <= other.minY && maxY >= other.maxY
  }

  /// Extends the box in x and y so that it holds the position; NaN ordinates change nothing.
  @inlinable public mutating func extend(x: Double, y: Double) {
    if x < minX { minX = x }
    if x > maxX { maxX = x }
    if y < minY { minY = y }
    if y > maxY { maxY = y }
  }

  /// Extends the box so that it holds positions of x and y alone that lie behind one another as in
  /// little-endian WKB; those with NaN change nothing.
  package mutating func extend(positions: UnsafeRawBufferPointer) {
    var offset = 0
    #if _endian(little)
      // Two positions at a time, each with bounds of its own, so that no step waits for the one before.
      var (low, high) = (SIMD4(minX, minY, minX, minY), SIMD4(maxX, maxY, maxX, maxY))
      while offset + 32 <= positions.count {
        let both = unsafe positions.loadUnaligned(fromByteOffset: offset, as: SIMD4<Double>.self)
        let sums = both.evenHalf + both.oddHalf
        // NaN, or infinities whose sum is NaN.
        if sums.x.isNaN || sums.y.isNaN { break }
        low.replace(with: both, where: both .< low)
        high.replace(with: both, where: both .> high)
        offset += 32
      }
      (minX, minY) = (min(low.x, low.z), min(low.y, low.w))
      (maxX, maxY) = (max(high.x, high.z), max(high.y, high.w))
    #endif
    // In registers: stores of each bound for each position take most of the time.
    var (west, south, east, north) = (minX, minY, maxX, maxY)
    func ordinate(_ offset: Int) -> Double {
      let bits = unsafe positions.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      return Double(bitPattern: UInt64(littleEndian: bits))
    }
    while offset + 16 <= positions.count {
      let (x, y) = (ordinate(offset), ordinate(offset + 8))
      offset += 16
      if x.isNaN || y.isNaN { continue }
      west = x < west ? x : west
      east = x > east ? x : east
      south = y < south ? y : south
      north = y > north ? y : north
    }
    (minX, minY, maxX, maxY) = (west, south, east, north)
  }

  /// Extends the box and the ranges of Z and M so that they hold `other`.
  public mutating func formUnion(_ other: Envelope) {
    guard !other.isEmpty else { return }
    extend(x: other.minX, y: other.minY)
    extend(x: other.maxX, y: other.maxY)
    z = Self.union(z, other.z)
    m = Self.union(m, other.m)
  }

  private static func union(
    _ a: ClosedRange<Double>?, _ b: ClosedRange<Double>?
  ) -> ClosedRange<Double>? {
    guard let a, let b else { return a ?? b }
    return min(a.lowerBound, b.lowerBound)...max(a.upperBound, b.upperBound)
  }
}
