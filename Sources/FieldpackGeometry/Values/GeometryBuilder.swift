/// Builds a ``Geometry`` from the parts it is visited with.
public struct GeometryBuilder: GeometryVisitor {
  /// The last geometry built; `nil` until the outermost geometry has ended.
  public private(set) var geometry: Geometry?

  /// A geometry that has not ended; its type decides which of the lists is used.
  private struct Frame {
    let type: GeometryType
    let dimensions: Dimensions
    var points: [Position?] = []
    var lines: [CoordinateSequence] = []
    var polygons: [[CoordinateSequence]] = []
    var members: [Geometry] = []
  }

  private var frames: [Frame] = []
  private var ordinates: [Double] = []
  private var hasZ = false
  private var hasM = false

  public init() {}

  public mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    hasZ = dimensions.hasZ
    hasM = dimensions.hasM
    frames.append(Frame(type: type, dimensions: dimensions))
    if type == .lineString || type == .circularString { beginRing(count: count) }
  }

  public mutating func beginRing(count: Int?) {
    // It is safe to reserve for this count: a count from WKB was checked against the bytes left.
    if let count { ordinates.reserveCapacity(count * (2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0))) }
  }

  public mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    ordinates.append(x)
    ordinates.append(y)
    if hasZ { ordinates.append(z) }
    if hasM { ordinates.append(m) }
  }

  public mutating func endRing() {
    guard let last = frames.indices.last else { return }
    frames[last].lines.append(takeSequence(frames[last].dimensions))
  }

  public mutating func end(_ type: GeometryType) {
    guard let frame = frames.popLast() else { return }
    guard let parent = frames.indices.last else {
      geometry = value(of: frame)
      return
    }
    switch frames[parent].type {
    case .multiPoint: frames[parent].points.append(takePosition())
    case .multiLineString: frames[parent].lines.append(takeSequence(frame.dimensions))
    case .multiPolygon: frames[parent].polygons.append(frame.lines)
    default: frames[parent].members.append(value(of: frame))
    }
  }

  private mutating func takeSequence(_ dimensions: Dimensions) -> CoordinateSequence {
    defer { ordinates = [] }
    return CoordinateSequence(dimensions: dimensions, ordinates: ordinates)
  }

  private mutating func takePosition() -> Position? {
    guard ordinates.count >= 2 else { return nil }
    defer { ordinates.removeAll(keepingCapacity: true) }
    return Position(
      x: ordinates[0], y: ordinates[1], z: hasZ ? ordinates[2] : nil,
      m: hasM ? ordinates[ordinates.count - 1] : nil)
  }

  private mutating func value(of frame: Frame) -> Geometry {
    switch frame.type {
    case .point: .point(takePosition(), frame.dimensions)
    case .lineString: .lineString(takeSequence(frame.dimensions))
    case .circularString: .circularString(takeSequence(frame.dimensions))
    case .polygon: .polygon(frame.lines, frame.dimensions)
    case .multiPoint: .multiPoint(frame.points, frame.dimensions)
    case .multiLineString: .multiLineString(frame.lines, frame.dimensions)
    case .multiPolygon: .multiPolygon(frame.polygons, frame.dimensions)
    case .geometryCollection: .geometryCollection(frame.members, frame.dimensions)
    case .triangle:
      .composite(.triangle, frame.lines.map { .lineString($0) }, frame.dimensions)
    default: .composite(frame.type, frame.members, frame.dimensions)
    }
  }
}
