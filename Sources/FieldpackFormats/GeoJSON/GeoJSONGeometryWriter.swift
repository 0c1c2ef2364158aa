import FieldpackGeometry

/// Writes geometries as GeoJSON: shells counterclockwise and holes clockwise (RFC 7946 section
/// 3.1.6), M dropped, no EMPTY members in Multi types and no EMPTY points in collections, which
/// have no form that every reader takes.
struct GeoJSONGeometryWriter: GeometryVisitor {
  var bytes: [UInt8] = []
  /// The envelope of the geometry written last.
  private(set) var envelope = EnvelopeVisitor()
  /// Why the geometry cannot be written.
  private(set) var failure: String?
  /// The geometry is POINT EMPTY.
  private(set) var isEmptyPoint = false
  private var hasOtherTypes = false
  private let decimals: Int?

  private struct Frame {
    let type: GeometryType
    let isObject: Bool
    /// An EMPTY member of which nothing is written.
    var isLeftOut = false
    var count = 0
  }

  private var frames: [Frame] = []
  private var hasZ = false
  private var isInRing = false
  /// The ring being read, x y z: which way round it goes is known only at its end.
  private var ring: [Double] = []

  init(decimals: Int?) { self.decimals = decimals }

  // MARK: The main verbs

  /// Appends a WKB; curves are drawn with straight lines.
  mutating func write(_ wkb: RawSpan) throws(GeometryError) {
    reset()
    let start = bytes.count
    try WKB.visit(wkb, with: &self)
    guard hasOtherTypes else { return }
    bytes.removeSubrange(start...)
    write(try WKB.read(wkb))
  }

  mutating func write(_ geometry: Geometry) {
    reset()
    geometry.linearized().visit(with: &self)
  }

  private mutating func reset() {
    frames.removeAll(keepingCapacity: true)
    envelope = EnvelopeVisitor()
    (failure, isEmptyPoint, hasOtherTypes, isInRing) = (nil, false, false, false)
  }

  /// Appends `[minX,minY,maxX,maxY]`, with the range of z where there is one.
  mutating func write(box: Envelope) {
    bytes.append(UInt8(ascii: "["))
    let low = [box.minX, box.minY] + (box.z.map { [$0.lowerBound] } ?? [])
    let high = [box.maxX, box.maxY] + (box.z.map { [$0.upperBound] } ?? [])
    for (index, value) in (low + high).enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  // MARK: The visitor

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    hasZ = dimensions.hasZ
    envelope.begin(type, dimensions, count: count)
    let isMember = frames.last.map { $0.type != .geometryCollection } ?? false
    var frame = Frame(type: type, isObject: !isMember)
    frame.isLeftOut = count == 0 && (isMember || (type == .point && !frames.isEmpty))
    if type == .point, count == 0, frames.isEmpty { isEmptyPoint = true }
    if !frame.isLeftOut { separate() }
    frames.append(frame)
    if type.rawValue > GeometryType.geometryCollection.rawValue { hasOtherTypes = true }
    guard !frame.isLeftOut else { return }
    if frame.isObject {
      bytes += "{\"type\":\"".utf8
      bytes += type.geoJSONName.utf8
      bytes += (type == .geometryCollection ? "\",\"geometries\":" : "\",\"coordinates\":").utf8
    }
    if type != .point || count == 0 { bytes.append(UInt8(ascii: "[")) }
  }

  /// A comma before every part of the open geometry but the first.
  @inline(__always)
  private mutating func separate() {
    guard let last = frames.indices.last else { return }
    if frames[last].count > 0 { bytes.append(UInt8(ascii: ",")) }
    frames[last].count += 1
  }

  mutating func beginRing(count: Int?) {
    separate()
    isInRing = true
    ring.removeAll(keepingCapacity: true)
  }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    envelope.position(x, y, z, m)
    if isInRing {
      ring += [x, y, z]
    } else {
      if frames.last?.type == .point {
        frames[frames.count - 1].count = 1
      } else {
        separate()
      }
      appendPosition(x, y, z)
    }
  }

  mutating func endRing() {
    isInRing = false
    let isShell = frames.last?.count == 1
    let isReversed = isShell ? signedArea < 0 : signedArea > 0
    bytes.append(UInt8(ascii: "["))
    let count = ring.count / 3
    for index in 0..<count {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      let base = 3 * (isReversed ? count - 1 - index : index)
      appendPosition(ring[base], ring[base + 1], ring[base + 2])
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func end(_ type: GeometryType) {
    guard let frame = frames.popLast(), !frame.isLeftOut else { return }
    if type != .point || frame.count == 0 { bytes.append(UInt8(ascii: "]")) }
    if frame.isObject { bytes.append(UInt8(ascii: "}")) }
  }

  // MARK: Positions

  /// Twice the area of the ring, positive counterclockwise, relative to its first position.
  private var signedArea: Double {
    guard ring.count >= 9 else { return 0 }
    let (x0, y0) = (ring[0], ring[1])
    var sum = 0.0
    for base in stride(from: 3, to: ring.count - 3, by: 3) {
      sum +=
        (ring[base] - x0) * (ring[base + 4] - y0) - (ring[base + 3] - x0) * (ring[base + 1] - y0)
    }
    return sum
  }

  @inline(__always)
  private mutating func appendPosition(_ x: Double, _ y: Double, _ z: Double) {
    if !x.isFinite || !y.isFinite { failure = "a coordinate is not finite" }
    bytes.append(UInt8(ascii: "["))
    append(x)
    bytes.append(UInt8(ascii: ","))
    append(y)
    if hasZ, z.isFinite {
      bytes.append(UInt8(ascii: ","))
      append(z)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  @inline(__always)
  private mutating func append(_ value: Double) {
    if let decimals {
      NumberText.append(value, decimals: decimals, to: &bytes)
    } else {
      NumberText.append(value, to: &bytes)
    }
  }
}
