import FieldpackGeometry

/// SpatiaLite's own geometry blobs: 0x00, byte order, SRID, box, 0x7C, a body, 0xFE. The body is
/// like WKB, but its members begin with 0x69 instead of a byte order
/// (https://www.gaia-gis.it/gaia-sins/BLOB-Geometry.html).
enum SpatiaLiteBlob {
  /// Whether a blob is marked as SpatiaLite's, including TinyPoint and compressed blobs.
  static func isMarked(_ blob: RawSpan) -> Bool {
    blob.byteCount >= 24 && byte(0, of: blob) == 0x00
      && [0x00, 0x01, 0x80, 0x81].contains(byte(1, of: blob))
      && byte(blob.byteCount - 1, of: blob) == 0xFE
  }

  /// The same geometry as a GeoPackage blob; `nil` for compressed blobs and other bytes.
  static func geoPackageBlob(of blob: RawSpan) -> [UInt8]? {
    guard isMarked(blob), blob.byteCount >= 44, byte(1, of: blob) <= 1, byte(38, of: blob) == 0x7C
    else { return nil }
    let order = byte(1, of: blob)
    let srid = blob.unsafeLoadUnaligned(fromByteOffset: 2, as: Int32.self)
    var wkb = [order] + blob.extracting(39..<blob.byteCount - 1).withUnsafeBytes { Array($0) }
    var made: [UInt8] = []
    guard (try? markMembers(of: &wkb, order)) != nil,
      (try? GeoPackageBinary.append(
        wkb: wkb.span.bytes, srsID: order == 1 ? Int32(littleEndian: srid) : Int32(bigEndian: srid),
        to: &made)) != nil
    else { return nil }
    return made
  }

  /// Replaces the 0x69 of a collection's members by the byte order that WKB has.
  private static func markMembers(of wkb: inout [UInt8], _ order: UInt8) throws(GeometryError) {
    guard wkb.count >= 9 else { return }
    let isLittle = order == 1
    func number(_ start: Int) -> UInt32 {
      let digits = Array(wkb[start..<start + 4])
      return (isLittle ? digits.reversed() : digits).reduce(0) { $0 << 8 | UInt32($1) }
    }
    guard (4...7).contains(number(1) % 1_000) else { return }
    var offset = 9
    for _ in 0..<number(5) {
      guard offset < wkb.count, wkb[offset] == 0x69 else { return }
      wkb[offset] = order
      var nothing = NothingVisitor()
      offset += try WKB.visit(
        wkb.span.bytes.extracting(offset..<wkb.count), allowsTrailingBytes: true, with: &nothing)
    }
  }

  private static func byte(_ offset: Int, of blob: RawSpan) -> UInt8 {
    blob.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

private struct NothingVisitor: GeometryVisitor {
  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
  mutating func beginRing(count: Int?) {}
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}
}
