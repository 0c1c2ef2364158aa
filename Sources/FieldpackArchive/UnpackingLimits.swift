import FieldpackCore

/// How much a packed file may unpack to; more is refused as a bomb.
package struct UnpackingLimits: Sendable, Hashable {
  /// Bytes in all.
  package var byteCount = 64 << 30
  /// Bytes for each byte that the packed file has.
  package var ratio = 300
  /// Bytes that are unpacked whatever the ratio.
  package var freeByteCount = 64 << 20
  /// Entries of an archive.
  package var entryCount = 100_000

  package init() {}

  /// The bytes that a packed file of `size` bytes may unpack to.
  func byteCount(ofPacked size: Int) -> Int {
    let (product, overflows) = size.multipliedReportingOverflow(by: ratio)
    return min(byteCount, max(freeByteCount, overflows ? .max : product))
  }

  /// The error for a file that unpacks to more than `allowed` bytes.
  static func refusal(_ name: String, allowed: Int) -> FieldpackError {
    FieldpackError(
      .invalidData,
      "it unpacks to more than \(allowed) bytes, which is refused as far too much for its size",
      position: FilePosition(file: name))
  }
}
