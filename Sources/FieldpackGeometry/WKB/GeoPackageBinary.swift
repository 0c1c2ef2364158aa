/// The header of a geometry as GeoPackage stores it (clause 2.1.3), read without a copy.
///
/// The header is `GP`, a version, flags, an `srs_id` and an optional envelope; WKB follows. The
/// header's byte order applies to `srs_id` and envelope only; the WKB has its own byte order.
public struct GeoPackageBinary: Hashable, Sendable {
  /// The ranges in a header's envelope, with the codes of its flags.
  public enum EnvelopeContents: UInt8, Hashable, Sendable, CaseIterable {
    case none = 0
    case xy = 1
    case xyz = 2
    case xym = 3
    case xyzm = 4

    /// The size of the envelope in bytes: 0, 32, 48 or 64.
    public var byteCount: Int {
      switch self {
      case .none: 0
      case .xy: 32
      case .xyz, .xym: 48
      case .xyzm: 64
      }
    }

    var hasZ: Bool { self == .xyz || self == .xyzm }
    var hasM: Bool { self == .xym || self == .xyzm }
  }

  public let byteOrder: ByteOrder
  /// The blob's `srs_id`. Where the geometry column's differs, that one is valid (requirement 33).
  public let srsID: Int32
  /// The empty flag as written in the header.
  public let isFlaggedEmpty: Bool
  /// The header's envelope; `nil` where there is none, or where its x or y range is NaN or
  /// reversed. A Z or M range that is NaN or reversed is left out.
  public let envelope: Envelope?
  public let envelopeContents: EnvelopeContents
  /// Whether any of the reserved flag bits, which must be 0, are set.
  public let hasReservedFlags: Bool
  /// The four letters of an extended encoding, whose body is not WKB; `nil` in the standard
  /// encoding.
  public let extensionCode: String?
  /// The offset of the WKB, or of the body of an extended encoding.
  public let bodyOffset: Int

  public var isExtended: Bool { extensionCode != nil }

  /// Whether the header has an envelope that is not the envelope of any geometry.
  public var hasUnusableEnvelope: Bool { envelopeContents != .none && envelope == nil }

  /// Reads a header.
  public init(_ blob: RawSpan) throws(GeometryError) {
    let flags = try Self.flags(of: blob)
    let order: ByteOrder = flags & 1 == 0 ? .big : .little
    guard let contents = EnvelopeContents(rawValue: flags >> 1 & 0b111) else {
      throw GeometryError(
        .unknownEnvelopeCode, at: 3, "envelope code \(flags >> 1 & 0b111) is not defined")
    }
    let isExtended = flags & 0x20 != 0
    let end = 8 + contents.byteCount + (isExtended ? 4 : 0)
    guard blob.byteCount >= end else { throw WKB.cut(at: 8, "the envelope does") }
    byteOrder = order
    srsID = Int32(bitPattern: blob.uint32(at: 4, order))
    isFlaggedEmpty = flags & 0x10 != 0
    hasReservedFlags = flags & 0xC0 != 0
    envelopeContents = contents
    envelope = Self.envelope(in: blob, contents, order)
    extensionCode = isExtended ? Self.letters(in: blob, at: end - 4) : nil
    bodyOffset = end
  }

  private static func flags(of blob: RawSpan) throws(GeometryError) -> UInt8 {
    guard blob.byteCount >= 8 else {
      throw GeometryError(
        .truncated, at: 0, "\(blob.byteCount) bytes are less than a GeoPackage header's 8")
    }
    guard blob.byte(at: 0) == UInt8(ascii: "G"), blob.byte(at: 1) == UInt8(ascii: "P") else {
      if isSpatiaLites(blob) {
        throw GeometryError(
          .notGeoPackageBinary, at: 0, "the blob is a geometry of SpatiaLite, not of GeoPackage")
      }
      throw GeometryError(.notGeoPackageBinary, at: 0, "the blob does not begin with 'GP'")
    }
    guard blob.byte(at: 2) == 0 else {
      throw GeometryError(
        .unknownVersion, at: 2, "GeoPackage binary version \(blob.byte(at: 2)) is not 0")
    }
    return blob.byte(at: 3)
  }

  /// Whether a blob is marked as SpatiaLite's
  /// (https://www.gaia-gis.it/gaia-sins/BLOB-Geometry.html).
  private static func isSpatiaLites(_ blob: RawSpan) -> Bool {
    blob.byteCount >= 24 && blob.byte(at: 0) == 0
      && [0x00, 0x01, 0x80, 0x81].contains(blob.byte(at: 1))
      && blob.byte(at: blob.byteCount - 1) == 0xFE
  }

