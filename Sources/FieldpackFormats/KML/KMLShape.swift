import FieldpackCore
import FieldpackGeometry

/// The geometry of a placemark as its elements come, and the WKB of it.
struct KMLShape: ~Copyable {
  enum Kind { case point, line, polygon, ring, collection }

  private struct Node {
    var kind: Kind
    /// Behind the last node that is part of this one.
    var end = 0
    var vertices = 0..<0
  }

  /// x, y, z, m for each vertex; NaN where there is none.
  private var vertices: [SIMD4<Double>] = []
  private var nodes: [Node] = []
  private var open: [Int] = []
  private static let maximumDepth = 32

  /// What the geometry is made of, rings apart.
  private(set) var hasPoints = false
  private(set) var hasLines = false
  private(set) var hasAreas = false

  var isEmpty: Bool { nodes.isEmpty }
  /// Whether a geometry has begun that has not ended.
  var isOpen: Bool { !open.isEmpty }
  /// The kind of the geometry that is open.
  var openKind: Kind? { open.last.map { nodes[$0].kind } }

  mutating func reset() {
    vertices.removeAll(keepingCapacity: vertices.count < 1 << 18)
    nodes.removeAll(keepingCapacity: nodes.count < 1 << 12)
    open.removeAll(keepingCapacity: true)
    (hasPoints, hasLines, hasAreas) = (false, false, false)
  }

  // MARK: Parts

  mutating func begin(_ kind: Kind) throws(FieldpackError) {
    guard open.count < Self.maximumDepth else {
      throw FieldpackError(
        .invalidData, "geometries nest deeper than \(Self.maximumDepth)")
    }
    open.append(nodes.count)
    nodes.append(Node(kind: kind, vertices: vertices.count..<vertices.count))
  }

  /// Ends the geometry begun last; one without a position is dropped, but for a line.
  mutating func end() {
    guard let index = open.popLast() else { return }
    nodes[index].end = nodes.count
    let isBare = nodes.count == index + 1 && nodes[index].vertices.isEmpty
    switch nodes[index].kind {
    case .line: hasLines = true
    case _ where isBare: nodes.removeLast()
    case .point: hasPoints = true
    case .polygon: hasAreas = true
    case .ring: closeRing(index)
    case .collection: break
    }
  }

  private mutating func closeRing(_ index: Int) {
    let range = nodes[index].vertices
    let (first, last) = (vertices[range.lowerBound], vertices[range.upperBound - 1])
    guard first.x != last.x || first.y != last.y else { return }
    vertices.append(first)
    nodes[index].vertices = range.lowerBound..<vertices.count
  }

  mutating func add(_ vertex: SIMD4<Double>) {
    guard let index = open.last else { return }
    switch nodes[index].kind {
    case .point where nodes[index].vertices.isEmpty: break
    case .line, .ring: break
    default: return
    }
    vertices.append(vertex)
    nodes[index].vertices = nodes[index].vertices.lowerBound..<vertices.count
  }

  // MARK: Text

  /// Adds the tuples of `coordinates`: longitude, latitude and perhaps altitude, with commas between.
  ///
  /// Blanks beside the commas, and a comma in the place of the blank between tuples of three, are
  /// found in real files and passed over.
  mutating func add(coordinates text: UnsafeBufferPointer<UInt8>) throws(FieldpackError) {
    var scan = Scan(text)
    while scan.skipToNumber() {
      let x = try scan.number()
      guard scan.skipComma() else { throw scan.failure("a latitude") }
      let y = try scan.number()
      let z = scan.skipComma() && scan.isAtNumber ? try scan.number() : .nan
      add(SIMD4(x, y, z, .nan))
      // What follows the one position of a point is passed over.
      if openKind == .point { return }
    }
  }

  /// Reads `gx:coord`: longitude, latitude and perhaps altitude, with blanks between.
  static func position(
    _ text: UnsafeBufferPointer<UInt8>
  ) throws(FieldpackError) -> SIMD4<Double>? {
    var scan = Scan(text)
    guard scan.skipToNumber() else { return nil }
    let x = try scan.number()
    guard scan.skipToNumber() else { throw scan.failure("a latitude") }
    let y = try scan.number()
    return SIMD4(x, y, scan.skipToNumber() ? try scan.number() : .nan, .nan)
  }

  private struct Scan {
    let text: UnsafeBufferPointer<UInt8>
    var next = 0

    init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    private mutating func skipBlanks() {
      while next < text.count, text[next] <= 0x20 { next += 1 }
    }

    private var isAtComma: Bool { next < text.count && text[next] == UInt8(ascii: ",") }

    /// Passes over blanks and commas; false at the end.
    mutating func skipToNumber() -> Bool {
      while next < text.count, text[next] <= 0x20 || isAtComma { next += 1 }
      return next < text.count
    }

    /// Passes over one comma with the blanks beside it.
    mutating func skipComma() -> Bool {
      skipBlanks()
      guard isAtComma else { return false }
      next += 1
      skipBlanks()
      return true
    }

