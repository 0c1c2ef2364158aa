import FieldpackGeometry

/// The line of a track as a GeoPackage blob that grows at its end.
///
/// Header with an envelope in x and y, little-endian: 8 bytes and 32; then the WKB: byte order, type,
/// count, and two numbers a position.
struct TrackLine {
  private(set) var blob: [UInt8]
  private static let (start, positionSize) = (40 + 9, 16)

  /// - Parameter srsID: the one of the layer in its file.
  init(_ positions: [Position], srsID: Int32) {
    blob = []
    let ordinates = positions.flatMap { [$0.x, $0.y] }
    GeoPackageBinary.append(
      .lineString(CoordinateSequence(dimensions: .xy, ordinates: ordinates)), srsID: srsID,
      to: &blob)
  }

  /// A blob of exactly `count` positions; `nil` for anything else.
  init?(blob: [UInt8], count: Int) {
    let head: [UInt8] = [0x47, 0x50, 0, 3]
    guard count >= 2, blob.count == Self.start + count * Self.positionSize,
      Array(blob.prefix(4)) == head, blob[40] == 1
    else { return nil }
    self.blob = blob
    guard word(at: 41) == 2, word(at: 45) == UInt32(count) else { return nil }
  }

  var count: Int { (blob.count - Self.start) / Self.positionSize }

  var envelope: Envelope {
    Envelope(
      minX: number(at: 8), minY: number(at: 24), maxX: number(at: 16), maxY: number(at: 32))
  }

  mutating func append(_ positions: [Position]) {
    var bounds = [number(at: 8), number(at: 16), number(at: 24), number(at: 32)]
    for position in positions {
      append(position.x)
      append(position.y)
      bounds = [
        min(bounds[0], position.x), max(bounds[1], position.x), min(bounds[2], position.y),
        max(bounds[3], position.y),
      ]
    }
    for (index, bound) in bounds.enumerated() { put(bound.bitPattern, at: 8 + index * 8) }
    put(UInt32(count), at: 45)
  }

  // MARK: Bytes

  private mutating func append(_ value: Double) {
    withUnsafeBytes(of: value.bitPattern.littleEndian) { blob.append(contentsOf: $0) }
  }

  private mutating func put(_ value: some FixedWidthInteger, at start: Int) {
    withUnsafeBytes(of: value.littleEndian) { bytes in
      for (offset, byte) in bytes.enumerated() { blob[start + offset] = byte }
    }
  }

  private func word(at start: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(blob[start + $1]) << UInt32($1 * 8) }
  }

  private func number(at start: Int) -> Double {
    Double(bitPattern: (0..<8).reduce(0) { $0 | UInt64(blob[start + $1]) << UInt64($1 * 8) })
  }
}
