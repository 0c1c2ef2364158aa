/// Writes WKB into one growing buffer, part by part; a count is filled in when it is known.
///
/// It serves parsers that read a geometry in pieces: call `begin`, `beginRing`, `position`,
/// `endRing` and `end` as in ``GeometryVisitor``, take ``bytes``, then call ``reset()`` to write
/// the next geometry into the same storage. The envelope is gathered meanwhile.
public struct WKBWriter: GeometryVisitor {
  /// The bytes written; complete once every `begin` has its `end`.
  public var bytes: [UInt8]
  public let byteOrder: ByteOrder
  public let flavour: WKB.Flavour
  /// The box around the positions so far, in x and y; positions with NaN in x or y are ignored.
  public private(set) var envelope = Envelope.empty

  /// Whether types are written as their ``GeometryType/ofGeoPackage``.
  package var writesTypesOfGeoPackage = false
  /// The types that were written as another type since the writer was made.
  package private(set) var replacedTypes: Set<GeometryType> = []

  private struct Frame {
    /// The offset of the count; `nil` in a point.
    var countOffset: Int?
    var count: UInt32
  }

  private var outer: [Frame] = []
  private var current: Frame?
  private var hasZ = false
  private var hasM = false

  public init(byteOrder: ByteOrder = .little, flavour: WKB.Flavour = .iso) {
    self.bytes = []
    self.byteOrder = byteOrder
    self.flavour = flavour
  }

  /// Removes the bytes written and keeps the storage.
  public mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    outer.removeAll(keepingCapacity: true)
    current = nil
    envelope = .empty
  }

  public mutating func begin(_ given: GeometryType, _ dimensions: Dimensions, count: Int? = nil) {
    let type = writesTypesOfGeoPackage ? given.ofGeoPackage : given
    if type != given { replacedTypes.insert(given) }
    let srid = current == nil ? topLevelSRID : nil
    push()
    hasZ = dimensions.hasZ
    hasM = dimensions.hasM
    bytes.append(byteOrder.rawValue)
    bytes.append(code(of: type, dimensions, hasSRID: srid != nil), byteOrder)
    if let srid { bytes.append(UInt32(bitPattern: srid), byteOrder) }
    if type == .point {
      current = Frame(countOffset: nil, count: 0)
    } else {
      openCount()
    }
  }

  public mutating func beginRing(count: Int? = nil) {
    push()
    openCount()
  }

  public mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    bytes.append(x, y, byteOrder)
    if hasZ { bytes.append(z, byteOrder) }
    if hasM { bytes.append(m, byteOrder) }
    current?.count &+= 1
    if !x.isNaN && !y.isNaN { envelope.extend(x: x, y: y) }
  }

  /// Appends positions of x and y alone that lie behind one another as in little-endian WKB.
  ///
  /// - Precondition: the geometry has neither Z nor M, and the writer writes little-endian.
  package mutating func positions(_ ordinates: UnsafeRawBufferPointer) {
    precondition(!hasZ && !hasM && byteOrder == .little)
    unsafe bytes.append(contentsOf: ordinates)
    current?.count &+= UInt32(truncatingIfNeeded: ordinates.count / 16)
    unsafe envelope.extend(positions: ordinates)
  }

  public mutating func endRing() { close() }

  public mutating func end(_ type: GeometryType) {
    if type == .point && current?.count == 0 {
      for _ in 0..<(2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0)) { bytes.append(.nan, byteOrder) }
    }
    close()
  }

  private var topLevelSRID: Int32? {
    if case .ewkb(let srid) = flavour { srid } else { nil }
  }

  private func code(of type: GeometryType, _ dimensions: Dimensions, hasSRID: Bool) -> UInt32 {
    if case .iso = flavour { return type.rawValue + 1_000 * UInt32(dimensions.rawValue) }
    return type.rawValue | (dimensions.hasZ ? 0x8000_0000 : 0)
      | (dimensions.hasM ? 0x4000_0000 : 0) | (hasSRID ? 0x2000_0000 : 0)
  }

  private mutating func push() {
    guard var frame = current else { return }
    frame.count &+= 1
    outer.append(frame)
  }

  private mutating func openCount() {
    current = Frame(countOffset: bytes.count, count: 0)
    bytes.append(UInt32(0), byteOrder)
  }

  private mutating func close() {
    if let frame = current, let offset = frame.countOffset {
      bytes.replace(at: offset, with: frame.count, byteOrder)
    }
    current = outer.popLast()
  }
}
