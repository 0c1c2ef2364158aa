import CZLIB
package import FieldpackCore

/// Bytes in memory that zlib packs and unpacks (RFC 1950), and their checksum.
package enum ZlibData {
  /// The unpacked bytes.
  ///
  /// - Parameter count: how many there are. A stream of more or fewer bytes is an error, so that no
  ///   stream can ask for more memory than its caller has planned.
  package static func unpacked(
    _ packed: [UInt8], count: Int
  ) throws(FieldpackError) -> [UInt8] {
    var length = uLong(count)
    var code = Z_OK
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      code = uncompress(buffer.baseAddress, &length, packed, uLong(packed.count))
      initialized = code == Z_OK ? Int(length) : 0
    }
    guard code != Z_MEM_ERROR else { throw FieldpackError(.io, "out of memory for unpacking") }
    guard bytes.count == count else {
      throw FieldpackError(.invalidData, "the compressed data are damaged")
    }
    return bytes
  }

  /// - Parameter isQuick: packs in a fraction of the time, into somewhat more bytes.
  package static func packed(
    _ bytes: [UInt8], isQuick: Bool = false
  ) throws(FieldpackError) -> [UInt8] {
    let level = isQuick ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION
    var length = compressBound(uLong(bytes.count))
    var code = Z_OK
    let packed = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, initialized in
      code = compress2(buffer.baseAddress, &length, bytes, uLong(bytes.count), level)
      initialized = code == Z_OK ? Int(length) : 0
    }
    guard code == Z_OK else { throw FieldpackError(.io, "out of memory for packing") }
    return packed
  }

  /// The CRC-32 of the bytes.
  package static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBufferPointer { UInt32(crc32_z(0, $0.baseAddress, $0.count)) }
  }
}
