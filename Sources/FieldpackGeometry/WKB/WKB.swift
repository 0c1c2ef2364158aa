/// Well-known binary: ISO 13249-3 and PostGIS's EWKB, read in either byte order, mixed or not.
///
/// Nothing that is read is trusted: every count is checked against the bytes left before anything
/// is reserved, members must fit their parent in type and dimensions, and nesting ends at
/// ``maximumDepth``.
public enum WKB {
  /// Levels of nesting that are read; a geometry without members is one level.
  public static let maximumDepth = 32

  /// How Z, M and the SRID are told.
  public enum Flavour: Hashable, Sendable {
    /// ISO 13249-3: 1000, 2000 or 3000 is added to the type.
    case iso
    /// PostGIS's extended WKB: flags in the type's high bits, an SRID before the body if given.
    case ewkb(srid: Int32?)
  }

  /// What stands before the body of a geometry.
  public struct Header: Hashable, Sendable {
    public let byteOrder: ByteOrder
    public let type: GeometryType
    public let dimensions: Dimensions
    /// Whether the type carries any of EWKB's flags.
    public let isExtended: Bool
    /// EWKB's SRID; `nil` in ISO WKB.
    public let srid: Int32?
    /// Where the body begins: the count, or a point's first ordinate.
    public let bodyOffset: Int
  }

  /// Reads the type and dimensions and leaves the body alone.
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

  /// The smallest box around every position, with the ranges of Z and M where there are any.
  ///
  /// Nothing is built. `nil` where no position is left: EMPTY, or NaN in x or y throughout.
  public static func envelope(
    of span: RawSpan, allowsTrailingBytes: Bool = false
  ) throws(GeometryError) -> Envelope? {
    var visitor = EnvelopeVisitor()
    try visit(span, allowsTrailingBytes: allowsTrailingBytes, with: &visitor)
    return visitor.envelope
  }

  /// Whether there is no position at all; reads no more than it needs to know.
  public static func isEmpty(_ span: RawSpan) throws(GeometryError) -> Bool {
    let header = try header(of: span)
    if header.type != .point {
      let count = try count(in: span, at: header.bodyOffset, header)
      if count == 0 { return true }
      if header.type == .lineString || header.type == .circularString { return false }
    }
    return try coordinateCount(span) == 0
  }

  /// How many positions the geometry has.
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
    // Swapped in and out, so that the caller's buffer grows in place.
    swap(&writer.bytes, &bytes)
    geometry.visit(with: &writer)
    swap(&writer.bytes, &bytes)
  }

  /// The bytes of `geometry`.
  public static func bytes(
    of geometry: Geometry, byteOrder: ByteOrder = .little, flavour: Flavour = .iso
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    write(geometry, into: &bytes, byteOrder: byteOrder, flavour: flavour)
    return bytes
  }
}
