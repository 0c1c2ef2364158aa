extension WKB {
  /// Visits one geometry without building it, and returns the offset behind it.
  ///
  /// - Complexity: O(bytes), no allocation.
  @inlinable @discardableResult
  public static func visit<Visitor: GeometryVisitor>(
    _ span: RawSpan, allowsTrailingBytes: Bool = false, with visitor: inout Visitor
  ) throws(GeometryError) -> Int {
    let end = try visitGeometry(in: span, at: 0, parent: nil, depth: 1, &visitor)
    guard allowsTrailingBytes || end == span.byteCount else {
      throw trailing(span.byteCount - end, at: end)
    }
    return end
  }

  @inlinable
  static func visitGeometry<Visitor: GeometryVisitor>(
    in span: RawSpan, at start: Int, parent: Header?, depth: Int, _ visitor: inout Visitor
  ) throws(GeometryError) -> Int {
    let header = try header(in: span, at: start, parent: parent, depth: depth)
    if header.type == .point { return try visitPoint(in: span, header, &visitor) }
    let count = try count(in: span, at: header.bodyOffset, header)
    var offset = header.bodyOffset + 4
    visitor.begin(header.type, header.dimensions, count: count)
    switch header.type {
    case .lineString, .circularString:
      offset = visitPositions(in: span, at: offset, count, header, &visitor)
    case .polygon, .triangle:
      for _ in 0..<count { offset = try visitRing(in: span, at: offset, header, &visitor) }
    default:
      for _ in 0..<count {
        offset = try visitGeometry(
          in: span, at: offset, parent: header, depth: depth + 1, &visitor)
      }
    }
    visitor.end(header.type)
    return offset
  }

  @inlinable
  static func visitPoint<Visitor: GeometryVisitor>(
    in span: RawSpan, _ header: Header, _ visitor: inout Visitor
  ) throws(GeometryError) -> Int {
    let end = header.bodyOffset + 8 * header.dimensions.count
    guard end <= span.byteCount else { throw cut(at: header.bodyOffset, "a point's position") }
    // WKB has no encoding for an EMPTY point: clause 2.1.3 of GeoPackage asks for NaN.
    let isEmpty =
      span.double(at: header.bodyOffset, header.byteOrder).isNaN
      && span.double(at: header.bodyOffset + 8, header.byteOrder).isNaN
    visitor.begin(.point, header.dimensions, count: isEmpty ? 0 : 1)
    if !isEmpty { _ = visitPositions(in: span, at: header.bodyOffset, 1, header, &visitor) }
    visitor.end(.point)
    return end
  }

  @inlinable
  static func visitRing<Visitor: GeometryVisitor>(
    in span: RawSpan, at offset: Int, _ header: Header, _ visitor: inout Visitor
  ) throws(GeometryError) -> Int {
    let size = 8 * header.dimensions.count
    let count = try count(in: span, at: offset, header.byteOrder, size, "positions")
    visitor.beginRing(count: count)
    let end = visitPositions(in: span, at: offset + 4, count, header, &visitor)
    visitor.endRing()
    return end
  }

  /// - Precondition: the bytes of `count` positions are present.
  @inlinable
  static func visitPositions<Visitor: GeometryVisitor>(
    in span: RawSpan, at start: Int, _ count: Int, _ header: Header, _ visitor: inout Visitor
  ) -> Int {
    let order = header.byteOrder
    let (hasZ, hasM) = (header.dimensions.hasZ, header.dimensions.hasM)
    let stride = 8 * header.dimensions.count
    var offset = start
    for _ in 0..<count {
      visitor.position(
        span.double(at: offset, order), span.double(at: offset + 8, order),
        hasZ ? span.double(at: offset + 16, order) : .nan,
        hasM ? span.double(at: offset + stride - 8, order) : .nan)
      offset += stride
    }
    return offset
  }
}

