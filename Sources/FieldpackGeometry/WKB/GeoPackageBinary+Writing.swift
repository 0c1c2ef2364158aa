extension GeoPackageBinary {
  /// Which envelope a header gets.
  public enum EnvelopePolicy: Hashable, Sendable {
    /// No envelope for points, whose WKB is as short; x and y for all other types.
    case standard
    /// The given ranges, as far as the geometry has them.
    case fixed(EnvelopeContents)

    func contents(for type: GeometryType, _ envelope: Envelope?) -> EnvelopeContents {
      guard let envelope else { return .none }
      switch self {
      case .standard: return type == .point ? .none : .xy
      case .fixed(let wanted):
        let hasZ = wanted.hasZ && envelope.z != nil
        let hasM = wanted.hasM && envelope.m != nil
        if wanted == .none { return .none }
        return hasZ ? (hasM ? .xyzm : .xyz) : (hasM ? .xym : .xy)
      }
    }
  }

  /// Appends a header; the caller appends the geometry's ISO WKB behind it.
  ///
  /// - Parameter envelope: `nil` for a geometry without positions; the header then has no envelope.
  public static func appendHeader(
    for type: GeometryType, srsID: Int32, isEmpty: Bool, envelope: Envelope?,
    policy: EnvelopePolicy = .standard, byteOrder: ByteOrder = .little, to blob: inout [UInt8]
  ) {
    let contents = policy.contents(for: type, envelope)
    let flags = byteOrder.rawValue | contents.rawValue << 1 | (isEmpty ? 0x10 : 0)
    let srs = UInt32(bitPattern: srsID)
    // "GP", version 0, flags and srs_id are written as one word, which is cheaper than single
    // bytes.
    let head =
      0x5047 | UInt64(flags) << 24
      | UInt64(byteOrder == .little ? srs : srs.byteSwapped) << 32
    blob.appendBytes(of: head.littleEndian)
    guard contents != .none, let envelope else { return }
    blob.append(envelope.minX, envelope.maxX, byteOrder)
    blob.append(envelope.minY, envelope.maxY, byteOrder)
    if contents.hasZ, let z = envelope.z { blob.append(z.lowerBound, z.upperBound, byteOrder) }
    if contents.hasM, let m = envelope.m { blob.append(m.lowerBound, m.upperBound, byteOrder) }
  }

  /// Appends `wkb` as a GeoPackage blob and returns its envelope; `nil` where it has no positions.
  ///
  /// The WKB is checked as in ``WKB/read(_:allowsTrailingBytes:)``. ISO WKB is copied unchanged;
  /// EWKB, which GeoPackage does not allow, is converted. On an error nothing is appended.
  @discardableResult
  public static func append(
    wkb: RawSpan, srsID: Int32, to blob: inout [UInt8], policy: EnvelopePolicy = .standard
  ) throws(GeometryError) -> Envelope? {
    let header = try WKB.header(of: wkb)
    var survey = Survey()
    try WKB.visit(wkb, with: &survey)
    let envelope = survey.bounds.envelope
    appendHeader(
      for: header.type, srsID: srsID, isEmpty: survey.isEmpty, envelope: envelope, policy: policy,
      to: &blob)
    if survey.isISO(header, byteCount: wkb.byteCount) {
      blob.append(wkb)
    } else {
      var writer = WKBWriter()
      swap(&writer.bytes, &blob)
      defer { swap(&writer.bytes, &blob) }
      try WKB.visit(wkb, with: &writer)
    }
    return envelope
  }

  /// Appends `geometry` as a GeoPackage blob and returns its envelope.
  @discardableResult
  public static func append(
    _ geometry: Geometry, srsID: Int32, to blob: inout [UInt8], policy: EnvelopePolicy = .standard
  ) -> Envelope? {
    let envelope = geometry.envelope
    appendHeader(
      for: geometry.type, srsID: srsID, isEmpty: geometry.isEmpty, envelope: envelope,
      policy: policy, to: &blob)
    WKB.write(geometry, into: &blob)
    return envelope
  }

  /// What must be known of a WKB before its blob is written, gathered in one pass.
  private struct Survey: GeometryVisitor {
    var bounds = EnvelopeVisitor()
    var isEmpty = true
    private var isoByteCount = 0
    private var positionSize = 0

    mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
      bounds.begin(type, dimensions, count: count)
      positionSize = 8 * dimensions.count
      isoByteCount += 5
      switch type {
      case .point:
        isoByteCount += positionSize
        if count != 0 { isEmpty = false }
      case .lineString, .circularString: addPositions(count)
      default: isoByteCount += 4
      }
    }

    mutating func beginRing(count: Int?) { addPositions(count) }

    private mutating func addPositions(_ count: Int?) {
      let count = count ?? 0
      isoByteCount += 4 + count * positionSize
      if count > 0 { isEmpty = false }
    }

    @inline(__always)
    mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
      bounds.position(x, y, z, m)
    }

    mutating func endRing() {}
    mutating func end(_ type: GeometryType) {}

    /// Whether the WKB certainly has no flags of EWKB, members included. An SRID shows in the
    /// length. The flags for Z and M in members do not, so the answer is `false` for members that
    /// may have them.
    func isISO(_ header: WKB.Header, byteCount: Int) -> Bool {
      guard !header.isExtended, isoByteCount == byteCount else { return false }
      return header.dimensions == .xy || !header.type.hasMembers
    }
  }
}
