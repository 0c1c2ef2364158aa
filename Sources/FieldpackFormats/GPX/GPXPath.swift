import FieldpackGeometry

/// The vertices of a route or track as they come, and the WKB of them.
struct GPXPath: ~Copyable {
  /// x, y, z, m for each vertex; NaN where there is none.
  private var vertices: [SIMD4<Double>] = []
  /// Vertices in each segment.
  private var segments: [Int] = []
  private var verticesWithZ = 0
  private var verticesWithM = 0
  private var low = Self.noLow
  private var high = -Self.noLow
  private var lastM = -Double.infinity
  /// Vertices with an M below that of the one before.
  private(set) var stepsBack = 0

  private static let noLow = SIMD4<Double>(repeating: .infinity)

  var count: Int { vertices.count }
  /// Z and M where every vertex has them.
  var dimensions: Dimensions {
    Dimensions(
      hasZ: count > 0 && verticesWithZ == count, hasM: count > 0 && verticesWithM == count)
  }

  /// The box around the vertices, with Z and M where some have them.
  var envelope: Envelope {
    var box = Envelope(minX: low.x, minY: low.y, maxX: high.x, maxY: high.y)
    if verticesWithZ > 0 { box.z = low.z...high.z }
    if verticesWithM > 0 { box.m = low.w...high.w }
    return box
  }

  mutating func reset() {
    vertices.removeAll(keepingCapacity: vertices.count < 1 << 18)
    segments.removeAll(keepingCapacity: true)
    (verticesWithZ, verticesWithM, stepsBack) = (0, 0, 0)
    lastM = -.infinity
    (low, high) = (Self.noLow, -Self.noLow)
  }

  mutating func beginSegment() { segments.append(0) }

  mutating func append(x: Double, y: Double, z: Double?, m: Double?) {
    if segments.isEmpty { segments.append(0) }
    segments[segments.count - 1] += 1
    let vertex = SIMD4(x, y, z ?? .nan, m ?? .nan)
    vertices.append(vertex)
    // NaN is neither below nor above anything.
    low.replace(with: vertex, where: vertex .< low)
    high.replace(with: vertex, where: vertex .> high)
    if z != nil { verticesWithZ += 1 }
    if let m {
      verticesWithM += 1
      if m < lastM { stepsBack += 1 }
      lastM = m
    }
  }

  /// Appends a LINESTRING of all vertices, or a MULTILINESTRING with a line for each segment, which
  /// is EMPTY where the segment has no vertices, as GDAL has it.
  func appendWKB(isMulti: Bool, _ dimensions: Dimensions, to bytes: inout [UInt8]) {
    var writer = WKBWriter()
    swap(&writer.bytes, &bytes)
    if isMulti { writer.begin(.multiLineString, dimensions) }
    var offset = 0
    for length in isMulti ? segments : [count] {
      writer.begin(.lineString, dimensions)
      for index in offset..<offset + length {
        let vertex = vertices[index]
        writer.position(vertex.x, vertex.y, vertex.z, vertex.w)
      }
      writer.end(.lineString)
      offset += length
    }
    if isMulti { writer.end(.multiLineString) }
    swap(&writer.bytes, &bytes)
  }
}
