import FieldpackGeometry

/// The vertices of a route or track as they come, and the WKB of them.
struct GPXPath {
  /// x, y, z, m for each vertex; NaN where there is none.
  private var ordinates: [Double] = []
  /// Vertices in each segment.
  private var segments: [Int] = []
  private var verticesWithZ = 0
  private var verticesWithM = 0
  private(set) var envelope = Envelope.empty
  private var lastM = -Double.infinity
  /// Vertices with an M below that of the one before.
  private(set) var stepsBack = 0

  var count: Int { ordinates.count / 4 }
  /// Z and M where every vertex has them.
  var dimensions: Dimensions {
    Dimensions(
      hasZ: count > 0 && verticesWithZ == count, hasM: count > 0 && verticesWithM == count)
  }

  mutating func reset() {
    ordinates.removeAll(keepingCapacity: ordinates.count < 1 << 20)
    segments.removeAll(keepingCapacity: true)
    (verticesWithZ, verticesWithM, stepsBack) = (0, 0, 0)
    lastM = -.infinity
    envelope = .empty
  }

  mutating func beginSegment() {
    if segments.last != 0 { segments.append(0) }
  }

  mutating func append(x: Double, y: Double, z: Double?, m: Double?) {
    if segments.isEmpty { segments.append(0) }
    ordinates.append(x)
    ordinates.append(y)
    ordinates.append(z ?? .nan)
    ordinates.append(m ?? .nan)
    segments[segments.count - 1] += 1
    envelope.extend(x: x, y: y)
    if let z {
      verticesWithZ += 1
      envelope.z = extended(envelope.z, z)
    }
    if let m {
      verticesWithM += 1
      if m < lastM { stepsBack += 1 }
      lastM = m
      envelope.m = extended(envelope.m, m)
    }
  }

  private func extended(_ range: ClosedRange<Double>?, _ value: Double) -> ClosedRange<Double> {
    guard let range else { return value...value }
    return range.contains(value)
      ? range : min(range.lowerBound, value)...max(range.upperBound, value)
  }

  /// Appends a LINESTRING of all vertices, or a MULTILINESTRING with a line for each segment that
  /// is not empty.
  func appendWKB(isMulti: Bool, _ dimensions: Dimensions, to bytes: inout [UInt8]) {
    var writer = WKBWriter()
    swap(&writer.bytes, &bytes)
    if isMulti { writer.begin(.multiLineString, dimensions) }
    var offset = 0
    for length in isMulti ? segments : [count] where !isMulti || length > 0 {
      writer.begin(.lineString, dimensions)
      for index in offset..<offset + length {
        let base = index * 4
        writer.position(
          ordinates[base], ordinates[base + 1], ordinates[base + 2], ordinates[base + 3])
      }
      writer.end(.lineString)
      offset += length
    }
    if isMulti { writer.end(.multiLineString) }
    swap(&writer.bytes, &bytes)
  }
}
