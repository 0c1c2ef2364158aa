package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// The entries of an R-tree, gathered while rows are written and then packed into full nodes, tile
/// by tile (``TileOrder``), straight into the shadow tables of SQLite's R-tree module.
///
/// Node 1 is the root; behind it come the leaves in the order of the tiles, then each level above
/// them, so that nodes are written in the order of their key while the entries stream by.
///
/// Memory is bounded: entries beyond a limit wait in an unnamed temporary file. What stays is 16
/// bytes a node, twice that while the next level is put in order, and one slice of tiles.
package struct PackedRTree: ~Copyable {
  /// Entries kept in memory, 24 bytes each, with another 16 while they are sorted.
  package static let defaultLimit = 1 << 20

  private var entries: SpillSort<RTreeEntry>
  private var bounds = Envelope.empty
  private var lowestID = Int64.max
  private var highestID = Int64.min
  private let limit: Int
  private let folder: String?

  /// - Parameter folder: where a temporary file lies if there is need for one.
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

  /// Gives the entries along a Hilbert curve, which are then gone from here.
  package mutating func takeAlongCurve(
    _ body: (RTreeEntry) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let curve = Hilbert.Curve(over: bounds)
    try entries.takeSorted(by: curve.place, body)
  }

  /// Replaces what the R-tree holds by the entries, which are then gone from here.
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

/// Which leaf of an R-tree each row is in, given in any order and taken by ascending ids.
private struct RowLeaves: ~Copyable {
  private struct Pair: BitwiseCopyable {
    var id: Int64
    var leaf: Int64

    static func order(_ pair: Pair) -> UInt64 { RTreeEntry.order(of: pair.id) }
  }

  /// A leaf for each id from the first on, 0 for an id without; used where few are.
  private var places: [UInt32] = []
  private let first: Int64
  private var pairs: SpillSort<Pair>

  /// - Parameter limit: pairs kept in memory; as many bytes hold four times as many places.
  init(ids: ClosedRange<Int64>?, count: Int, limit: Int, folder: String?) {
    pairs = SpillSort(limit: limit, folder: folder)
    first = ids?.lowerBound ?? 0
    guard let ids else { return }
    let (span, isHuge) = ids.upperBound.subtractingReportingOverflow(ids.lowerBound)
    guard !isHuge, span < 4 * limit, span / 4 < count, count < UInt32.max else { return }
    places = Array(repeating: 0, count: Int(span) + 1)
  }

  mutating func set(_ leaf: Int64, of id: Int64) throws(FieldpackError) {
    if places.isEmpty {
      try pairs.append(Pair(id: id, leaf: leaf))
    } else {
      places[Int(id - first)] = UInt32(leaf)
    }
  }

  /// Gives ids and leaves, which are then gone from here.
  mutating func take(
    _ body: (Int64, Int64) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    for place in places.indices where places[place] != 0 {
      try body(first + Int64(place), Int64(places[place]))
    }
    places = []
    try pairs.takeSorted(by: Pair.order) { (pair) throws(FieldpackError) in
      try body(pair.id, pair.leaf)
    }
  }
}

/// How many nodes each level of a packed R-tree has, and which.
struct RTreeLayout {
  let nodeSize: Int
  /// Cells in a full node.
  let capacity: Int
  /// Nodes a level, the leaves first.
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

  /// Levels above the leaves.
  var depth: Int { levels.count - 1 }
}
