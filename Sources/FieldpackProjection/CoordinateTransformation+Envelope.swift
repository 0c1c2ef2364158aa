import CPROJ
public import FieldpackGeometry

extension CoordinateTransformation {
  /// The boxes in the target's reference system that together contain everything in `envelope`.
  ///
  /// Each side is densified by `points` positions, and more closely where it bulges out, because a
  /// straight side is seldom straight after the transformation. The result is one box, or two where
  /// - `envelope` has `minX > maxX`: a longitude range that crosses the antimeridian, or
  /// - the result crosses it: the boxes then end and start at ±180°.
  ///
  /// A box that contains a pole covers all longitudes. Where the target cannot represent a part of
  /// the box (a pole in Mercator), the result reaches as far as possible. Z and M are left out. An
  /// empty envelope gives no box.
  /// - Throws: ``ProjectionError/Kind/failedPoints`` where no position of the box can be
  ///   transformed; ``ProjectionError/Kind/invalidGeometry`` for NaN or infinite borders, and for
  ///   `minX > maxX` where the source is not geographic.
  public func transform(
    _ envelope: Envelope, densifiedBy points: Int = 21
  ) throws(ProjectionError) -> [Envelope] {
    if envelope == .empty { return [] }
    let borders = [envelope.minX, envelope.minY, envelope.maxX, envelope.maxY]
    guard borders.allSatisfy(\.isFinite), envelope.minY <= envelope.maxY else {
      throw ProjectionError(.invalidGeometry, "the envelope \(borders) has borders out of order")
    }
    guard let operation else { return envelope.splitAtAntimeridian }
    guard envelope.minX <= envelope.maxX || operation.takesDegrees else {
      throw ProjectionError(
        .invalidGeometry,
        "the envelope \(borders) starts east of its end, which only longitudes may")
    }
    var boxes: [Envelope] = []
    for part in envelope.splitAtAntimeridian {
      boxes += try transformBox(part, by: operation, sidePoints: max(2, min(points, 10_000)))
    }
    return boxes
  }

  private func transformBox(
    _ box: Envelope, by operation: Operation, sidePoints: Int
  ) throws(ProjectionError) -> [Envelope] {
    var result = Envelope.empty
    let done = proj_trans_bounds(
      operation.context.handle, operation.object.handle, PJ_FWD, box.minX, box.minY, box.maxX,
      box.maxY, &result.minX, &result.minY, &result.maxX, &result.maxY, Int32(sidePoints))
    let corners = [result.minX, result.minY, result.maxX, result.maxY]
    let isUsable = done != 0 && corners.allSatisfy(\.isFinite)
    if isUsable, operation.givesDegrees, result.minX > result.maxX {
      return result.splitAtAntimeridian
    }
    if !isUsable { result = .empty }
    for side in box.sides {
      result.formUnion(bulge(of: side, samples: sidePoints + 2))
    }
    if operation.takesDegrees, !operation.givesDegrees {
      result.formUnion(interior(of: box, samples: sidePoints + 2))
    }
    guard !result.isEmpty else {
      throw ProjectionError(
        .failedPoints, "no position of the box \(box) has a place in \(target)")
    }
    return [result]
  }

  /// The box of a side, from samples and then from more samples around each extreme.
  private func bulge(of side: EnvelopeSide, samples: Int) -> Envelope {
    var box = Envelope.empty
    let first = sampled(side, from: 0, to: 1, samples: samples)
    box.extend(by: first)
    for start in first.extremes {
      var middle = start
      var reach = 1 / Double(samples - 1)
      for _ in 0..<3 {
        let closer = sampled(
          side, from: max(0, middle.t - reach), to: min(1, middle.t + reach), samples: samples)
        box.extend(by: closer)
        guard let next = closer.extreme(like: middle) else { break }
        middle = next
        reach = 2 * reach / Double(samples - 1)
      }
    }
    return box
  }

  private func sampled(
    _ side: EnvelopeSide, from start: Double, to end: Double, samples: Int
  ) -> SideSamples {
    var found = SideSamples(count: samples, start: start, end: end)
    for index in 0..<samples { found.set(index, side.position(at: found.t(index))) }
    _ = transform(x: &found.x, y: &found.y)
    return found
  }

  // For a box as wide as a continent the extremes may lie inside it (in an azimuthal projection),
  // and at a pole the sides may fail. A hundred-thousandth of a degree is about a metre.
  private func interior(of box: Envelope, samples: Int) -> Envelope {
    let south = max(box.minY, -89.99999)
    let north = min(box.maxY, 89.99999)
    guard south <= north else { return .empty }
    var x: [Double] = []
    var y: [Double] = []
    for row in 0..<samples {
      for column in 0..<samples {
        x.append(box.minX + box.width * Double(column) / Double(samples - 1))
        y.append(south + (north - south) * Double(row) / Double(samples - 1))
      }
    }
    _ = transform(x: &x, y: &y)
    var result = Envelope.empty
    for index in x.indices where x[index].isFinite { result.extend(x: x[index], y: y[index]) }
    return result
  }
}

/// A side of a box; `t` runs from 0 to 1 along it.
private struct EnvelopeSide {
  let start: (x: Double, y: Double)
  let end: (x: Double, y: Double)

  func position(at t: Double) -> (x: Double, y: Double) {
    (start.x + (end.x - start.x) * t, start.y + (end.y - start.y) * t)
  }
}

/// Sampled positions of a side; those that cannot be transformed become infinite.
private struct SideSamples {
  enum Extreme: CaseIterable { case west, east, south, north }

  struct Extremum {
    let extreme: Extreme
    let t: Double
  }

  var x: [Double]
  var y: [Double]
  private let start: Double
  private let end: Double

  init(count: Int, start: Double, end: Double) {
    x = Array(repeating: 0, count: count)
    y = x
    self.start = start
    self.end = end
  }

  func t(_ index: Int) -> Double {
    start + (end - start) * Double(index) / Double(x.count - 1)
  }

  mutating func set(_ index: Int, _ position: (x: Double, y: Double)) {
    x[index] = position.x
    y[index] = position.y
  }

  var extremes: [Extremum] { Extreme.allCases.compactMap(extremum) }

  func extreme(like other: Extremum) -> Extremum? { extremum(of: other.extreme) }

  private func extremum(of extreme: Extreme) -> Extremum? {
    let good = x.indices.filter { x[$0].isFinite }
    let found =
      switch extreme {
      case .west: good.min { x[$0] < x[$1] }
      case .east: good.max { x[$0] < x[$1] }
      case .south: good.min { y[$0] < y[$1] }
      case .north: good.max { y[$0] < y[$1] }
      }
    return found.map { Extremum(extreme: extreme, t: t($0)) }
  }
}

extension Envelope {
  fileprivate var sides: [EnvelopeSide] {
    let southWest = (x: minX, y: minY)
    let southEast = (x: maxX, y: minY)
    let northEast = (x: maxX, y: maxY)
    let northWest = (x: minX, y: maxY)
    return [
      EnvelopeSide(start: southWest, end: southEast),
      EnvelopeSide(start: southEast, end: northEast),
      EnvelopeSide(start: northEast, end: northWest),
      EnvelopeSide(start: northWest, end: southWest),
    ]
  }

  fileprivate mutating func extend(by samples: SideSamples) {
    for index in samples.x.indices where samples.x[index].isFinite {
      extend(x: samples.x[index], y: samples.y[index])
    }
  }
}
