/// Well-known binary, placeholder until the reader lands.
public enum WKB {
  public static func read(_ span: RawSpan) throws(GeometryError) -> Geometry {
    throw GeometryError.placeholder
  }
}
public enum GeometryError: Error { case placeholder }
