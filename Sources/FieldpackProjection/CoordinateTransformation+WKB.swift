public import FieldpackGeometry

extension CoordinateTransformation {
  /// Transforms one geometry in well-known binary in place and returns its new envelope.
  ///
  /// Every type, ISO and EWKB, either byte order, mixed or not. Curves are transformed by their
  /// control points, empty points stay empty, m stays as it is; an SRID is left as it stands. The
  /// envelope has the range of z where there is one and is `Envelope.empty` where nothing has a
  /// position.
  /// - Parameter offset: Where the geometry begins; it ends with the bytes. Leaves a header alone,
  ///   such as a GeoPackage blob's.
  /// - Throws: ``ProjectionError/Kind/failedPoints`` that says how many of the positions failed, and
  ///   ``ProjectionError/Kind/invalidGeometry``; the bytes are then as they were.
  @discardableResult
  public func transform(
    wkb: inout MutableRawSpan, from offset: Int = 0
  ) throws(ProjectionError) -> Envelope {
    guard offset >= 0, offset <= wkb.byteCount else {
      throw ProjectionError(.invalidGeometry, "no geometry begins at byte \(offset)")
    }
    // Taken out, so that its storage is kept without being shared.
    var positions = WKBPositions()
    swap(&positions, &scratch)
    defer { swap(&positions, &scratch) }
    positions.reset()
    do throws(GeometryError) {
      try WKB.visit(wkb.bytes.extracting(offset...), with: &positions)
    } catch {
      throw ProjectionError(.invalidGeometry, "the geometry is damaged: \(error)")
    }
    guard !isIdentity else { return positions.envelope }
    let failed = positions.transform(by: self)
    guard failed == 0 else {
      let count = positions.x.count
      throw ProjectionError(
        .failedPoints,
        "\(failed) of \(count) position\(count == 1 ? "" : "s") of the geometry cannot be "
          + "transformed from \(source) to \(target)")
    }
    var writer = WKBOrdinateWriter(positions: positions)
    _ = writer.write(into: &wkb, at: offset)
    return positions.envelope
  }

  /// Transforms one geometry in place; see ``transform(wkb:from:)-(MutableRawSpan,_)``.
  @discardableResult
  public func transform(
    wkb bytes: inout [UInt8], from offset: Int = 0
  ) throws(ProjectionError) -> Envelope {
    var span = bytes.mutableSpan
    var all = span.mutableBytes
    return try transform(wkb: &all, from: offset)
  }

  /// The geometry in the target's reference system.
  /// - Throws: As for well-known binary.
  public func transform(_ geometry: Geometry) throws(ProjectionError) -> Geometry {
    guard !isIdentity else { return geometry }
    var bytes = WKB.bytes(of: geometry)
    try transform(wkb: &bytes)
    do throws(GeometryError) {
      return try WKB.read(bytes)
    } catch {
      throw ProjectionError(.invalidGeometry, "the geometry cannot be read back: \(error)")
    }
  }
}

/// The positions of one geometry, gathered so that PROJ is called once; its storage is kept.
struct WKBPositions: GeometryVisitor {
  var x: [Double] = []
  var y: [Double] = []
  /// Empty where the geometry has no z.
  var z: [Double] = []
  private var hasZ = false

  mutating func reset() {
    x.removeAll(keepingCapacity: true)
    y.removeAll(keepingCapacity: true)
    z.removeAll(keepingCapacity: true)
  }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    hasZ = dimensions.hasZ
  }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    self.x.append(x)
    self.y.append(y)
    if hasZ { self.z.append(z) }
  }

  mutating func beginRing(count: Int?) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}

  /// Returns how many positions failed.
  mutating func transform(by transformation: CoordinateTransformation) -> Int {
    let count = x.count
    return x.withUnsafeMutableBufferPointer { xs in
      y.withUnsafeMutableBufferPointer { ys in
        z.withUnsafeMutableBufferPointer { zs in
          guard let x = xs.baseAddress, let y = ys.baseAddress else { return 0 }
          let z = zs.isEmpty ? nil : zs.baseAddress
          return transformation.transform(x: x, y: y, z: z, count: count).count
        }
      }
    }
  }

  var envelope: Envelope {
    var box = Envelope.empty
    for index in x.indices where !x[index].isNaN && !y[index].isNaN {
      box.extend(x: x[index], y: y[index])
    }
    let heights = z.lazy.filter { !$0.isNaN }
    if let low = heights.min(), let high = heights.max() { box.z = low...high }
    return box
  }
}

/// Puts positions back where a walk of the same, already checked bytes found them.
private struct WKBOrdinateWriter {
  let positions: WKBPositions
  private var next = 0

  init(positions: WKBPositions) {
    self.positions = positions
  }

  /// Returns the offset behind the geometry that begins at `start`.
  mutating func write(into bytes: inout MutableRawSpan, at start: Int) -> Int {
    guard let header = try? WKB.header(of: bytes.bytes.extracting(start...)) else { return start }
    let body = start + header.bodyOffset
    switch header.type {
    case .point:
      let isEmpty =
        bytes.double(at: body, header.byteOrder).isNaN
        && bytes.double(at: body + 8, header.byteOrder).isNaN
      guard !isEmpty else { return body + 8 * header.dimensions.count }
      return writePositions(1, into: &bytes, at: body, header)
    case .lineString, .circularString:
      return writeCounted(into: &bytes, at: body, header)
    case .polygon, .triangle:
      var offset = body + 4
      for _ in 0..<bytes.count(at: body, header.byteOrder) {
        offset = writeCounted(into: &bytes, at: offset, header)
      }
      return offset
    default:
      var offset = body + 4
      for _ in 0..<bytes.count(at: body, header.byteOrder) {
        offset = write(into: &bytes, at: offset)
      }
      return offset
    }
  }

  private mutating func writeCounted(
    into bytes: inout MutableRawSpan, at start: Int, _ header: WKB.Header
  ) -> Int {
    let count = bytes.count(at: start, header.byteOrder)
    return writePositions(count, into: &bytes, at: start + 4, header)
  }

  private mutating func writePositions(
    _ count: Int, into bytes: inout MutableRawSpan, at start: Int, _ header: WKB.Header
  ) -> Int {
    let step = 8 * header.dimensions.count
    var offset = start
    for index in next..<(next + count) {
      bytes.store(positions.x[index], at: offset, header.byteOrder)
      bytes.store(positions.y[index], at: offset + 8, header.byteOrder)
      if header.dimensions.hasZ {
        bytes.store(positions.z[index], at: offset + 16, header.byteOrder)
      }
      offset += step
    }
    next += count
    return offset
  }
}

extension MutableRawSpan {
  fileprivate func double(at offset: Int, _ order: ByteOrder) -> Double {
    let bits = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    return Double(
      bitPattern: order == .little ? UInt64(littleEndian: bits) : UInt64(bigEndian: bits))
  }

  fileprivate func count(at offset: Int, _ order: ByteOrder) -> Int {
    let bits = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return Int(order == .little ? UInt32(littleEndian: bits) : UInt32(bigEndian: bits))
  }

  fileprivate mutating func store(_ value: Double, at offset: Int, _ order: ByteOrder) {
    let bits = value.bitPattern
    storeBytes(
      of: order == .little ? bits.littleEndian : bits.bigEndian, toByteOffset: offset,
      as: UInt64.self)
  }
}
