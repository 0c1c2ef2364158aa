import FieldpackGeometry

/// Turns geometries into the records of one type of shape.
struct ShapeEncoder: GeometryVisitor {
  /// What a shapefile holds; single and multiple lines and polygons are the same to it.
  enum Family: Int32 {
    case point = 1
    case line = 3
    case polygon = 5
    case multiPoint = 8

    /// The family of a type; `nil` for what may be of any, and for collections.
    init?(_ type: GeometryType) {
      switch type {
      case .point: self = .point
      case .multiPoint: self = .multiPoint
      case .lineString, .multiLineString, .circularString, .compoundCurve, .curve, .multiCurve:
        self = .line
      case .polygon, .multiPolygon, .curvePolygon, .surface, .multiSurface, .triangle, .tin,
        .polyhedralSurface:
        self = .polygon
      case .geometry, .geometryCollection: return nil
      }
    }

    var name: String {
      switch self {
      case .point: "points"
      case .line: "lines"
      case .polygon: "polygons"
      case .multiPoint: "sets of points"
      }
    }
  }

  /// A measure that is none (page 2 of ESRI's description).
  private static let noMeasure = -1e39

  let hasZ: Bool
  let hasM: Bool
  /// The type of the geometry that was visited last, and whether it can be written.
  private(set) var type: GeometryType?
  private(set) var dimensions = Dimensions.xy
  private(set) var hasOtherTypes = false
  /// The boxes of all that was appended.
  private(set) var box = Envelope.empty

  private var starts: [Int] = []
  private var xy: [Double] = []
  private var z: [Double] = []
  private var m: [Double] = []
  private var ring = 0

  init(hasZ: Bool, hasM: Bool) {
    (self.hasZ, self.hasM) = (hasZ, hasM)
  }

  /// Whether the geometry visited last has no positions.
  var isEmpty: Bool { xy.isEmpty }
  var positionCount: Int { xy.count / 2 }

  mutating func reset() {
    type = nil
    hasOtherTypes = false
    starts.removeAll(keepingCapacity: true)
    xy.removeAll(keepingCapacity: true)
    z.removeAll(keepingCapacity: true)
    m.removeAll(keepingCapacity: true)
  }

  // MARK: Visiting

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    if self.type == nil { (self.type, self.dimensions) = (type, dimensions) }
    switch type {
    case .lineString: starts.append(positionCount)
    case .point, .polygon, .multiPoint, .multiLineString, .multiPolygon: ring = 0
    default: hasOtherTypes = true
    }
  }

  mutating func beginRing(count: Int?) { starts.append(positionCount) }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    xy.append(x)
    xy.append(y)
    if hasZ { self.z.append(z.isNaN ? 0 : z) }
    if hasM { self.m.append(m.isNaN ? Self.noMeasure : m) }
  }

  /// The first ring of a polygon runs clockwise, the others run the other way.
  mutating func endRing() {
    let start = starts[starts.count - 1]
    guard start < positionCount else {
      starts.removeLast()
      return
    }
    if (area(from: start) > 0) == (ring == 0) { reverse(from: start) }
    ring += 1
  }

  mutating func end(_ type: GeometryType) {
    if type == .lineString, starts.last == positionCount { starts.removeLast() }
  }

  private func area(from start: Int) -> Double {
    var area = 0.0
    let (x0, y0) = (xy[2 * start], xy[2 * start + 1])
    for index in start..<positionCount - 1 {
      let (x, y) = (xy[2 * index] - x0, xy[2 * index + 1] - y0)
      area += x * (xy[2 * index + 3] - y0) - (xy[2 * index + 2] - x0) * y
    }
    return area
  }

  private mutating func reverse(from start: Int) {
    var (low, high) = (start, positionCount - 1)
    while low < high {
      xy.swapAt(2 * low, 2 * high)
      xy.swapAt(2 * low + 1, 2 * high + 1)
      if hasZ { z.swapAt(low, high) }
      if hasM { m.swapAt(low, high) }
      low += 1
      high -= 1
    }
  }

  // MARK: Records

  /// The code of the file's shapes.
  func code(_ family: Family) -> Int32 { family.rawValue + (hasZ ? 10 : hasM ? 20 : 0) }

  /// Appends the content of a record.
  mutating func append(as family: Family, to bytes: inout [UInt8]) {
    guard !isEmpty else { return bytes.append(little: Int32(0)) }
    bytes.append(little: code(family))
    let own = gatherBox()
    if family == .point {
      bytes.append(little: xy[0])
      bytes.append(little: xy[1])
      if hasZ { bytes.append(little: z[0]) }
      if hasM { bytes.append(little: m[0]) } else if hasZ { bytes.append(little: Self.noMeasure) }
      return
    }
    for bound in [own.minX, own.minY, own.maxX, own.maxY] { bytes.append(little: bound) }
    if family != .multiPoint { bytes.append(little: Int32(starts.count)) }
    bytes.append(little: Int32(positionCount))
    if family != .multiPoint { for start in starts { bytes.append(little: Int32(start)) } }
    for ordinate in xy { bytes.append(little: ordinate) }
    if hasZ { append(z, own.z, to: &bytes) }
    if hasM { append(m, own.m, to: &bytes) }
  }

  private func append(
    _ ordinates: [Double], _ range: ClosedRange<Double>?, to bytes: inout [UInt8]
  ) {
    bytes.append(little: range?.lowerBound ?? Self.noMeasure)
    bytes.append(little: range?.upperBound ?? Self.noMeasure)
    for ordinate in ordinates { bytes.append(little: ordinate) }
  }

  private mutating func gatherBox() -> Envelope {
    var own = Envelope.empty
    for index in 0..<positionCount { own.extend(x: xy[2 * index], y: xy[2 * index + 1]) }
    own.z = Self.range(z)
    own.m = Self.range(m.filter { $0 > -1e38 })
    box.formUnion(own)
    return own
  }

  private static func range(_ ordinates: [Double]) -> ClosedRange<Double>? {
    guard let low = ordinates.min(), let high = ordinates.max(), low <= high else { return nil }
    return low...high
  }

  /// The 100 bytes at the start of a `.shp` or `.shx` of so many bytes in all.
  func header(_ code: Int32, length: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(big: ShapefileHeader.fileCode)
    bytes += [UInt8](repeating: 0, count: 20)
    bytes.append(big: Int32(length / 2))
    bytes.append(little: ShapefileHeader.version)
    bytes.append(little: code)
    let bounds = box.isEmpty ? [0, 0, 0, 0] : [box.minX, box.minY, box.maxX, box.maxY]
    for bound in bounds { bytes.append(little: bound) }
    for range in [hasZ ? box.z : nil, hasM ? box.m : nil] {
      bytes.append(little: range?.lowerBound ?? 0)
      bytes.append(little: range?.upperBound ?? 0)
    }
    return bytes
  }
}

extension [UInt8] {
  mutating func append(little number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  mutating func append(little number: Double) { append(little: number.bitPattern) }

  mutating func append(big number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
