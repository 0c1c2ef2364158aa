/// The GeoPackage blob of a point on WGS 84.
package enum PointBlob {
  package static func bytes(_ x: Double, _ y: Double) -> [UInt8] {
    // "GP", version 0, little-endian without envelope, srs_id 4326; the WKB of a point.
    var blob: [UInt8] = [0x47, 0x50, 0, 1, 0xe6, 0x10, 0, 0, 1, 1, 0, 0, 0]
    blob.reserveCapacity(29)
    for value in [x, y] {
      withUnsafeBytes(of: value.bitPattern.littleEndian) { blob.append(contentsOf: $0) }
    }
    return blob
  }
}
