import FieldpackGeometry

/// Writes geometries as GeoJSON: shells counterclockwise and holes clockwise (RFC 7946 section
/// 3.1.6), M dropped, no EMPTY members in Multi types and no EMPTY points in collections, which
/// have no form that every reader takes.
struct GeoJSONGeometryWriter: WKBRunVisitor, GeometryVisitor {
  var bytes: [UInt8] = []
  /// The envelope of the geometry written last, where it was asked for.
  private(set) var envelope: Envelope?
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
  /// The positions of a ``FieldpackGeometry/Geometry`` up to the end of their part, x y z.
  private var gathered: [Double] = []

  /// Whether y is written before x.
  private let swapsAxes: Bool

  init(decimals: Int?, swapsAxes: Bool = false) {
    (self.decimals, self.swapsAxes) = (decimals, swapsAxes)
  }

  // MARK: The main verbs

  /// Appends a WKB; curves are drawn with straight lines.
  mutating func write(_ wkb: RawSpan, measures: Bool = false) throws(GeometryError) {
    reset()
    let header = try WKB.header(of: wkb)
    if header.type == .point, appendPoint(wkb, header) {
      if measures { envelope = try WKB.envelope(of: wkb) }
      return
    }
    let start = bytes.count
    try WKB.visitRuns(wkb, with: &self)
    guard hasOtherTypes else {
      if measures { envelope = try WKB.envelope(of: wkb) }
      return
    }
    bytes.removeSubrange(start...)
    let straight = try WKB.read(wkb).linearized()
    write(straight)
    envelope = straight.envelope
  }

  mutating func write(_ geometry: Geometry) {
    reset()
    geometry.linearized().visit(with: &self)
  }

  private mutating func reset() {
    // Points need neither; to empty what is empty costs as much as to write one.
    if !frames.isEmpty { frames.removeAll(keepingCapacity: true) }
    if !gathered.isEmpty { gathered.removeAll(keepingCapacity: true) }
    envelope = nil
    (failure, isEmptyPoint, hasOtherTypes) = (nil, false, false)
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

  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
  ) {
    append(
      run, count, step: 8 * header.dimensions.count, header.byteOrder, isRing: isRing)
  }

  mutating func beginRing(count: Int?) {}

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    gathered.append(x)
    gathered.append(y)
    gathered.append(z)
  }

  mutating func endRing() { appendGathered(isRing: true) }

  mutating func end(_ type: GeometryType) {
    if !gathered.isEmpty { appendGathered(isRing: false) }
    guard let frame = frames.popLast(), !frame.isLeftOut else { return }
    if type != .point || frame.count == 0 { bytes.append(UInt8(ascii: "]")) }
    if frame.isObject { bytes.append(UInt8(ascii: "}")) }
  }

  private mutating func appendGathered(isRing: Bool) {
    let positions = gathered
    gathered.removeAll(keepingCapacity: true)
    append(positions.span.bytes, positions.count / 3, step: 24, .native, isRing: isRing)
  }

  // MARK: Positions

  /// Appends a point as the walk through it would; `false` where that has to tell what is wrong.
  private mutating func appendPoint(_ wkb: RawSpan, _ header: WKB.Header) -> Bool {
    guard wkb.byteCount == header.bodyOffset + 8 * header.dimensions.count else { return false }
    let (body, order) = (header.bodyOffset, header.byteOrder)
    var (x, y) = (wkb.double(at: body, order), wkb.double(at: body + 8, order))
    if swapsAxes { swap(&x, &y) }
    let z = header.dimensions.hasZ ? wkb.double(at: body + 16, order) : .nan
    guard x.isFinite, y.isFinite else { return false }
    let decimals = decimals
    bytes.appendRun(upTo: Self.positionRoom + 40) { text in
      text.append("{\"type\":\"Point\",\"coordinates\":")
      Self.append(x, y, z, decimals, to: &text)
      text.append(UInt8(ascii: "}"))
    }
    return true
  }

  private mutating func append(
    _ run: RawSpan, _ count: Int, step: Int, _ order: ByteOrder, isRing: Bool
  ) {
    guard isRing else {
      if let last = frames.indices.last { frames[last].count += count }
      return appendPositions(run, count, step: step, order, isReversed: false)
    }
    separate()
    let isShell = frames.last?.count == 1
    let area = Self.signedArea(run, count, step: step, order)
    bytes.append(UInt8(ascii: "["))
    appendPositions(run, count, step: step, order, isReversed: isShell ? area < 0 : area > 0)
    bytes.append(UInt8(ascii: "]"))
  }

  /// Twice the area of a ring, positive counterclockwise, relative to its first position.
  private static func signedArea(
    _ run: RawSpan, _ count: Int, step: Int, _ order: ByteOrder
  ) -> Double {
    guard count >= 3 else { return 0 }
    let (x0, y0) = (run.double(at: 0, order), run.double(at: 8, order))
    var (x, y) = (run.double(at: step, order) - x0, run.double(at: step + 8, order) - y0)
    var sum = 0.0
    for index in 2..<count {
      let nextX = run.double(at: index * step, order) - x0
      let nextY = run.double(at: index * step + 8, order) - y0
      sum += x * nextY - nextX * y
      (x, y) = (nextX, nextY)
    }
    return sum
  }

  /// Positions for which room is reserved at once.
  private static let runLength = 64
  private static let positionRoom = 3 * NumberText.room + 8

  private mutating func appendPositions(
    _ run: RawSpan, _ count: Int, step: Int, _ order: ByteOrder, isReversed: Bool
  ) {
    let (hasZ, decimals) = (hasZ, decimals)
    let (xAt, yAt) = swapsAxes ? (8, 0) : (0, 8)
    let (first, advance) = isReversed ? ((count - 1) * step, -step) : (0, step)
    var isFinite = true
    for start in stride(from: 0, to: count, by: Self.runLength) {
      let end = min(start + Self.runLength, count)
      bytes.appendRun(upTo: (end - start) * Self.positionRoom) { text in
        for index in start..<end {
          let offset = first + index * advance
          let (x, y) = (run.double(at: offset + xAt, order), run.double(at: offset + yAt, order))
          if index > 0 { text.append(UInt8(ascii: ",")) }
          let z = hasZ ? run.double(at: offset + 16, order) : .nan
          isFinite = Self.append(x, y, z, decimals, to: &text) && isFinite
        }
      }
    }
    if !isFinite { failure = "a coordinate is not finite" }
  }

  /// Appends a position, without a z that is not finite; `false` where x or y is not.
  @inline(__always) @discardableResult
  private static func append(
    _ x: Double, _ y: Double, _ z: Double, _ decimals: Int?, to text: inout TextRun
  ) -> Bool {
    text.append(UInt8(ascii: "["))
    let hasX = append(x, decimals, to: &text)
    text.append(UInt8(ascii: ","))
    let hasY = append(y, decimals, to: &text)
    if z.isFinite {
      text.append(UInt8(ascii: ","))
      append(z, decimals, to: &text)
    }
    text.append(UInt8(ascii: "]"))
    return hasX && hasY
  }

  @inline(__always) @discardableResult
  private static func append(_ value: Double, _ decimals: Int?, to text: inout TextRun) -> Bool {
    if let decimals { text.append(value, decimals: decimals) } else { text.append(value) }
  }

  private mutating func append(_ value: Double) {
    bytes.appendRun(upTo: NumberText.room) { Self.append(value, decimals, to: &$0) }
  }
}
