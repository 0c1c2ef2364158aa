import FieldpackGeometry

/// The geometries that SpatiaLite stores outside of GeoPackages: 0x00, byte order, SRID, box, 0x7C,
/// a body like WKB whose members begin with 0x69 in place of a byte order, 0xFE.
enum SpatiaLiteBlob {
  /// Whether a blob says that it is one, tiny points and compressed ones included.
  static func isMarked(_ blob: RawSpan) -> Bool {
    blob.byteCount >= 24 && byte(0, of: blob) == 0x00
      && [0x00, 0x01, 0x80, 0x81].contains(byte(1, of: blob))
      && byte(blob.byteCount - 1, of: blob) == 0xFE
  }

  /// The same geometry as a GeoPackage stores it; `nil` for what is none, or compressed.
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

  /// Gives the members of a collection the byte order that WKB has there.
  private static func markMembers(of wkb: inout [UInt8], _ order: UInt8) throws(GeometryError) {
    guard wkb.count >= 9 else { return }
    let isLittle = order == 1
    func number(_ start: Int) -> UInt32 {
      let digits = Array(wkb[start..<start + 4])
      return (isLittle ? digits.reversed() : digits).reduce(0) { $0 << 8 | UInt32($1) }
    }
    guard (4...7).contains(number(1) % 1_000) else { return }
    var place = 9
    for _ in 0..<number(5) {
      guard place < wkb.count, wkb[place] == 0x69 else { return }
      wkb[place] = order
      var nothing = NothingVisitor()
      place += try WKB.visit(
        wkb.span.bytes.extracting(place..<wkb.count), allowsTrailingBytes: true, with: &nothing)
    }
  }

  private static func byte(_ place: Int, of blob: RawSpan) -> UInt8 {
    blob.unsafeLoad(fromByteOffset: place, as: UInt8.self)
  }
}

private struct NothingVisitor: GeometryVisitor {
  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
  mutating func beginRing(count: Int?) {}
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}
}
