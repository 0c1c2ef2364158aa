/// Leaves out the positions of lines and rings that a tile does not need, and rounds the others to the
/// grid.
///
/// A position that is left out is half a step at most from the line that stays, and rounding moves that
/// line by half a step in x and in y.
struct TileSimplifier {
  private static let tolerance = 0.5

  /// Appends a line; nothing where it has no length on the grid.
  static func append(line: [SIMD2<Double>], to positions: inout [SIMD2<Int32>]) -> Bool {
    let start = positions.count
    thin(line, isClosed: false) { position in
      let rounded = self.rounded(position)
      while positions.count > start {
        let last = positions[positions.count - 1]
        if last == rounded { return }
        guard positions.count - start > 1 else { break }
        let (there, back) = (last &- positions[positions.count - 2], rounded &- last)
        guard cross(there, back) == 0, dot(there, back) > 0 else { break }
        positions.removeLast()
      }
      positions.append(rounded)
    }
    if positions.count - start > 1 { return true }
    positions.removeSubrange(start...)
    return false
  }

  /// Appends a ring, which is given and appended without its last position, without edges that lie on
  /// each other.
  ///
  /// - Returns: where it is; `nil` where nothing is left of it.
  static func append(
    ring: [SIMD2<Double>], to positions: inout [SIMD2<Int32>]
  ) -> Range<Int>? {
    let start = positions.count
    thin(ring, isClosed: true) { position in
      let rounded = self.rounded(position)
      while let last = positions.last, positions.count > start {
        if last == rounded { return }
        guard positions.count - start > 1 else { break }
        let before = positions[positions.count - 2]
        guard cross(last &- before, rounded &- last) == 0 else { break }
        positions.removeLast()
      }
      positions.append(rounded)
    }
    return closed(from: start, &positions)
  }

  /// Takes away positions around the place where a ring closes.
  private static func closed(
    from start: Int, _ positions: inout [SIMD2<Int32>]
  ) -> Range<Int>? {
    var first = start
    while positions.count - first >= 3 {
      let (last, begin) = (positions[positions.count - 1], positions[first])
      let (before, next) = (positions[positions.count - 2], positions[first + 1])
      if last == begin || cross(last &- before, begin &- last) == 0 {
        positions.removeLast()
      } else if cross(begin &- last, next &- begin) == 0 {
        first += 1
      } else {
        return first..<positions.count
      }
    }
    positions.removeSubrange(start...)
    return nil
  }

  /// Gives the positions that stay, by one pass that keeps the sector in which the next line from the
  /// last position that stayed passes all positions since (Zhao and Saalfeld's sleeves).
  @inline(__always)
  private static func thin(
    _ line: [SIMD2<Double>], isClosed: Bool, _ keep: (SIMD2<Double>) -> Void
  ) {
    guard let begin = line.first else { return }
    keep(begin)
    var sector = Sector(from: begin)
    var previous = begin
    for index in 1..<line.count + (isClosed ? 1 : 0) {
      let position = index < line.count ? line[index] : begin
      if !sector.holds(position) {
        keep(previous)
        sector = Sector(from: previous)
      }
      sector.narrow(to: position, tolerance)
      previous = position
    }
    if !isClosed { keep(previous) }
  }

  private struct Sector {
    let apex: SIMD2<Double>
    var right = SIMD2<Double>(0, 0)
    var left = SIMD2<Double>(0, 0)
    /// The square of the distance of the farthest position; 0 while every direction is allowed.
    var farthest = 0.0

    init(from apex: SIMD2<Double>) { self.apex = apex }

    @inline(__always)
    func holds(_ position: SIMD2<Double>) -> Bool {
      guard farthest > 0 else { return true }
      let way = position - apex
      return way.x * way.x + way.y * way.y >= farthest
        && right.x * way.y - right.y * way.x >= 0 && way.x * left.y - way.y * left.x >= 0
    }

    /// Allows only directions that pass the position by `tolerance` at most.
    @inline(__always)
    mutating func narrow(to position: SIMD2<Double>, _ tolerance: Double) {
      let way = position - apex
      let square = way.x * way.x + way.y * way.y
      // So near, every line from the apex passes it.
      guard square > tolerance * tolerance else { return }
      let sine = tolerance / square.squareRoot()
      let cosine = (1 - sine * sine).squareRoot()
      let newRight = SIMD2(way.x * cosine + way.y * sine, way.y * cosine - way.x * sine)
      let newLeft = SIMD2(way.x * cosine - way.y * sine, way.y * cosine + way.x * sine)
      if farthest == 0 || right.x * newRight.y - right.y * newRight.x > 0 { right = newRight }
      if farthest == 0 || newLeft.x * left.y - newLeft.y * left.x > 0 { left = newLeft }
      farthest = max(farthest, square)
    }
  }

  // MARK: The grid

  /// The nearest position on the grid. A half goes up everywhere, so that neighbouring tiles round
  /// alike.
  @inline(__always)
  static func rounded(_ position: SIMD2<Double>) -> SIMD2<Int32> {
    let moved = (position + 0.5).rounded(.down)
    return SIMD2(Int32(moved.x), Int32(moved.y))
  }

  @inline(__always)
  static func cross(_ a: SIMD2<Int32>, _ b: SIMD2<Int32>) -> Int64 {
    Int64(a.x) * Int64(b.y) - Int64(a.y) * Int64(b.x)
  }

  @inline(__always)
  private static func dot(_ a: SIMD2<Int32>, _ b: SIMD2<Int32>) -> Int64 {
    Int64(a.x) * Int64(b.x) + Int64(a.y) * Int64(b.y)
  }
}
