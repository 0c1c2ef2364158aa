import CGEOS
public import FieldpackGeometry

/// A GEOS context with its reader and writer; every connection or task has its own.
///
/// Confined to one task at a time, together with every geometry read through it. Contexts share no
/// state, so two of them may work at the same time.
public final class TopologyContext {
  let handle: OpaquePointer
  private let reader: OpaquePointer
  private let writer: OpaquePointer
  private let log = GEOSMessageLog()
  var proof = ValidityProof()

  /// - Throws: ``TopologyError/Kind/unavailable`` where memory is exhausted.
  public init() throws(TopologyError) {
    guard let handle = GEOS_init_r() else {
      throw TopologyError(.unavailable, "GEOS cannot make a context: out of memory")
    }
    guard let reader = GEOSWKBReader_create_r(handle), let writer = GEOSWKBWriter_create_r(handle)
    else {
      GEOS_finish_r(handle)
      throw TopologyError(.unavailable, "GEOS cannot make a reader and a writer: out of memory")
    }
    self.handle = handle
    self.reader = reader
    self.writer = writer
    GEOSWKBWriter_setFlavor_r(handle, writer, Int32(GEOS_WKB_ISO.rawValue))
    GEOSWKBWriter_setByteOrder_r(handle, writer, Int32(GEOS_WKB_NDR.rawValue))
    GEOSWKBWriter_setOutputDimension_r(handle, writer, 3)
    _ = GEOSContext_setErrorMessageHandler_r(
      handle,
      { message, log in
        guard let message, let log else { return }
        Unmanaged<GEOSMessageLog>.fromOpaque(log).takeUnretainedValue().last = String(
          cString: message)
      }, Unmanaged.passUnretained(log).toOpaque())
  }

  deinit {
    GEOSWKBWriter_destroy_r(handle, writer)
    GEOSWKBReader_destroy_r(handle, reader)
    GEOS_finish_r(handle)
  }

  /// Reads one geometry in well-known binary, ISO or EWKB.
  ///
  /// Curves are linearised, m is dropped, `POLYHEDRALSURFACE` and `TIN` become `MULTIPOLYGON` and
  /// `TRIANGLE` becomes `POLYGON`, because GEOS does not have these types.
  /// - Throws: ``TopologyError/Kind/invalidGeometry``, ``TopologyError/Kind/notFinite``.
  public func read(wkb: RawSpan) throws(TopologyError) -> TopologyGeometry {
    TopologyGeometry(try makeGeometry(wkb), in: self)
  }

  /// Reads one geometry from an array.
  public func read(wkb: [UInt8]) throws(TopologyError) -> TopologyGeometry {
    try read(wkb: wkb.span.bytes)
  }

  /// Converts `geometry` for GEOS as ``read(wkb:)-(RawSpan)`` does.
  public func read(_ geometry: Geometry) throws(TopologyError) -> TopologyGeometry {
    try read(wkb: WKB.bytes(of: geometry))
  }

  /// The error for the GEOS call that has just failed.
  func failure(_ what: String, _ kind: TopologyError.Kind = .failed) -> TopologyError {
    defer { log.last = nil }
    return TopologyError(kind, "\(what): \(log.last ?? "GEOS gave no reason")")
  }
}

private final class GEOSMessageLog {
  var last: String?
}

extension TopologyContext {
  /// A GEOS geometry, which the caller has to destroy.
  ///
  /// The bytes are checked first, because GEOS trusts the depth and overflows the stack, and on NaN
  /// and infinity it hangs or fails late.
  func makeGeometry(_ wkb: RawSpan) throws(TopologyError) -> OpaquePointer {
    var check = InputCheck()
    try self.check(wkb, with: &check)
    return try makeGeometry(wkb, check)
  }

  func check(_ wkb: RawSpan, with check: inout InputCheck) throws(TopologyError) {
    do throws(GeometryError) {
      try WKB.visit(wkb, with: &check)
    } catch {
      throw TopologyError(.invalidGeometry, "the geometry is damaged: \(error)")
    }
    guard check.isFinite else {
      throw TopologyError(
        .notFinite, "the geometry has a coordinate that is infinite or not a number")
    }
  }

