package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Gathers the entries of an R-tree while rows are written, then packs the entries into full nodes.
///
/// The entries fill the nodes tile by tile (``TileOrder``), and the nodes go straight into the
/// shadow tables of SQLite's R-tree module. Node 1 is the root; the leaves follow in the order of
/// the tiles, then each level above them. So the nodes are written in the order of their keys while
/// the entries stream by.
///
/// Memory is bounded: entries beyond a limit wait in an unnamed temporary file. What stays in
/// memory is 16 bytes a node, twice that while the next level is sorted, and one slice of tiles.
package struct PackedRTree: ~Copyable {
  /// Entries kept in memory, 24 bytes each, with another 16 while they are sorted.
  package static let defaultLimit = 1 << 20

  private var entries: SpillSort<RTreeEntry>
  private var bounds = Envelope.empty
  private var lowestID = Int64.max
  private var highestID = Int64.min
  private let limit: Int
  private let folder: String?

  /// - Parameter folder: where a temporary file lies if one is needed.
  package init(limit: Int = Self.defaultLimit, folder: String? = nil) {
    self.limit = limit
    self.folder = folder
    entries = SpillSort(limit: limit, folder: folder)
  }

  package var count: Int { entries.count }

  package mutating func add(_ entry: RTreeEntry) throws(FieldpackError) {
    try entries.append(entry)
    lowestID = min(lowestID, entry.id)
    highestID = max(highestID, entry.id)
    bounds.extend(x: Double(entry.minX), y: Double(entry.minY))
    bounds.extend(x: Double(entry.maxX), y: Double(entry.maxY))
  }

  /// Gives the entries in the order they were added.
  package func visit(_ body: (RTreeEntry) throws(FieldpackError) -> Void) throws(FieldpackError) {
    try entries.visit(body)
  }

  /// Gives the entries along a Hilbert curve and forgets them.
  package mutating func takeAlongCurve(
    _ body: (RTreeEntry) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let curve = Hilbert.Curve(over: bounds)
    try entries.takeSorted(by: curve.position, body)
  }

  /// Replaces the content of the R-tree by the entries and forgets them.
  ///
  /// The connection must not be in defensive mode, and the ids must be distinct.
  package mutating func write(to shadow: RTreeShadow) throws(FieldpackError) {
    let nodeSize = try shadow.nodeSize()
    try shadow.empty()
    let layout = RTreeLayout(entries: count, nodeSize: nodeSize)
    var nodes = try RTreeNodeWriter(layout, to: shadow)
    var leaves = RowLeaves(
      ids: count == 0 ? nil : lowestID...highestID, count: count, limit: limit, folder: folder)
    try takeTiled(TileOrder(boxes: count, capacity: layout.capacity)) {
      (entry) throws(FieldpackError) in
      try leaves.set(nodes.number, of: entry.id)
      try nodes.append(entry)
    }
    try nodes.finish()
    var rows = try RTreePairs(shadow, table: "rowid", value: "nodeno")
    try leaves.take { (id, leaf) throws(FieldpackError) in try rows.append(id, leaf) }
    try rows.finish()
  }

  private mutating func takeTiled(
    _ tiles: TileOrder, _ body: (RTreeEntry) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    var slice: [RTreeEntry] = []
    var number = 0
    func close() throws(FieldpackError) {
      for index in TileOrder.order(of: slice, isReversed: number % 2 == 1, by: \.box.doubledY) {
        try body(slice[index])
      }
      slice.removeAll(keepingCapacity: true)
      number += 1
    }
    func column(_ entry: RTreeEntry) -> UInt64 { UInt64(TileOrder.key(entry.box.doubledX)) }
    try entries.takeSorted(by: column) { (entry) throws(FieldpackError) in
      slice.append(entry)
      if slice.count == tiles.boxesInSlice { try close() }
    }
    try close()
  }
}

/// The leaf of each row of an R-tree; set in any order, taken by ascending ids.
private struct RowLeaves: ~Copyable {
  private struct Pair: BitwiseCopyable {
    var id: Int64
    var leaf: Int64

    static func order(_ pair: Pair) -> UInt64 { RTreeEntry.order(of: pair.id) }
  }

  /// The leaf of each id from `first` on, 0 for an id without a row; used where the ids have few
  /// gaps.
  private var leaves: [UInt32] = []
  private let first: Int64
  private var pairs: SpillSort<Pair>

  /// - Parameter limit: pairs kept in memory; a pair takes as many bytes as four elements of
  ///   `leaves`.
  init(ids: ClosedRange<Int64>?, count: Int, limit: Int, folder: String?) {
    pairs = SpillSort(limit: limit, folder: folder)
    first = ids?.lowerBound ?? 0
    guard let ids else { return }
    let (span, isHuge) = ids.upperBound.subtractingReportingOverflow(ids.lowerBound)
    guard !isHuge, span < 4 * limit, span / 4 < count, count < UInt32.max else { return }
    leaves = Array(repeating: 0, count: Int(span) + 1)
  }

  mutating func set(_ leaf: Int64, of id: Int64) throws(FieldpackError) {
    if leaves.isEmpty {
      try pairs.append(Pair(id: id, leaf: leaf))
    } else {
      leaves[Int(id - first)] = UInt32(leaf)
    }
  }

  /// Gives the ids with their leaves and forgets them.
  mutating func take(
    _ body: (Int64, Int64) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    for offset in leaves.indices where leaves[offset] != 0 {
      try body(first + Int64(offset), Int64(leaves[offset]))
    }
    leaves = []
    try pairs.takeSorted(by: Pair.order) { (pair) throws(FieldpackError) in
      try body(pair.id, pair.leaf)
    }
  }
}

/// The number of nodes on each level of a packed R-tree, and their numbers.
struct RTreeLayout {
  let nodeSize: Int
  /// Cells in a full node.
  let capacity: Int
  /// The number of nodes on each level, from the leaves up.
  let levels: [Int]
  /// The number of the first node of each level.
  let firstNode: [Int64]

  init(entries: Int, nodeSize: Int) {
    self.nodeSize = nodeSize
    let capacity = RTreeNode.capacity(ofSize: nodeSize)
    self.capacity = capacity
    var levels = [max(1, (entries + capacity - 1) / capacity)]
    while levels[levels.count - 1] > 1 {
      levels.append((levels[levels.count - 1] + capacity - 1) / capacity)
    }
    self.levels = levels
    var next: Int64 = 2
    firstNode = levels.map { count in
      guard count > 1 else { return 1 }
      defer { next += Int64(count) }
      return next
    }
  }

  /// The number of levels above the leaves.
  var depth: Int { levels.count - 1 }
}
