import FieldpackGeometry
import FuzzSupport

/// WKB, GeoPackage blobs and WKT: what is read comes back from every form that it is written in.
enum GeometryTargets {
  static let wkb: FuzzTarget = { input in
    let runs = failure { () throws(GeometryError) in
      var visitor = RunCounter()
      try WKB.visitRuns(input.span.bytes, with: &visitor)
    }
    let geometry: Geometry
    do throws(GeometryError) {
      geometry = try WKB.read(input)
    } catch {
      require((0...input.count).contains(error.offset), "an error beyond the input: \(error)")
      require(runs == error, "two walks, two errors: \(error), \(runs?.description ?? "none")")
      return
    }
    require(runs == nil, "only the walk by runs fails: \(runs?.description ?? "")")
    checkFacts(of: input, geometry)
    checkForms(of: geometry)
  }

  static let blob: FuzzTarget = { input in
    let span = input.span.bytes
    do throws(GeometryError) {
      let header = try GeoPackageBinary(span)
      let isPlain = !header.isExtended && !header.hasReservedFlags
      require(
        GeoPackageBinary.plainBodyOffset(of: span) == (isPlain ? header.bodyOffset : nil),
        "the short way finds another body")
      _ = try GeoPackageBinary.envelope(of: span)
      _ = try GeoPackageBinary.isEmpty(span)
      let geometry = try GeoPackageBinary.read(span)
      checkForms(of: geometry)
      try checkCopy(of: span, header, geometry)
    } catch {
      require((0...input.count).contains(error.offset), "an error beyond the input: \(error)")
    }
  }

  static let wkt: FuzzTarget = { input in
    do throws(GeometryError) {
      checkForms(of: try WKT.read(input.span.bytes))
    } catch {
      require((0...input.count).contains(error.offset), "an error beyond the input: \(error)")
    }
  }

  private struct RunCounter: WKBRunVisitor {
    mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
    mutating func positions(
      _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
    ) {
      require(run.byteCount == 8 * header.dimensions.count * count, "a run of another length")
    }
    mutating func end(_ type: GeometryType) {}
  }

  private static func failure(_ body: () throws(GeometryError) -> Void) -> GeometryError? {
    do throws(GeometryError) {
      try body()
      return nil
    } catch { return error }
  }

  // MARK: Properties

  /// What is told of a WKB without building anything is told of its geometry, too.
  private static func checkFacts(of input: [UInt8], _ geometry: Geometry) {
    requireNoError("a fact of a WKB that was read") { () throws(GeometryError) in
      let span = input.span.bytes
      require(try WKB.isEmpty(span) == geometry.isEmpty, "emptiness")
      require(try WKB.coordinateCount(span) == geometry.coordinateCount, "the number of positions")
      require(try WKB.envelope(of: span) == geometry.envelope, "the envelope")
    }
  }

  /// The blob made of a blob's WKB holds the same geometry.
  private static func checkCopy(
    of span: RawSpan, _ header: GeoPackageBinary, _ geometry: Geometry
  ) throws(GeometryError) {
    var copy: [UInt8] = []
    let envelope = try GeoPackageBinary.append(
      wkb: span.extracting(droppingFirst: header.bodyOffset), srsID: header.srsID, to: &copy,
      policy: .fixed(.xyzm))
    require(envelope == geometry.envelope, "the envelope of a copy")
    let back = try GeoPackageBinary(copy.span.bytes)
    require(back.srsID == header.srsID, "the srs_id of a copy")
    let read = try GeoPackageBinary.read(copy.span.bytes)
    require(WKB.bytes(of: read) == WKB.bytes(of: geometry), "the geometry of a copy")
  }

  /// WKB in each byte order and flavour, WKT and blob give the geometry back.
  private static func checkForms(of geometry: Geometry) {
    let iso = WKB.bytes(of: geometry)
    for order in ByteOrder.allCases {
      for flavour in [WKB.Flavour.iso, .ewkb(srid: nil), .ewkb(srid: 4326)] {
        let bytes = WKB.bytes(of: geometry, byteOrder: order, flavour: flavour)
        let back = requireNoError("WKB") { () throws(GeometryError) in try WKB.read(bytes) }
        require(WKB.bytes(of: back) == iso, "another geometry by \(flavour), \(order)")
      }
    }
    checkText(of: geometry, iso)
    checkBlob(of: geometry, iso)
    let straight = geometry.linearized(segmentsPerQuarter: 4)
    require(!straight.type.isCurved, "a curve stays: \(straight)")
  }

  private static func checkText(of geometry: Geometry, _ iso: [UInt8]) {
    let text = WKT.text(of: geometry)
    let back = requireNoError("WKT '\(text)'") { () throws(GeometryError) in try WKT.read(text) }
    require(WKT.text(of: back) == text, "WKT is read as another: \(text)")
    // Text has one NaN, WKB has many.
    require(text.contains("NaN") || WKB.bytes(of: back) == iso, "WKT loses something: \(text)")
    var walked: [UInt8] = []
    requireNoError("WKT of WKB") { () throws(GeometryError) in
      try WKT.append(wkb: iso.span.bytes, to: &walked)
    }
    require(walked == Array(text.utf8), "WKT of WKB differs: \(text)")
  }

  private static func checkBlob(of geometry: Geometry, _ iso: [UInt8]) {
    var (blob, copied): ([UInt8], [UInt8]) = ([], [])
    let policy = GeoPackageBinary.EnvelopePolicy.fixed(.xyzm)
    let envelope = GeoPackageBinary.append(geometry, srsID: 4326, to: &blob, policy: policy)
    requireNoError("a blob") { () throws(GeometryError) in
      try GeoPackageBinary.append(wkb: iso.span.bytes, srsID: 4326, to: &copied, policy: policy)
      require(blob == copied, "a blob of WKB differs from that of its geometry")
      require(try GeoPackageBinary.envelope(of: blob.span.bytes) == envelope, "the envelope")
      require(try GeoPackageBinary.isEmpty(blob.span.bytes) == geometry.isEmpty, "emptiness")
      let back = try GeoPackageBinary.read(blob.span.bytes)
      require(WKB.bytes(of: back) == iso, "another geometry by a blob")
    }
  }
}

extension GeometryType {
  fileprivate var isCurved: Bool {
    switch self {
    case .circularString, .compoundCurve, .curvePolygon, .multiCurve, .multiSurface: true
    default: false
    }
  }
}