  /// A GEOS geometry of bytes that `check` has visited.
  func makeGeometry(
    _ wkb: RawSpan, _ check: InputCheck
  ) throws(TopologyError) -> OpaquePointer {
    if let x = check.pointX, let y = check.pointY {
      guard let point = GEOSGeom_createPointFromXY_r(handle, x, y) else {
        throw failure("GEOS cannot make a point")
      }
      return point
    }
    return check.needsConversion ? try makeConverted(wkb) : try makeAsItIs(wkb)
  }

  private func makeAsItIs(_ wkb: RawSpan) throws(TopologyError) -> OpaquePointer {
    let made = wkb.withUnsafeBytes { bytes in
      GEOSWKBReader_read_r(
        handle, reader, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
    guard let made else {
      throw failure("GEOS cannot take the geometry", .invalidGeometry)
    }
    return made
  }

  private func makeConverted(_ wkb: RawSpan) throws(TopologyError) -> OpaquePointer {
    let geometry: Geometry
    do throws(GeometryError) {
      geometry = try WKB.read(wkb)
    } catch {
      throw TopologyError(.invalidGeometry, "the geometry is damaged: \(error)")
    }
    let simple = geometry.linearized().withoutEmptyMembers()
    let dimensions = Dimensions(hasZ: simple.dimensions.hasZ, hasM: false)
    return try makeAsItIs(WKB.bytes(of: simple.converted(to: dimensions)).span.bytes)
  }

  /// The ISO WKB of a GEOS geometry, little-endian.
  func bytes(of geometry: OpaquePointer) throws(TopologyError) -> [UInt8] {
    var size = 0
    guard let bytes = GEOSWKBWriter_write_r(handle, writer, geometry, &size) else {
      throw failure("GEOS cannot write the geometry")
    }
    defer { GEOSFree_r(handle, bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: size))
  }
}

/// Checks a well-known binary for what GEOS must not get, and for what makes calling GEOS
/// unnecessary.
struct InputCheck: GeometryVisitor {
  /// The grid of the geometry to which the visited one is related.
  var sides: SideGrid?
  /// Whether a position lies inside the other geometry.
  private(set) var hasInside = false
  private(set) var hasOutside = false
  private(set) var isFinite = true
  private(set) var needsConversion = false
  /// The point's x, where the whole geometry is a two-dimensional point.
  private(set) var pointX: Double?
  private(set) var pointY: Double?
  private var isPoint = false
  private var depth = 0

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    if depth == 0 { isPoint = type == .point && dimensions == .xy }
    depth += 1
    // GEOS 3.11 reads a first position of each member, also of empty members.
    if count == 0, depth > 1 { needsConversion = true }
    // Types from 8 on are curves and the surfaces for which GEOS has no class.
    if type.rawValue >= GeometryType.circularString.rawValue || dimensions.hasM {
      needsConversion = true
    }
  }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    if !(x + y).isFinite { isFinite = x.isFinite && y.isFinite && isFinite }
    switch sides?.side(x: x, y: y) {
    case .inside?: hasInside = true
    case .outside?: hasOutside = true
    case nil: break
    }
    guard isPoint else { return }
    pointX = x
    pointY = y
  }

  mutating func beginRing(count: Int?) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) { depth -= 1 }
}

extension Geometry {
  /// The same points without empty members; an empty collection keeps its type.
  fileprivate func withoutEmptyMembers() -> Geometry {
    switch self {
    case .multiPoint(let points, let dimensions):
      .multiPoint(points.filter { $0 != nil }, dimensions)
    case .multiLineString(let lines, let dimensions):
      .multiLineString(lines.filter { !Geometry.lineString($0).isEmpty }, dimensions)
    case .multiPolygon(let polygons, let dimensions):
      .multiPolygon(polygons.filter { !Geometry.polygon($0, dimensions).isEmpty }, dimensions)
    case .geometryCollection(let members, let dimensions):
      .geometryCollection(
        members.map { $0.withoutEmptyMembers() }.filter { !$0.isEmpty }, dimensions)
    default: self
    }
  }
}
