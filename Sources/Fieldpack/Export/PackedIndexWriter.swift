import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// Writes the packed R-tree of a FlatGeobuf file from its leaves up, each level into a temporary file.
struct PackedIndexWriter {
  fileprivate struct Level {
    let file = SpillFile()
    var buffer: [UInt8] = []
    var count = 0
    /// The box of the node that is being filled.
    var box = Envelope.empty
  }

  private let ranges: [Range<Int>]
  private var levels: [Level]

  /// - Parameter count: the number of features, one or more.
  init(count: Int) {
    ranges = PackedIndex.levels(count, PackedIndex.usualNodeSize)
    levels = ranges.map { _ in Level() }
  }

  /// Appends the entry of the next feature, with its offset from the first one.
  mutating func append(_ box: Envelope, target: Int) throws(FieldpackError) {
    try append(box, target: target, at: levels.count - 1)
  }

  private mutating func append(
    _ box: Envelope, target: Int, at level: Int
  ) throws(FieldpackError) {
    for ordinate in [box.minX, box.minY, box.maxX, box.maxY] {
      levels[level].append(ordinate.bitPattern)
    }
    levels[level].append(UInt64(target))
    levels[level].count += 1
    levels[level].box.formUnion(box)
    if levels[level].buffer.count >= 1 << 16 { try levels[level].flush() }
    let (count, size) = (levels[level].count, PackedIndex.usualNodeSize)
    guard level > 0, count % size == 0 || count == ranges[level].count else { return }
    let first = ranges[level].lowerBound + (count - 1) / size * size
    let whole = levels[level].box
    levels[level].box = .empty
    try append(whole, target: first, at: level - 1)
  }

  /// Writes all levels, the root first.
  mutating func write(to output: ByteOutput) throws(FieldpackError) {
    for index in levels.indices {
      try levels[index].flush()
      let file = levels[index].file
      for start in stride(from: 0, to: file.end, by: 1 << 16) {
        var chunk = [UInt8](repeating: 0, count: min(1 << 16, file.end - start))
        var failure: FieldpackError?
        chunk.withUnsafeMutableBytes { bytes in
          do throws(FieldpackError) { try file.read(into: bytes, at: start) } catch {
            failure = error
          }
        }
        if let failure { throw failure }
        try output.write(chunk)
      }
    }
  }
}

extension PackedIndexWriter.Level {
  fileprivate mutating func append(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { buffer.append(contentsOf: $0) }
  }

  fileprivate mutating func flush() throws(FieldpackError) {
    var failure: FieldpackError?
    buffer.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try file.append(bytes) } catch { failure = error }
    }
    buffer.removeAll(keepingCapacity: true)
    if let failure { throw failure }
  }
}
