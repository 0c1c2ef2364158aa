import FieldpackGeometry

/// The form in which PostGIS takes and gives geometries: WKB with flags for Z and M in the type, and
/// the SRID in the first header (PostGIS's manual, 4.1.2 "WKB and WKT").
///
/// Where the two forms differ in the first header alone, the body is copied as it is.
enum EWKB {
  private static let sridFlag: UInt32 = 0x2000_0000

  /// Appends a WKB of the engine as EWKB with `srid`.
  ///
  /// On an error nothing is appended. What PostGIS would refuse, such as a ring that is not closed, is an
  /// error here, so that one row cannot end the load of all.
  /// - Parameters:
  ///   - srid: 0 stands for an unknown reference system, and is left out.
  ///   - asMulti: writes a single geometry as the only member of its Multi type.
  ///   - header: that of `wkb`.
  static func append(
    wkb: RawSpan, _ header: WKB.Header, srid: Int32, asMulti: Bool = false, to bytes: inout [UInt8]
  ) throws(EWKBMistake) {
    if header.type == .point, !asMulti, appendPoint(wkb, header, srid, to: &bytes) { return }
    var rules = PostGISRules()
    do throws(GeometryError) { try WKB.visitRuns(wkb, with: &rules) } catch {
      throw .geometry(error)
    }
    if let problem = rules.problem { throw .refused(problem) }
    if asMulti, let multi = header.type.multi {
      appendHead(header, srid, as: multi, to: &bytes)
      bytes.append(number: rules.isEmpty ? 0 : 1, header.byteOrder)
      guard !rules.isEmpty else { return }
      appendHead(header, 0, to: &bytes)
      append(wkb.extracting(droppingFirst: header.bodyOffset), to: &bytes)
    } else if header.isExtended || (header.type.hasMembers && header.dimensions != .xy) {
      try rewrite(wkb, .ewkb(srid: srid == 0 ? nil : srid), to: &bytes)
    } else {
      appendHead(header, srid, to: &bytes)
      append(wkb.extracting(droppingFirst: header.bodyOffset), to: &bytes)
    }
  }

  /// Appends a WKB of the engine as EWKB with `srid`.
  static func append(
    wkb: RawSpan, srid: Int32, asMulti: Bool = false, to bytes: inout [UInt8]
  ) throws(EWKBMistake) {
    let header: WKB.Header
    do throws(GeometryError) { header = try WKB.header(of: wkb) } catch { throw .geometry(error) }
    try append(wkb: wkb, header, srid: srid, asMulti: asMulti, to: &bytes)
  }

  /// Appends the WKB of a blob of a GeoPackage as EWKB with `srid`.
  static func append(
    blob: RawSpan, srid: Int32, to bytes: inout [UInt8]
  ) throws(EWKBMistake) {
    let header: GeoPackageBinary
    do throws(GeometryError) { header = try GeoPackageBinary(blob) } catch {
      throw .geometry(error)
    }
    guard !header.isExtended else {
      throw .refused("the blob has an encoding of its own and no WKB")
    }
    try append(
      wkb: blob.extracting(droppingFirst: header.bodyOffset), srid: srid, to: &bytes)
  }

  /// The EWKB of a geometry.
  static func bytes(
    of geometry: Geometry, srid: Int32
  ) throws(EWKBMistake) -> [UInt8] {
    let wkb = WKB.bytes(of: geometry)
    var bytes: [UInt8] = []
    try append(wkb: wkb.span.bytes, srid: srid, to: &bytes)
    return bytes
  }

