/// A node of SQLite's R-trees (`ext/rtree/rtree.c`) that holds as many cells as it says.
///
/// Numbers are big-endian: two bytes of depth (set in the root only), two bytes of cell count, then
/// the cells. A cell is an id and four floats rounded outwards; the id is a row's in a leaf, and a
/// node's number above the leaves.
package struct RTreeNode {
  fileprivate static let headSize = 4
  fileprivate static let cellSize = 24
  /// SQLite puts at most 51 cells into a node.
  package static let greatestSize = headSize + cellSize * 51
  /// SQLite reports a deeper tree as damaged.
  package static let greatestDepth = 40
  /// The number of the root.
  package static let root: Int64 = 1

  private let bytes: UnsafeRawBufferPointer

  /// `nil` for a node that is cut short. `bytes` must outlive the node.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    guard bytes.count >= Self.headSize, Self.headSize + Self.cellSize * cellCount <= bytes.count
    else { return nil }
  }

  /// The number of cells that fit into a node of `size` bytes.
  static func capacity(ofSize size: Int) -> Int { (size - headSize) / cellSize }

  /// The number of levels below the root.
  package var depth: Int { Int(short(0)) }
  package var cellCount: Int { Int(short(2)) }
  package var entries: [RTreeEntry] {
    (0..<cellCount).map { RTreeEntry(id(of: $0), bounds(ofCell: $0)) }
  }

  private func short(_ offset: Int) -> UInt16 {
    UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  func id(of cell: Int) -> Int64 {
    let start = Self.headSize + cell * Self.cellSize
    return Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int64.self))
  }

  /// The bounds of the cell with an id; `nil` where no cell has it.
  package func bounds(of id: Int64) -> RTreeBounds? {
    (0..<cellCount).first { self.id(of: $0) == id }.map { bounds(ofCell: $0) }
  }

  func bounds(ofCell cell: Int) -> RTreeBounds {
    let start = Self.headSize + cell * Self.cellSize + 8
    func float(_ index: Int) -> Float {
      let bits = bytes.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self)
      return Float(bitPattern: UInt32(bigEndian: bits))
    }
    return RTreeBounds(float(0), float(1), float(2), float(3))
  }
}

/// Builds one node after another in the same bytes.
struct RTreeNodeBuilder {
  private(set) var bytes: [UInt8]
  private(set) var count = 0

  init(size: Int) { bytes = [UInt8](repeating: 0, count: size) }

  mutating func begin() { count = 0 }

  mutating func append(_ id: Int64, _ box: RTreeBounds) {
    let start = RTreeNode.headSize + RTreeNode.cellSize * count
    bytes.withUnsafeMutableBytes { buffer in
      buffer.storeBytes(of: id.bigEndian, toByteOffset: start, as: Int64.self)
      for axis in 0..<4 {
        buffer.storeBytes(
          of: box[axis].bitPattern.bigEndian, toByteOffset: start + 8 + 4 * axis, as: UInt32.self)
      }
    }
    count += 1
  }

  /// Writes the head and clears the bytes behind the cells.
  mutating func finish(depth: Int) {
    let (count, end) = (count, RTreeNode.headSize + RTreeNode.cellSize * count)
    bytes.withUnsafeMutableBytes { buffer in
      buffer.storeBytes(of: UInt16(depth).bigEndian, toByteOffset: 0, as: UInt16.self)
      buffer.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
      _ = UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).initializeMemory(
        as: UInt8.self, repeating: 0)
    }
  }
}
