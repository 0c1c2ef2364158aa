import FieldpackCore
import FieldpackGeometry

/// One shape taken apart: where its ordinates lie in the record, and what geometry they make.
///
/// The storage of parts is kept from one shape to the next.
struct ShapeRecord {
  /// The type of the geometry; `nil` for a null shape and one without positions.
  private(set) var type: GeometryType?
  private(set) var dimensions = Dimensions.xy
  /// The box of all positions; `nil` where every one has NaN, and where it is not measured.
  private(set) var envelope: Envelope?

  /// The positions of each line, ring or point.
  var parts: [Range<Int>] = []
  /// For polygons: the parts in the order in which they are rings, and where each polygon ends in it.
  var rings: [Int] = []
  var polygonEnds: [Int] = []
  /// For triangles of a fan: the third position of a part.
  fileprivate var apexes: [Int: Int] = [:]
  private var xy = 0
  private var z = 0
  private var m = 0
  /// Whether the box is found.
  private let isMeasured: Bool

  init(isMeasured: Bool = true) { self.isMeasured = isMeasured }

  // MARK: Reading

  /// Takes a record's content apart.
  ///
  /// - Throws: `.invalidData` where the content is cut or its counts do not fit.
  mutating func read(_ content: UnsafeRawBufferPointer) throws(FieldpackError) {
    (type, envelope, dimensions) = (nil, nil, .xy)
    parts.removeAll(keepingCapacity: true)
    rings.removeAll(keepingCapacity: true)
    polygonEnds.removeAll(keepingCapacity: true)
    if !apexes.isEmpty { apexes.removeAll() }
    let code = content.little(0, as: Int32.self)
    guard let kind = ShapeKind(rawValue: code) else {
      throw Self.broken("the shape has type \(code), which there is not")
    }
    switch kind {
    case .null: return
    case .point, .pointM, .pointZ: try readPoint(content, kind)
    case .multiPoint, .multiPointM, .multiPointZ: try readMultiPoint(content, kind)
    default: try readParts(content, kind)
    }
  }

  private static func broken(_ message: String) -> FieldpackError {
    FieldpackError(.invalidData, message)
  }

  private mutating func readPoint(
    _ content: UnsafeRawBufferPointer, _ kind: ShapeKind
  ) throws(FieldpackError) {
    let needed = kind == .point ? 20 : 28
    guard content.count >= needed else { throw Self.broken("the point is cut") }
    (xy, z, m) = (4, 20, kind.hasZ ? 28 : 20)
    setDimensions(content, kind, count: 1)
    let (x, y) = (content.double(4), content.double(12))
    // ArcGIS writes the least of all numbers for a point that is empty.
    guard x > -1e38, y > -1e38 else { return }
    parts.append(0..<1)
    envelope = Envelope(minX: x, minY: y, maxX: x, maxY: y)
    type = .point
  }

  private mutating func readMultiPoint(
    _ content: UnsafeRawBufferPointer, _ kind: ShapeKind
  ) throws(FieldpackError) {
    guard content.count >= 40 else { throw Self.broken("the shape is cut") }
    let count = try place(content, kind, count: content.little(36, as: UInt32.self), at: 40)
    guard count > 0 else { return }
    parts.append(0..<count)
    type = .multiPoint
  }

  private mutating func readParts(
    _ content: UnsafeRawBufferPointer, _ kind: ShapeKind
  ) throws(FieldpackError) {
    guard content.count >= 44 else { throw Self.broken("the shape is cut") }
    let partCount = Int(content.little(36, as: UInt32.self))
    let partSize = kind == .multiPatch ? 8 : 4
    guard partCount <= (content.count - 44) / partSize else {
      throw Self.broken("the shape says it has \(partCount) parts, which do not fit into it")
    }
    let count = try place(
      content, kind, count: content.little(40, as: UInt32.self), at: 44 + partSize * partCount)
    guard count > 0 else { return }
    guard partCount > 0 else { throw Self.broken("the shape has positions and no part") }
    var start = Int(content.little(44, as: UInt32.self))
    for part in 1...partCount {
      let end = part == partCount ? count : Int(content.little(44 + 4 * part, as: UInt32.self))
      guard start <= end, end <= count else {
        throw Self.broken("part \(part) of the shape begins behind its end")
      }
      if start < end || kind == .multiPatch { parts.append(start..<end) }
      start = end
    }
    switch kind {
    case .polygon, .polygonM, .polygonZ: try arrangeRings(content)
    case .multiPatch: try arrangePatches(content, typesAt: 44 + 4 * partCount)
    default: type = parts.count > 1 ? .multiLineString : .lineString
    }
  }