  /// Appends an EWKB that PostGIS gave as WKB of the engine, and returns its SRID, 0 where it has none.
  ///
  /// Nothing of it is trusted: counts, nesting, types and what follows are checked as in any WKB. On an
  /// error nothing is appended.
  @discardableResult
  static func append(
    ewkb: RawSpan, asWKBTo bytes: inout [UInt8]
  ) throws(GeometryError) -> Int32 {
    let header = try WKB.header(of: ewkb)
    let size = header.bodyOffset + 8 * header.dimensions.count
    if header.type != .point || ewkb.byteCount != size {
      var nothing = NoVisitor()
      try WKB.visitRuns(ewkb, with: &nothing)
    }
    if header.isExtended, header.type.hasMembers, header.dimensions != .xy {
      var writer = WKBWriter()
      swap(&writer.bytes, &bytes)
      defer { swap(&writer.bytes, &bytes) }
      try WKB.visit(ewkb, with: &writer)
    } else if header.isExtended {
      bytes.append(header.byteOrder.rawValue)
      bytes.append(
        number: header.type.rawValue + 1_000 * UInt32(header.dimensions.rawValue), header.byteOrder)
      append(ewkb.extracting(droppingFirst: header.bodyOffset), to: &bytes)
    } else {
      append(ewkb, to: &bytes)
    }
    return header.srid ?? 0
  }

  // MARK: Parts

  /// Appends a point whose bytes are as many as they have to be; `false` for any other.
  private static func appendPoint(
    _ wkb: RawSpan, _ header: WKB.Header, _ srid: Int32, to bytes: inout [UInt8]
  ) -> Bool {
    let (head, length) = (srid == 0 ? 5 : 9, 8 * header.dimensions.count)
    guard wkb.byteCount == header.bodyOffset + length else { return false }
    let code = code(header, srid)
    let isLittle = header.byteOrder == .little
    wkb.withUnsafeBytes { wkb in
      bytes.append(addingCapacity: head + length) { output in
        output.withUnsafeMutableBufferPointer { buffer, count in
          let place = UnsafeMutableRawBufferPointer(buffer)
          place[0] = header.byteOrder.rawValue
          unsafe place.storeBytes(
            of: isLittle ? code.littleEndian : code.bigEndian, toByteOffset: 1, as: UInt32.self)
          if srid != 0 {
            unsafe place.storeBytes(
              of: isLittle ? srid.littleEndian : srid.bigEndian, toByteOffset: 5, as: Int32.self)
          }
          unsafe UnsafeMutableRawBufferPointer(rebasing: place[head...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: wkb[header.bodyOffset...]))
          count = head + length
        }
      }
    }
    return true
  }

  /// The type as EWKB tells it in a first header.
  private static func code(
    _ header: WKB.Header, _ srid: Int32, as type: GeometryType? = nil
  ) -> UInt32 {
    (type ?? header.type).rawValue | (header.dimensions.hasZ ? 0x8000_0000 : 0)
      | (header.dimensions.hasM ? 0x4000_0000 : 0) | (srid == 0 ? 0 : sridFlag)
  }

  private static func appendHead(
    _ header: WKB.Header, _ srid: Int32, as type: GeometryType? = nil, to bytes: inout [UInt8]
  ) {
    bytes.append(header.byteOrder.rawValue)
    bytes.append(number: code(header, srid, as: type), header.byteOrder)
    if srid != 0 { bytes.append(number: UInt32(bitPattern: srid), header.byteOrder) }
  }

  /// Writes every header anew.
  private static func rewrite(
    _ wkb: RawSpan, _ flavour: WKB.Flavour, to bytes: inout [UInt8]
  ) throws(EWKBMistake) {
    var writer = WKBWriter(flavour: flavour)
    let start = bytes.count
    swap(&writer.bytes, &bytes)
    defer { swap(&writer.bytes, &bytes) }
    do throws(GeometryError) { try WKB.visit(wkb, with: &writer) } catch {
      writer.bytes.removeLast(writer.bytes.count - start)
      throw .geometry(error)
    }
  }

  private static func append(_ part: RawSpan, to bytes: inout [UInt8]) {
    part.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }
}

/// Why a geometry cannot be sent to PostGIS.
enum EWKBMistake: Error, CustomStringConvertible {
  /// It is no WKB.
  case geometry(GeometryError)
  /// PostGIS does not take it, though it is one.
  case refused(String)

  var description: String {
    switch self {
    case .geometry(let error): error.description
    case .refused(let why): why
    }
  }
}

/// Checks a geometry and wants nothing of it.
private struct NoVisitor: WKBRunVisitor {
  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
  ) {}
  mutating func end(_ type: GeometryType) {}
}
