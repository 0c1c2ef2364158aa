/// Well-known text of Simple Features: ISO's with the tags Z, M and ZM; PostGIS's EWKT is read too.
///
/// Names are read in upper and lower case. `POINT Z (1 2 3)`, `POINTZ(1 2 3)` and `POINT(1 2 3)`
/// are the same geometry: without a tag the first position decides the dimensions, and three
/// ordinates are x, y and z. `MULTIPOINT` is read with and without inner parentheses. `SRID=n;` may
/// stand in front. `NaN` and `Infinity` are numbers, so that every WKB can be written as WKT.
public enum WKT {
  /// Reads one geometry. Nesting is limited to ``WKB/maximumDepth``.
  public static func read(_ text: some StringProtocol) throws(GeometryError) -> Geometry {
    let bytes = Array(text.utf8)
    return try read(bytes.span.bytes)
  }

  /// Reads one geometry from UTF-8.
  public static func read(_ text: RawSpan) throws(GeometryError) -> Geometry {
    var builder = GeometryBuilder()
    try visit(text, with: &builder)
    guard let geometry = builder.geometry else {
      throw GeometryError(.syntax, at: 0, "expected a geometry")
    }
    return geometry
  }

  /// Visits one geometry without building it; with a ``WKBWriter`` as visitor, text becomes WKB.
  ///
  /// - Returns: the SRID of EWKT, if given.
  @discardableResult
  public static func visit(
    _ text: RawSpan, with visitor: inout some GeometryVisitor
  ) throws(GeometryError) -> Int32? {
    var reader = WKTReader()
    return try reader.read(text, &visitor)
  }

  /// The text of `geometry`, such as `LINESTRING Z (1 2 3,4 5 6)`, numbers in shortest form.
  ///
  /// - Parameter decimals: rounds to that many decimals at most.
  public static func text(of geometry: Geometry, decimals: Int? = nil) -> String {
    var writer = WKTWriter(decimals: decimals)
    geometry.visit(with: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Appends the text of a WKB without building a geometry. On an error nothing is appended.
  public static func append(
    wkb: RawSpan, to text: inout [UInt8], decimals: Int? = nil
  ) throws(GeometryError) {
    var writer = WKTWriter(decimals: decimals)
    let start = text.count
    swap(&writer.bytes, &text)
    do {
      try WKB.visit(wkb, with: &writer)
      swap(&writer.bytes, &text)
    } catch {
      swap(&writer.bytes, &text)
      text.removeSubrange(start...)
      throw error
    }
  }
}

extension Geometry: CustomStringConvertible {
  /// The geometry's WKT.
  public var description: String { WKT.text(of: self) }
}
