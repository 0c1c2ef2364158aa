public import FieldpackCore
public import FieldpackGeometry

extension Geometry {
  /// Reads one GeoJSON geometry object, from UTF-8.
  ///
  /// - Throws: `.invalidData` with the byte where the text is no geometry.
  public init(geoJSON bytes: [UInt8]) throws(FieldpackError) {
    var scanner = JSONScanner(bytes)
    do throws(FieldpackError) {
      try scanner.begin()
      _ = try scanner.peek()
      var parser = GeoJSONGeometryParser()
      try parser.parse(&scanner)
      guard try scanner.peek() == 0 else { throw scanner.unexpected("the end of the text") }
      guard let geometry = try parser.value(&scanner) else {
        throw scanner.failure("a geometry expected, not null", offset: 0)
      }
      self = geometry
    } catch {
      throw scanner.locate(error)
    }
  }

  /// Reads one GeoJSON geometry object.
  public init(geoJSON text: String) throws(FieldpackError) {
    try self.init(geoJSON: Array(text.utf8))
  }

  /// The GeoJSON object; curves are drawn with straight lines, M is dropped.
  ///
  /// - Parameter decimals: rounds to that many decimals at most.
  /// - Throws: `.invalidData` where a coordinate is not finite.
  public func geoJSON(decimals: Int? = nil) throws(FieldpackError) -> String {
    var writer = GeoJSONGeometryWriter(decimals: decimals)
    writer.write(self)
    if let failure = writer.failure {
      throw FieldpackError(.invalidData, "the geometry cannot be written: \(failure)")
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension GeoJSONGeometryParser {
  /// The geometry read last as a value; `nil` for null.
  mutating func value(_ scanner: inout JSONScanner) throws(FieldpackError) -> Geometry? {
    if let problem { throw scanner.failure(problem.message, offset: problem.offset) }
    guard type != nil else { return nil }
    let bytes = UnsafeRawBufferPointer(bytes(promoted: false))
    do throws(GeometryError) {
      return try WKB.read(bytes.bytes)
    } catch {
      throw FieldpackError(.invalidData, "\(error)", underlying: error)
    }
  }
}