  /// Finds the ordinates of `count` positions that begin at `offset`.
  private mutating func place(
    _ content: UnsafeRawBufferPointer, _ kind: ShapeKind, count: UInt32, at offset: Int
  ) throws(FieldpackError) -> Int {
    let count = Int(count)
    let size = kind.hasZ ? 24 : 16
    guard count <= (content.count - offset - (kind.hasZ && count > 0 ? 16 : 0)) / size else {
      throw Self.broken("the shape says it has \(count) positions, which do not fit into it")
    }
    xy = offset
    z = xy + 16 * count + 16
    m = kind.hasZ ? z + 8 * count + 16 : z
    setDimensions(content, kind, count: count)
    if isMeasured { measure(content, count) }
    return count
  }

  /// Measures may be left out, and one below -10^38 is none (page 2 of the description).
  private mutating func setDimensions(
    _ content: UnsafeRawBufferPointer, _ kind: ShapeKind, count: Int
  ) {
    let hasM =
      kind.mayHaveM && count > 0 && content.count >= m + 8 * count
      && (0..<count).contains { content.double(m + 8 * $0) > -1e38 }
    dimensions = Dimensions(hasZ: kind.hasZ, hasM: hasM)
  }

  private mutating func measure(_ content: UnsafeRawBufferPointer, _ count: Int) {
    var box = Envelope.empty
    box.extend(positions: UnsafeRawBufferPointer(rebasing: content[xy..<xy + 16 * count]))
    envelope = box.isEmpty ? nil : box
  }

  private mutating func arrangeRings(_ content: UnsafeRawBufferPointer) throws(FieldpackError) {
    if parts.count == 1 {
      rings.append(0)
      polygonEnds.append(1)
    } else {
      let start = xy
      var order = RingOrder(parts) {
        (content.double(start + 16 * $0), content.double(start + 16 * $0 + 8))
      }
      try order.arrange(&rings, &polygonEnds)
    }
    type = polygonEnds.count > 1 ? .multiPolygon : .polygon
  }

  // MARK: Writing

  /// The position of a point.
  func point(_ content: UnsafeRawBufferPointer) -> (x: Double, y: Double, z: Double, m: Double) {
    (
      content.double(xy), content.double(xy + 8), dimensions.hasZ ? content.double(z) : .nan,
      dimensions.hasM ? content.double(m) : .nan
    )
  }

  /// Appends the geometry as WKB; in a collection of one where the column asks for that.
  func append(
    _ content: UnsafeRawBufferPointer, isMulti: Bool, to bytes: inout GrowingBytes
  ) {
    guard let type else { return }
    let needed = content.count + 16 * parts.count + 32 * polygonEnds.count + 64
    let heads = type == .multiPoint ? 5 * parts[0].count : 0
    bytes.reserve(needed + heads)
    if isMulti, let multi = type.multi {
      appendHead(multi, count: 1, to: &bytes)
    }
    switch type {
    case .point:
      appendHead(.point, count: nil, to: &bytes)
      appendPositions(0..<1, content, to: &bytes)
    case .multiPoint:
      appendHead(type, count: parts[0].count, to: &bytes)
      for position in parts[0] {
        appendHead(.point, count: nil, to: &bytes)
        appendPositions(position..<position + 1, content, to: &bytes)
      }
    case .lineString: appendLine(parts[0], content, to: &bytes)
    case .multiLineString:
      appendHead(type, count: parts.count, to: &bytes)
      for part in parts { appendLine(part, content, to: &bytes) }
    default:
      if type == .multiPolygon { appendHead(type, count: polygonEnds.count, to: &bytes) }
      var start = 0
      for end in polygonEnds {
        appendHead(.polygon, count: end - start, to: &bytes)
        for ring in start..<end { appendRing(rings[ring], content, to: &bytes) }
        start = end
      }
    }
  }

  private func appendLine(
    _ part: Range<Int>, _ content: UnsafeRawBufferPointer, to bytes: inout GrowingBytes
  ) {
    appendHead(.lineString, count: part.count, to: &bytes)
    appendPositions(part, content, to: &bytes)
  }

