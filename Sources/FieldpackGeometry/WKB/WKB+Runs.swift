/// Receives the parts of a WKB in order. The positions of a point, a line or a ring come together,
/// as a run of the WKB's own bytes.
///
/// Like ``GeometryVisitor``, but with less work for each position.
@usableFromInline
package protocol WKBRunVisitor {
  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?)
  /// - Parameters:
  ///   - run: the positions, which are `8 * header.dimensions.count` bytes each.
  ///   - count: the number of positions, 1 for a point; an EMPTY point has no run.
  ///   - offset: the offset of the run in all the bytes.
  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool)
  mutating func end(_ type: GeometryType)
}

extension WKB {
  /// Visits one geometry run by run, with the checks of ``visit(_:allowsTrailingBytes:with:)``.
  @inlinable
  package static func visitRuns<Visitor: WKBRunVisitor>(
    _ span: RawSpan, with visitor: inout Visitor
  ) throws(GeometryError) {
    let end = try visitRuns(in: span, at: 0, parent: nil, depth: 1, &visitor)
    guard end == span.byteCount else { throw trailing(span.byteCount - end, at: end) }
  }

  @inlinable
  static func visitRuns<Visitor: WKBRunVisitor>(
    in span: RawSpan, at start: Int, parent: Header?, depth: Int, _ visitor: inout Visitor
  ) throws(GeometryError) -> Int {
    let header = try header(in: span, at: start, parent: parent, depth: depth)
    if header.type == .point { return try visitPointRun(in: span, header, &visitor) }
    let size = 8 * header.dimensions.count
    let count = try count(in: span, at: header.bodyOffset, header)
    var offset = header.bodyOffset + 4
    visitor.begin(header.type, header.dimensions, count: count)
    switch header.type {
    case .lineString, .circularString:
      let end = offset + count * size
      visitor.positions(
        span.extracting(offset..<end), count, header, at: offset, isRing: false)
      offset = end
    case .polygon, .triangle:
      for _ in 0..<count {
        let positions = try self.count(in: span, at: offset, header.byteOrder, size, "positions")
        let end = offset + 4 + positions * size
        visitor.positions(
          span.extracting(offset + 4..<end), positions, header, at: offset + 4, isRing: true)
        offset = end
      }
    default:
      for _ in 0..<count {
        offset = try visitRuns(in: span, at: offset, parent: header, depth: depth + 1, &visitor)
      }
    }
    visitor.end(header.type)
    return offset
  }

  @inlinable
  static func visitPointRun<Visitor: WKBRunVisitor>(
    in span: RawSpan, _ header: Header, _ visitor: inout Visitor
  ) throws(GeometryError) -> Int {
    let end = header.bodyOffset + 8 * header.dimensions.count
    guard end <= span.byteCount else { throw cut(at: header.bodyOffset, "a point's position") }
    let isEmpty =
      span.double(at: header.bodyOffset, header.byteOrder).isNaN
      && span.double(at: header.bodyOffset + 8, header.byteOrder).isNaN
    visitor.begin(.point, header.dimensions, count: isEmpty ? 0 : 1)
    if !isEmpty {
      visitor.positions(
        span.extracting(header.bodyOffset..<end), 1, header, at: header.bodyOffset, isRing: false)
    }
    visitor.end(.point)
    return end
  }
}
