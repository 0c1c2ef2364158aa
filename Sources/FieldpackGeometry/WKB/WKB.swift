/// Well-known binary: ISO 13249-3 and PostGIS's EWKB, read in either byte order, also mixed.
///
/// No input is trusted: every count is checked against the bytes left before memory is reserved,
/// members must fit their parent in type and dimensions, and nesting is limited to
/// ``maximumDepth``.
public enum WKB {
  /// The levels of nesting that are read; a geometry without members has one level.
  public static let maximumDepth = 32

  /// How a WKB encodes Z, M and the SRID.
  public enum Flavour: Hashable, Sendable {
    /// ISO 13249-3: 1000, 2000 or 3000 is added to the type.
    case iso
    /// PostGIS's extended WKB: flags in the type's high bits, and the SRID, if given, before the
    /// body.
    case ewkb(srid: Int32?)
  }

  /// The header of a geometry, which stands before its body.
  public struct Header: Hashable, Sendable {
    public let byteOrder: ByteOrder
    public let type: GeometryType
    public let dimensions: Dimensions
    /// Whether the type carries any of EWKB's flags.
    public let isExtended: Bool
    /// EWKB's SRID; `nil` in ISO WKB.
    public let srid: Int32?
    /// The offset of the body, which begins with the count, or with a point's first ordinate.
    public let bodyOffset: Int
  }

  /// Reads the type and dimensions without the body.
  public static func header(of span: RawSpan) throws(GeometryError) -> Header {
    try header(in: span, at: 0, parent: nil, depth: 1)
  }

  /// EWKB's SRID; `nil` in ISO WKB.
  public static func srid(of span: RawSpan) throws(GeometryError) -> Int32? {
    try header(of: span).srid
  }

  /// Reads one geometry. A `POINT` whose x and y are NaN is `POINT EMPTY`.
  public static func read(
    _ span: RawSpan, allowsTrailingBytes: Bool = false
  ) throws(GeometryError) -> Geometry {
    var builder = GeometryBuilder()
    try visit(span, allowsTrailingBytes: allowsTrailingBytes, with: &builder)
    guard let geometry = builder.geometry else {
      throw GeometryError(.truncated, at: 0, "no geometry")
    }
    return geometry
  }

  /// Reads one geometry from an array.
  public static func read(_ bytes: [UInt8]) throws(GeometryError) -> Geometry {
    try read(bytes.span.bytes)
  }

  /// The smallest box around all positions, with the ranges of Z and M where there are any.
  ///
  /// Nothing is built. `nil` where no position counts: for EMPTY, or where every x or y is NaN.
  public static func envelope(
    of span: RawSpan, allowsTrailingBytes: Bool = false
  ) throws(GeometryError) -> Envelope? {
    var visitor = EnvelopeVisitor()
    try visit(span, allowsTrailingBytes: allowsTrailingBytes, with: &visitor)
    return visitor.envelope
  }

  /// Whether the geometry has no position; reads no more than needed.
  public static func isEmpty(_ span: RawSpan) throws(GeometryError) -> Bool {
    let header = try header(of: span)
    if header.type != .point {
      let count = try count(in: span, at: header.bodyOffset, header)
      if count == 0 { return true }
      if header.type == .lineString || header.type == .circularString { return false }
    }
    return try coordinateCount(span) == 0
  }

  /// The number of positions of the geometry.
  public static func coordinateCount(_ span: RawSpan) throws(GeometryError) -> Int {
    var visitor = PositionCounter()
    try visit(span, allowsTrailingBytes: true, with: &visitor)
    return visitor.count
  }

  /// Appends `geometry` to `bytes`.
  public static func write(
    _ geometry: Geometry, into bytes: inout [UInt8], byteOrder: ByteOrder = .little,
    flavour: Flavour = .iso
  ) {
    var writer = WKBWriter(byteOrder: byteOrder, flavour: flavour)
    // Swapping instead of copying lets the caller's buffer grow without a second buffer.
    swap(&writer.bytes, &bytes)
    geometry.visit(with: &writer)
    swap(&writer.bytes, &bytes)
  }

  /// The WKB of `geometry`.
  public static func bytes(
    of geometry: Geometry, byteOrder: ByteOrder = .little, flavour: Flavour = .iso
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    write(geometry, into: &bytes, byteOrder: byteOrder, flavour: flavour)
    return bytes
  }
}
