import FieldpackCore
import FieldpackGeometry

/// The packed R-tree of a FlatGeobuf file: full nodes, the root first, the leaves last.
///
/// An entry has 40 bytes: a box as four doubles and, of a leaf, the offset of the feature behind the
/// first one, else the number of the first entry below it.
package struct PackedIndex {
  package static let entrySize = 40
  /// The node size that files have by default.
  package static let usualNodeSize = 16

  private let input: ByteInput
  private let start: Int
  private let nodeSize: Int
  /// The entries of each level, the root first.
  private let levels: [Range<Int>]

  /// `nil` where the file has no index.
  init?(of file: borrowing FlatGeobufFile, _ input: ByteInput) {
    guard file.header.nodeSize > 0 else { return nil }
    self.input = input
    start = file.indexStart
    nodeSize = file.header.nodeSize
    levels = Self.levels(file.header.featureCount, nodeSize)
  }

  /// The entries of each level of an index, the root first.
  package static func levels(_ count: Int, _ nodeSize: Int) -> [Range<Int>] {
    var counts = [count]
    repeat {
      counts.append((counts[counts.count - 1] + nodeSize - 1) / nodeSize)
    } while counts.last != 1
    var levels: [Range<Int>] = []
    for count in counts.reversed() {
      let start = levels.last?.upperBound ?? 0
      levels.append(start..<start + count)
    }
    return levels
  }

  /// The bytes of an index; 0 for a node size of 0.
  ///
  /// - Throws: `.invalidData` where more are needed than there are.
  static func size(
    _ count: Int, _ nodeSize: Int, in room: Int
  ) throws(FieldpackError) -> Int {
    guard nodeSize > 0, count > 0 else { return 0 }
    guard nodeSize > 1 else {
      throw FieldpackError(.invalidData, "the index has nodes of one entry")
    }
    guard count <= room / entrySize,
      let entries = levels(count, nodeSize).last?.upperBound, entries <= room / entrySize
    else {
      throw FieldpackError(.invalidData, "the file ends within the index of its \(count) features")
    }
    return entries * entrySize
  }

  /// The offsets of the features whose boxes touch one of `boxes`, ascending and each once; `nil`
  /// where more than `limit` do.
  func features(touching boxes: [Envelope], limit: Int) throws(FieldpackError) -> [Int]? {
    var found: [Int] = []
    var waiting = [(level: 0, entry: 0)]
    let node = UnsafeMutableRawBufferPointer.allocate(
      byteCount: nodeSize * Self.entrySize, alignment: 8)
    defer { node.deallocate() }
    while let (level, first) = waiting.popLast() {
      let end = min(first + nodeSize, levels[level].upperBound)
      let size = (end - first) * Self.entrySize
      try read(node, size, at: start + first * Self.entrySize)
      for place in stride(from: 0, to: size, by: Self.entrySize) {
        let entry = UnsafeRawBufferPointer(rebasing: node[place..<place + Self.entrySize])
        guard boxes.contains(where: Self.box(entry).intersects) else { continue }
        let target = UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
        guard let target = Int(exactly: target) else { throw Self.damaged }
        if level == levels.count - 1 {
          guard target < input.size else {
            throw FieldpackError(.invalidData, "the index leads behind the end of the file")
          }
          found.append(target)
          if found.count > limit { return nil }
        } else {
          guard levels[level + 1].contains(target) else { throw Self.damaged }
          waiting.append((level + 1, target))
        }
      }
    }
    found.sort()
    var distinct: [Int] = []
    for offset in found where offset != distinct.last { distinct.append(offset) }
    return distinct
  }

  private static let damaged = FieldpackError(
    .invalidData, "the index is damaged: an entry leads to none of the level below")

  private static func box(_ entry: UnsafeRawBufferPointer) -> Envelope {
    func ordinate(_ index: Int) -> Double {
      Double(
        bitPattern: UInt64(
          littleEndian: entry.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)))
    }
    return Envelope(
      minX: ordinate(0), minY: ordinate(1), maxX: ordinate(2), maxY: ordinate(3))
  }

  private func read(
    _ buffer: UnsafeMutableRawBufferPointer, _ count: Int, at offset: Int
  ) throws(FieldpackError) {
    input.seek(to: offset)
    var filled = 0
    while filled < count {
      let got = try input.read(
        into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<count]))
      guard got > 0 else {
        throw FieldpackError(.invalidData, "the file ends within its index")
      }
      filled += got
    }
  }
}
