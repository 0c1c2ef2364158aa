import FieldpackCore
import FieldpackGeometry
import FieldpackTopology

/// Brings one geometry after another from well-known binary to the grid of a tile, without building
/// values: read, placed, cut, simplified, rounded. Its storage is reused.
struct TileShape {
  private let plane: TilePlane
  /// What a tile shows with its buffer.
  private let box: TileBox
  private var clip: TileClip
  private var parts = WKBParts()
  /// The line or ring that is being taken.
  private var ring: [SIMD2<Double>] = []

  private(set) var points: [SIMD2<Int32>] = []
  private(set) var lines: [SIMD2<Int32>] = []
  /// Where each of the lines begins.
  private(set) var lineStarts: [Int] = []
  private(set) var polygons = TilePolygons()

  init(on plane: TilePlane) {
    self.plane = plane
    box = plane.box
    clip = TileClip(box)
  }

  /// Whether something is left of the geometry.
  var isEmpty: Bool { points.isEmpty && lines.isEmpty && polygons.isEmpty }

  /// What became of a geometry. A geometry without a place on the grid counts as unreadable.
  enum Outcome { case shown, outside, unreadable }

  /// A point of the layer.
  @inline(__always)
  mutating func take(x: Double, y: Double) -> Outcome {
    removeAll()
    guard let position = plane.place(x: x, y: y) else { return .unreadable }
    guard box.contains(position) else { return .outside }
    points.append(TileSimplifier.rounded(position))
    return .shown
  }

  /// A geometry in well-known binary.
  mutating func take(wkb: RawSpan) -> Outcome {
    if let (x, y) = Self.point(wkb) { return x.isNaN && y.isNaN ? .outside : take(x: x, y: y) }
    removeAll()
    parts.removeAll()
    do throws(GeometryError) {
      try WKB.visitRuns(wkb, with: &parts)
      if parts.hasCurves {
        let bytes = WKB.bytes(of: try WKB.read(wkb).linearized())
        parts.removeAll()
        try WKB.visitRuns(bytes.span.bytes, with: &parts)
      }
    } catch { return .unreadable }
    guard let bounds = plane.place(&parts.positions) else { return .unreadable }
    guard box.touches(bounds) else { return .outside }
    let isInside = box.contains(bounds)
    takePoints()
    takeLines(isInside: isInside)
    takeRings(isInside: isInside)
    polygons.finish()
    return isEmpty ? .outside : .shown
  }

  private mutating func removeAll() {
    points.removeAll(keepingCapacity: true)
    lines.removeAll(keepingCapacity: true)
    lineStarts.removeAll(keepingCapacity: true)
    polygons.removeAll()
  }

  /// The position of a two-dimensional point in the machine's byte order, as most points are.
  @inline(__always)
  private static func point(_ wkb: RawSpan) -> (x: Double, y: Double)? {
    guard wkb.byteCount == 21,
      wkb.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == ByteOrder.native.rawValue,
      wkb.unsafeLoadUnaligned(fromByteOffset: 1, as: UInt32.self) == 1
    else { return nil }
    return (wkb.double(at: 5, .native), wkb.double(at: 13, .native))
  }

  private mutating func takePoints() {
    for part in parts.list where part.kind == .point {
      let position = parts.positions[part.start]
      guard box.contains(position) else { continue }
      let rounded = TileSimplifier.rounded(position)
      if points.last != rounded { points.append(rounded) }
    }
  }

  private mutating func takeLines(isInside: Bool) {
    for part in parts.list where part.kind == .line {
      let line = parts.positions[part.start..<part.start + part.count]
      if isInside {
        ring.removeAll(keepingCapacity: true)
        ring.append(contentsOf: line)
        add(line: ring)
      } else {
        // Taken out of `self`, because the parts go there meanwhile.
        var clip = TileClip(box)
        swap(&clip, &self.clip)
        clip.cut(line: line) { add(line: $0) }
        swap(&clip, &self.clip)
      }
    }
  }

  private mutating func add(line: [SIMD2<Double>]) {
    let start = lines.count
    if TileSimplifier.append(line: line, to: &lines) { lineStarts.append(start) }
  }

  private mutating func takeRings(isInside: Bool) {
    for (index, part) in parts.list.enumerated() where part.kind == .shell || part.kind == .hole {
      guard part.kind == .shell || polygons.isOpen else { continue }
      ring.removeAll(keepingCapacity: true)
      var bounds = TileBox.empty
      for place in part.start..<part.start + part.count {
        let position = parts.positions[place]
        ring.append(position)
        bounds.add(position)
      }
      if ring.count > 1, ring.first == ring.last { ring.removeLast() }
      if !isInside, !box.contains(bounds) {
        if box.touches(bounds) {
          let hasHoles = index + 1 < parts.list.count && parts.list[index + 1].kind == .hole
          if part.kind == .shell, !hasHoles, let rings = clip.parts(of: ring, within: bounds) {
            for ring in rings { polygons.add(ring, isShell: true) }
            continue
          }
          clip.cut(ring: &ring, within: bounds)
        } else {
          ring.removeAll(keepingCapacity: true)
        }
      }
      polygons.add(ring, isShell: part.kind == .shell)
    }
  }
}

/// The positions of one geometry with the parts that they make.
struct WKBParts: WKBRunVisitor {
  enum Kind { case point, line, shell, hole }

  struct Part {
    var kind: Kind
    var start: Int
    var count: Int
  }

  var positions: [SIMD2<Double>] = []
  private(set) var list: [Part] = []
  /// Whether a part is no line, but a curve or made of curves.
  private(set) var hasCurves = false
  private var isShell = false

  mutating func removeAll() {
    positions.removeAll(keepingCapacity: true)
    list.removeAll(keepingCapacity: true)
    hasCurves = false
  }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    isShell = true
    if type.isCurved { hasCurves = true }
  }

  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
  ) {
    let kind: Kind = isRing ? (isShell ? .shell : .hole) : header.type == .point ? .point : .line
    isShell = false
    list.append(Part(kind: kind, start: positions.count, count: count))
    let (step, order) = (8 * header.dimensions.count, header.byteOrder)
    positions.append(addingCapacity: count) { output in
      for index in 0..<count {
        output.append(
          SIMD2(run.double(at: index * step, order), run.double(at: index * step + 8, order)))
      }
    }
  }

  mutating func end(_ type: GeometryType) {}
}