  /// A ring that does not end where it begins is closed, as WKB has to be.
  private func appendRing(
    _ ring: Int, _ content: UnsafeRawBufferPointer, to bytes: inout GrowingBytes
  ) {
    let part = parts[ring]
    let apex = apexes[ring].map { $0..<$0 + 1 } ?? 0..<0
    let (first, last) = (xy + 16 * part.lowerBound, xy + 16 * (part.upperBound - 1))
    let isClosed =
      content.double(first) == content.double(last)
      && content.double(first + 8) == content.double(last + 8)
    append(UInt32(part.count + apex.count + (isClosed ? 0 : 1)), to: &bytes)
    appendPositions(part, content, to: &bytes)
    appendPositions(apex, content, to: &bytes)
    if !isClosed { appendPositions(part.lowerBound..<part.lowerBound + 1, content, to: &bytes) }
  }

  private func appendHead(_ type: GeometryType, count: Int?, to bytes: inout GrowingBytes) {
    bytes.append(ByteOrder.little.rawValue)
    append(type.rawValue + 1000 * UInt32(dimensions.rawValue), to: &bytes)
    if let count { append(UInt32(count), to: &bytes) }
  }

  private func append(_ number: UInt32, to bytes: inout GrowingBytes) {
    bytes.append(raw: number.littleEndian)
  }

  /// The ordinates are little-endian on both sides.
  private func appendPositions(
    _ part: Range<Int>, _ content: UnsafeRawBufferPointer, to bytes: inout GrowingBytes
  ) {
    if dimensions == .xy {
      let range = xy + 16 * part.lowerBound..<xy + 16 * part.upperBound
      bytes.append(copyOf: content[range])
      return
    }
    for index in part {
      let position = xy + 16 * index
      bytes.append(copyOf: content[position..<position + 16])
      if dimensions.hasZ { append(content.double(z + 8 * index), to: &bytes) }
      if dimensions.hasM {
        let measure = content.double(m + 8 * index)
        append(measure > -1e38 ? measure : .nan, to: &bytes)
      }
    }
  }

  private func append(_ ordinate: Double, to bytes: inout GrowingBytes) {
    bytes.append(raw: ordinate.bitPattern.littleEndian)
  }
}

extension ShapeRecord {
  /// How the parts of a MultiPatch make faces, by their codes (page 20 of the description).
  private enum Patch: Int32 {
    case strip = 0
    case fan = 1
    case outerRing = 2
    case innerRing = 3
    case firstRing = 4
    case ring = 5
  }

  /// Gathers the faces of a MultiPatch as polygons: the triangles of strips and fans, and rings as
  /// they are.
  fileprivate mutating func arrangePatches(
    _ content: UnsafeRawBufferPointer, typesAt offset: Int
  ) throws(FieldpackError) {
    for part in parts.indices where !parts[part].isEmpty {
      let code = content.little(offset + 4 * part, as: Int32.self)
      switch Patch(rawValue: code) {
      case .strip: addTriangles(parts[part])
      case .fan: addFan(parts[part])
      case .outerRing, .firstRing: add(ring: part, isOuter: true)
      case .innerRing, .ring: add(ring: part, isOuter: polygonEnds.isEmpty)
      case nil: throw FieldpackError(.invalidData, "the MultiPatch has a part of type \(code)")
      }
    }
    type = polygonEnds.isEmpty ? nil : .multiPolygon
  }

  /// Every three positions in a row are a triangle.
  private mutating func addTriangles(_ strip: Range<Int>) {
    for first in strip.dropLast(2) {
      parts.append(first..<first + 3)
      add(ring: parts.count - 1, isOuter: true)
    }
  }

  /// Every two positions in a row are a triangle with the first one.
  private mutating func addFan(_ fan: Range<Int>) {
    for second in fan.dropFirst().dropLast() {
      apexes[parts.count] = fan.lowerBound
      parts.append(second..<second + 2)
      add(ring: parts.count - 1, isOuter: true)
    }
  }

  private mutating func add(ring: Int, isOuter: Bool) {
    rings.append(ring)
    if isOuter { polygonEnds.append(rings.count) } else { polygonEnds[polygonEnds.count - 1] += 1 }
  }
}
