public import FieldpackGeometry

extension CoordinateTransformation {
  /// Transforms one geometry in well-known binary in place and returns its new envelope.
  ///
  /// Handles every type, ISO and EWKB, and either byte order, also mixed. Curves are transformed by
  /// their control points; empty points, m and the SRID stay as they are. The envelope has a range
  /// of z where the geometry has z; it is `Envelope.empty` for a geometry without positions.
  /// - Parameter offset: Where the geometry begins; it ends with the bytes. Bytes before it, such
  ///   as the header of a GeoPackage blob, stay as they are.
  /// - Throws: ``ProjectionError/Kind/failedPoints``, which says how many positions failed, and
  ///   ``ProjectionError/Kind/invalidGeometry``; the bytes then stay as they were.
  @discardableResult
  public func transform(
    wkb: inout MutableRawSpan, from offset: Int = 0
  ) throws(ProjectionError) -> Envelope {
    guard offset >= 0, offset <= wkb.byteCount else {
      throw ProjectionError(.invalidGeometry, "no geometry begins at byte \(offset)")
    }
    // Taken out of `self`, because a second reference to its arrays would make each change copy
    // them.
    var positions = WKBPositions()
    swap(&positions, &scratch)
    defer { swap(&positions, &scratch) }
    positions.reset()
    do throws(GeometryError) {
      try WKB.visitRuns(wkb.bytes.extracting(offset...), with: &positions)
    } catch {
      throw ProjectionError(.invalidGeometry, "the geometry is damaged: \(error)")
    }
    guard !isIdentity else { return positions.envelope }
    let failed = positions.transform(by: self)
    guard failed == 0 else {
      let count = positions.count
      throw ProjectionError(
        .failedPoints,
        "\(failed) of \(count) position\(count == 1 ? "" : "s") of the geometry cannot be "
          + "transformed from \(source) to \(target)")
    }
    positions.write(into: &wkb, from: offset)
    return positions.envelope
  }

  /// The transformed position of a two-dimensional point in the machine's byte order, as most
  /// points are, without an array; `nil` for other geometries, and where the point cannot be
  /// transformed.
  ///
  /// For callers who would otherwise copy the geometry first.
  package func transformedPoint(wkb: RawSpan) -> (x: Double, y: Double)? {
    guard wkb.byteCount == Self.pointSize, let operation,
      wkb.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == ByteOrder.native.rawValue,
      wkb.unsafeLoadUnaligned(fromByteOffset: 1, as: UInt32.self) == 1
    else { return nil }
    let x = wkb.unsafeLoadUnaligned(fromByteOffset: 5, as: Double.self)
    let y = wkb.unsafeLoadUnaligned(fromByteOffset: 13, as: Double.self)
    // An empty point has NaN, which makes the sum NaN.
    guard (x + y).isFinite else { return nil }
    let moved = operation.transform(x: x, y: y)
    return (moved.x + moved.y).isFinite ? moved : nil
  }

  /// The size of such a point in bytes.
  package static let pointSize = 21

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

/// The positions of one geometry, gathered so that PROJ is called once. Its storage is reused.
struct WKBPositions: WKBRunVisitor {
  /// Positions that follow one another in the bytes.
  private struct Run {
    var offset: Int
    var count: Int
    /// The number of bytes from one position to the next.
    var step: Int
    var order: ByteOrder
  }

  private var runs: [Run] = []
  /// The x and y, or x, y and z, of each position.
  private var ordinates: [Double] = []
  private var width = 2
  private(set) var count = 0

  mutating func reset() {
    runs.removeAll(keepingCapacity: true)
    ordinates.removeAll(keepingCapacity: true)
    (width, count) = (2, 0)
  }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    // Members have the dimensions of the geometry that contains them.
    width = dimensions.hasZ ? 3 : 2
  }

  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
  ) {
    let (width, order) = (width, header.byteOrder)
    let step = 8 * header.dimensions.count
    runs.append(Run(offset: offset, count: count, step: step, order: order))
    self.count += count
    ordinates.append(addingCapacity: count * width) { output in
      output.withUnsafeMutableBufferPointer { buffer, filled in
        for index in 0..<count {
          let (from, to) = (index * step, index * width)
          buffer[to] = run.double(at: from, order)
          buffer[to + 1] = run.double(at: from + 8, order)
          if width == 3 { buffer[to + 2] = run.double(at: from + 16, order) }
        }
        filled = count * width
      }
    }
  }

  mutating func end(_ type: GeometryType) {}

  /// - Returns: the number of positions that failed.
  mutating func transform(by transformation: CoordinateTransformation) -> Int {
    let (width, count) = (width, count)
    return ordinates.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return 0 }
      let failed = transformation.transform(
        x: base, y: base + 1, z: width == 3 ? base + 2 : nil, stride: 8 * width, count: count)
      return failed.count
    }
  }

  /// Writes the positions back into the bytes from which they were read.
  ///
  /// - Parameter start: the offset at which the geometry begins.
  func write(into bytes: inout MutableRawSpan, from start: Int) {
    let width = width
    bytes.withUnsafeMutableBytes { bytes in
      ordinates.withUnsafeBufferPointer { ordinates in
        var next = 0
        for run in runs {
          let first = start + run.offset
          precondition(first >= 0 && first + run.count * run.step <= bytes.count)
          for index in 0..<run.count {
            for ordinate in 0..<width {
              let bits = ordinates[next + ordinate].bitPattern
              bytes.storeBytes(
                of: run.order == .little ? bits.littleEndian : bits.bigEndian,
                toByteOffset: first + index * run.step + 8 * ordinate, as: UInt64.self)
            }
            next += width
          }
        }
      }
    }
  }

  var envelope: Envelope {
    var box = Envelope.empty
    var (low, high) = (Double.infinity, -Double.infinity)
    ordinates.withUnsafeBufferPointer { ordinates in
      for start in stride(from: 0, to: count * width, by: width) {
        let (x, y) = (ordinates[start], ordinates[start + 1])
        if !x.isNaN && !y.isNaN {
          box.minX = x < box.minX ? x : box.minX
          box.maxX = x > box.maxX ? x : box.maxX
          box.minY = y < box.minY ? y : box.minY
          box.maxY = y > box.maxY ? y : box.maxY
        }
        guard width == 3 else { continue }
        let z = ordinates[start + 2]
        low = z < low ? z : low
        high = z > high ? z : high
      }
    }
    if low <= high { box.z = low...high }
    return box
  }
}
