/// The bytes of a node of SQLite's R-trees (`ext/rtree/rtree.c`), whose cells are all there.
///
/// Numbers are big-endian: two bytes of depth, in the root only, two of cell count, then cells of an
/// id and four floats.
struct RTreeNodeBytes {
  private let bytes: UnsafeRawBufferPointer

  /// `nil` for a node that is cut short.
  init?(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    guard bytes.count >= 4, 4 + 24 * cellCount <= bytes.count else { return nil }
  }

  /// Levels below the root.
  var depth: Int { short(0) }
  var cellCount: Int { short(2) }
  var entries: [RTreeEntry] { (0..<cellCount).map(entry) }

  private func short(_ offset: Int) -> Int {
    Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  private func entry(_ cell: Int) -> RTreeEntry {
    let start = 4 + 24 * cell
    func bound(_ axis: Int) -> Float {
      let bits = bytes.loadUnaligned(fromByteOffset: start + 8 + 4 * axis, as: UInt32.self)
      return Float(bitPattern: UInt32(bigEndian: bits))
    }
    return RTreeEntry(
      Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int64.self)),
      minX: bound(0), maxX: bound(1), minY: bound(2), maxY: bound(3))
  }
}