  private static func envelope(
    in blob: RawSpan, _ contents: EnvelopeContents, _ order: ByteOrder
  ) -> Envelope? {
    guard contents != .none else { return nil }
    var envelope = Envelope(
      minX: blob.double(at: 8, order), minY: blob.double(at: 24, order),
      maxX: blob.double(at: 16, order), maxY: blob.double(at: 32, order))
    guard !envelope.isEmpty else { return nil }
    if contents.hasZ { envelope.z = range(in: blob, at: 40, order) }
    if contents.hasM { envelope.m = range(in: blob, at: contents.hasZ ? 56 : 40, order) }
    return envelope
  }

  private static func range(
    in blob: RawSpan, at offset: Int, _ order: ByteOrder
  ) -> ClosedRange<Double>? {
    let (low, high) = (blob.double(at: offset, order), blob.double(at: offset + 8, order))
    return low <= high ? low...high : nil
  }

  private static func letters(in blob: RawSpan, at offset: Int) -> String {
    var scalars = String.UnicodeScalarView()
    for index in offset..<offset + 4 { scalars.append(Unicode.Scalar(blob.byte(at: index))) }
    return String(scalars)
  }
}

extension GeoPackageBinary {
  /// The offset of the WKB in a blob with a valid header in the standard encoding; `nil` for all
  /// other blobs, whose mistake ``init(_:)`` reports.
  @inlinable
  public static func plainBodyOffset(of blob: RawSpan) -> Int? {
    guard blob.byteCount >= 8 else { return nil }
    let start = blob.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
    let flags = UInt8(truncatingIfNeeded: UInt32(littleEndian: start) >> 24)
    // Valid are "GP", version 0, and no other flags than those of byte order, envelope and
    // emptiness.
    guard UInt32(littleEndian: start) & 0xFF_FFFF == 0x5047, flags & 0xE0 == 0 else { return nil }
    let end: Int
    switch flags >> 1 & 0b111 {
    case 0: end = 8
    case 1: end = 40
    case 2, 3: end = 56
    case 4: end = 72
    default: return nil
    }
    return end <= blob.byteCount ? end : nil
  }

  /// Reads the geometry of a blob. An extended encoding is an error, because its body is not WKB.
  public static func read(_ blob: RawSpan) throws(GeometryError) -> Geometry {
    try withWKB(of: blob) { wkb throws(GeometryError) in try WKB.read(wkb) }
  }

  /// Lends the WKB of a blob to `body`, unchecked.
  @inlinable
  public static func withWKB<Result>(
    of blob: RawSpan, _ body: (RawSpan) throws(GeometryError) -> Result
  ) throws(GeometryError) -> Result {
    let header = try GeoPackageBinary(blob)
    try header.checkHoldsWKB()
    return try body(blob.extracting(droppingFirst: header.bodyOffset))
  }

  /// The envelope from the header; where the header has no usable one, from the WKB.
  ///
  /// `nil` for an EMPTY geometry. The ranges of Z and M are those in the header; for a blob without
  /// a usable envelope, those of its positions.
  public static func envelope(of blob: RawSpan) throws(GeometryError) -> Envelope? {
    let header = try GeoPackageBinary(blob)
    if header.isFlaggedEmpty { return nil }
    if let envelope = header.envelope { return envelope }
    try header.checkHoldsWKB()
    return try WKB.envelope(
      of: blob.extracting(droppingFirst: header.bodyOffset), allowsTrailingBytes: true)
  }

  /// Whether the geometry is EMPTY: decided by its flag or its envelope, else by its WKB.
  public static func isEmpty(_ blob: RawSpan) throws(GeometryError) -> Bool {
    let header = try GeoPackageBinary(blob)
    if header.isFlaggedEmpty { return true }
    if header.envelope != nil { return false }
    try header.checkHoldsWKB()
    return try WKB.isEmpty(blob.extracting(droppingFirst: header.bodyOffset))
  }

  @usableFromInline
  func checkHoldsWKB() throws(GeometryError) {
    guard let extensionCode else { return }
    throw GeometryError(
      .extendedBinary, at: bodyOffset - 4,
      "the geometry is in the extended encoding '\(extensionCode)', which is not WKB")
  }
}
