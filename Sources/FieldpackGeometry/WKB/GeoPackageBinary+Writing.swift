extension GeoPackageBinary {
  /// Which envelope is written into a header.
  public enum EnvelopePolicy: Hashable, Sendable {
    /// None for points, whose WKB is as short; x and y for all others.
    case standard
    /// These, as far as the geometry has them.
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

  /// Appends a header; the geometry's ISO WKB has to follow.
  ///
  /// - Parameter envelope: `nil` where no position counts; the header then has none.
  public static func appendHeader(
    for type: GeometryType, srsID: Int32, isEmpty: Bool, envelope: Envelope?,
    policy: EnvelopePolicy = .standard, byteOrder: ByteOrder = .little, to blob: inout [UInt8]
  ) {
    let contents = policy.contents(for: type, envelope)
    let flags = byteOrder.rawValue | contents.rawValue << 1 | (isEmpty ? 0x10 : 0)
    let srs = UInt32(bitPattern: srsID)
    // "GP", version 0, flags, srs_id: one word, which costs less than its bytes.
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

  /// Appends `wkb` as a GeoPackage blob and returns its envelope, `nil` where no position counts.
  ///
  /// The WKB is checked as in ``WKB/read(_:allowsTrailingBytes:)``. ISO WKB is copied as it is;
  /// EWKB, which GeoPackage does not allow, is written anew. Nothing is appended on an error.
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

  /// What has to be known of a WKB before its blob is written, in one pass.
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

    /// Whether the WKB is certainly free of EWKB's flags, members included: an SRID shows in the
    /// length; flags for Z and M do not, so such members are not vouched for.
    func isISO(_ header: WKB.Header, byteCount: Int) -> Bool {
      guard !header.isExtended, isoByteCount == byteCount else { return false }
      return header.dimensions == .xy || !header.type.hasMembers
    }
  }
}
