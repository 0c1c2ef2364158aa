extension Geometry {
  /// The geometry with shells counterclockwise and holes clockwise, as RFC 7946 asks for.
  ///
  /// Only POLYGON and MULTIPOLYGON are turned, in collections too.
  public func rightHandRule() -> Geometry {
    switch self {
    case .polygon(let rings, let dimensions):
      .polygon(Self.rightHanded(rings), dimensions)
    case .multiPolygon(let polygons, let dimensions):
      .multiPolygon(polygons.map(Self.rightHanded), dimensions)
    case .geometryCollection(let members, let dimensions):
      .geometryCollection(members.map { $0.rightHandRule() }, dimensions)
    default: self
    }
  }

  private static func rightHanded(_ rings: [CoordinateSequence]) -> [CoordinateSequence] {
    rings.enumerated().map { index, ring in
      let area = ring.signedArea
      return (index == 0 ? area < 0 : area > 0) ? ring.reversed() : ring
    }
  }
}

extension CoordinateSequence {
  /// The area of the ring in the square of its units: positive where it is counterclockwise,
  /// negative where it is clockwise, 0 for a sequence that is no ring.
  public var signedArea: Double {
    let step = dimensions.count
    guard ordinates.count >= 3 * step else { return 0 }
    // Coordinates are taken relative to the first position, so that large ones do not cancel the
    // area.
    let (x0, y0) = (ordinates[0], ordinates[1])
    var sum = 0.0
    for base in stride(from: step, to: ordinates.count - step, by: step) {
      let (x1, y1) = (ordinates[base] - x0, ordinates[base + 1] - y0)
      let (x2, y2) = (ordinates[base + step] - x0, ordinates[base + step + 1] - y0)
      sum += x1 * y2 - x2 * y1
    }
    return sum / 2
  }

  /// The positions in reverse order.
  public func reversed() -> CoordinateSequence {
    let step = dimensions.count
    var result: [Double] = []
    result.reserveCapacity(ordinates.count)
    for base in stride(from: ordinates.count - step, through: 0, by: -step) {
      result.append(contentsOf: ordinates[base..<base + step])
    }
    return CoordinateSequence(dimensions: dimensions, ordinates: result)
  }
}