    var isAtNumber: Bool { next < text.count && !isAtComma }

    mutating func number() throws(FieldpackError) -> Double {
      let span = UnsafeRawBufferPointer(text).bytes
      if let (value, end) = NumberText.read(span, at: next), isEnd(end), value.isFinite {
        next = end
        return value
      }
      let start = next
      while !isEnd(next) { next += 1 }
      let token = UnsafeBufferPointer(rebasing: text[start..<next])
      guard let value = NumberParser.double(token), value.isFinite else {
        next = start
        throw failure("a number")
      }
      return value
    }

    private func isEnd(_ index: Int) -> Bool {
      index >= text.count || text[index] <= 0x20 || text[index] == UInt8(ascii: ",")
    }

    func failure(_ wanted: String) -> FieldpackError {
      let rest = String(decoding: text[min(next, text.count)...].prefix(20), as: UTF8.self)
      let found = rest.isEmpty ? "the end" : "'\(rest)'"
      return FieldpackError(.invalidData, "the coordinates have \(found) in the place of \(wanted)")
    }
  }

  // MARK: Results

  /// Z where a vertex has it, since an altitude that is not there is 0; M where every vertex has it.
  var dimensions: Dimensions {
    Dimensions(
      hasZ: vertices.contains { !$0.z.isNaN },
      hasM: !vertices.isEmpty && vertices.allSatisfy { !$0.w.isNaN })
  }

  /// The box around the vertices; `nil` without one.
  func envelope(_ dimensions: Dimensions) -> Envelope? {
    guard var low = vertices.first else { return nil }
    if low.z.isNaN { low.z = 0 }
    var high = low
    for var vertex in vertices {
      if vertex.z.isNaN { vertex.z = 0 }
      low.replace(with: vertex, where: vertex .< low)
      high.replace(with: vertex, where: vertex .> high)
    }
    var box = Envelope(minX: low.x, minY: low.y, maxX: high.x, maxY: high.y)
    if dimensions.hasZ { box.z = low.z...high.z }
    if dimensions.hasM { box.m = low.w...high.w }
    return box
  }

  /// The one point that the geometry is.
  var point: SIMD4<Double>? {
    nodes.count == 1 && nodes[0].kind == .point ? vertices.first : nil
  }

  /// The type of the geometry; `nil` where there is none.
  var type: GeometryType? {
    guard let first = nodes.first else { return nil }
    return first.end == nodes.count ? type(of: 0) : collectionType(0..<nodes.count)
  }

  private func type(of index: Int) -> GeometryType {
    switch nodes[index].kind {
    case .point: .point
    case .line, .ring: .lineString
    case .polygon: .polygon
    case .collection: collectionType(index + 1..<nodes[index].end)
    }
  }

  /// The narrowest type that holds the geometries at `range`.
  private func collectionType(_ range: Range<Int>) -> GeometryType {
    var found: GeometryType?
    for index in members(range) {
      let type = type(of: index)
      if found == nil { found = type }
      guard found == type, [.point, .lineString, .polygon].contains(type) else {
        return .geometryCollection
      }
    }
    return found?.multi ?? .geometryCollection
  }

  private func members(_ range: Range<Int>) -> [Int] {
    var found: [Int] = []
    var index = range.lowerBound
    while index < range.upperBound {
      found.append(index)
      index = max(nodes[index].end, index + 1)
    }
    return found
  }

  /// - Parameter isPromoted: whether a single geometry is written as the only member of its multi type.
  func appendWKB(_ dimensions: Dimensions, isPromoted: Bool, to bytes: inout [UInt8]) {
    guard let type, let first = nodes.first else { return }
    var writer = WKBWriter()
    swap(&writer.bytes, &bytes)
    if isPromoted, let multi = type.multi {
      writer.begin(multi, dimensions)
      write(0, dimensions, to: &writer)
      writer.end(multi)
    } else if first.end == nodes.count {
      write(0, dimensions, to: &writer)
    } else {
      writer.begin(type, dimensions)
      for index in members(0..<nodes.count) { write(index, dimensions, to: &writer) }
      writer.end(type)
    }
    swap(&writer.bytes, &bytes)
  }

  private func write(_ index: Int, _ dimensions: Dimensions, to writer: inout WKBWriter) {
    let node = nodes[index]
    let type = type(of: index)
    writer.begin(type, dimensions)
    switch node.kind {
    case .point, .line, .ring: write(node.vertices, to: &writer)
    case .polygon:
      for ring in index + 1..<node.end {
        writer.beginRing()
        write(nodes[ring].vertices, to: &writer)
        writer.endRing()
      }
    case .collection:
      for member in members(index + 1..<node.end) { write(member, dimensions, to: &writer) }
    }
    writer.end(type)
  }

  private func write(_ range: Range<Int>, to writer: inout WKBWriter) {
    for index in range {
      let vertex = vertices[index]
      writer.position(vertex.x, vertex.y, vertex.z.isNaN ? 0 : vertex.z, vertex.w)
    }
  }
}