extension WKB {
  /// Reads the header at `start` and checks it against the geometry that contains it.
  @usableFromInline
  static func header(
    in span: RawSpan, at start: Int, parent: Header?, depth: Int
  ) throws(GeometryError) -> Header {
    guard depth <= maximumDepth else {
      throw GeometryError(
        .tooDeep, at: start, "geometries are nested more than \(maximumDepth) deep")
    }
    guard span.byteCount - start >= 5 else { throw cut(at: start, "a geometry's header") }
    guard let order = ByteOrder(rawValue: span.byte(at: start)) else {
      throw GeometryError(
        .unknownByteOrder, at: start,
        "byte order is \(span.byte(at: start)), not 0 (big-endian) or 1 (little-endian)")
    }
    let header = try header(
      span.uint32(at: start + 1, order), order, in: span, at: start)
    if let parent { try check(header, inside: parent, at: start) }
    return header
  }

  private static func header(
    _ code: UInt32, _ order: ByteOrder, in span: RawSpan, at start: Int
  ) throws(GeometryError) -> Header {
    let base = code & 0x1FFF_FFFF
    guard base < 4_000, let type = GeometryType(rawValue: base % 1_000), type.isConcrete else {
      throw GeometryError(.unknownType, at: start + 1, "geometry type \(base) is unknown")
    }
    let iso = base / 1_000
    let dimensions = Dimensions(
      hasZ: code & 0x8000_0000 != 0 || iso & 1 != 0, hasM: code & 0x4000_0000 != 0 || iso & 2 != 0)
    let hasSRID = code & 0x2000_0000 != 0
    guard !hasSRID || span.byteCount - start >= 9 else { throw cut(at: start + 5, "the SRID") }
    return Header(
      byteOrder: order, type: type, dimensions: dimensions, isExtended: base != code,
      srid: hasSRID ? Int32(bitPattern: span.uint32(at: start + 5, order)) : nil,
      bodyOffset: start + (hasSRID ? 9 : 5))
  }

  private static func check(
    _ header: Header, inside parent: Header, at start: Int
  ) throws(GeometryError) {
    guard parent.type.canHold(header.type) else {
      throw GeometryError(
        .wrongMember, at: start, "\(parent.type.name) cannot hold a \(header.type.name)")
    }
    guard parent.dimensions == header.dimensions else {
      throw GeometryError(
        .mixedDimensions, at: start,
        "\(header.type.name) has the dimensions \(header.dimensions.name) inside "
          + "\(parent.type.name) with \(parent.dimensions.name)")
    }
  }

  /// Reads the count at the start of a body; all its elements have to fit into the bytes left.
  @usableFromInline
  static func count(
    in span: RawSpan, at offset: Int, _ header: Header
  ) throws(GeometryError) -> Int {
    let position = 8 * header.dimensions.count
    switch header.type {
    case .lineString, .circularString:
      return try count(in: span, at: offset, header.byteOrder, position, "positions")
    case .polygon, .triangle:
      return try count(in: span, at: offset, header.byteOrder, 4, "rings")
    case .multiPoint:
      return try count(in: span, at: offset, header.byteOrder, 5 + position, "members")
    default:
      return try count(in: span, at: offset, header.byteOrder, 9, "members")
    }
  }

  @usableFromInline
  static func count(
    in span: RawSpan, at offset: Int, _ order: ByteOrder, _ elementSize: Int, _ what: String
  ) throws(GeometryError) -> Int {
    guard span.byteCount - offset >= 4 else { throw cut(at: offset, "the number of \(what)") }
    let count = Int(span.uint32(at: offset, order))
    guard count <= (span.byteCount - offset - 4) / elementSize else {
      throw GeometryError(
        .truncated, at: offset,
        "\(count) \(what) do not fit into the \(span.byteCount - offset - 4) bytes left")
    }
    return count
  }

  @usableFromInline
  static func cut(at offset: Int, _ what: String) -> GeometryError {
    GeometryError(.truncated, at: offset, "the bytes end before \(what)")
  }

  @usableFromInline
  static func trailing(_ count: Int, at offset: Int) -> GeometryError {
    GeometryError(
      .trailingBytes, at: offset, "\(count) bytes follow the geometry")
  }
}
