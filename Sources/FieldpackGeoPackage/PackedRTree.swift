import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// The entries of an R-tree, gathered while rows are written and then packed into full nodes, tile
/// by tile (``TileOrder``), straight into the shadow tables of SQLite's R-tree module.
///
/// The node format is SQLite's (`ext/rtree/rtree.c`): big-endian; two bytes of depth, which only
/// the root fills in; two bytes of cell count; then cells of an eight-byte id, a row's in a leaf
/// and a node's above, with minx, maxx, miny, maxy as floats rounded outwards. Node 1 is the root;
/// behind it come the leaves in the order of the tiles, then each level above them, so that nodes
/// are written in the order of their key while the entries stream by.
///
/// Memory is bounded: entries beyond a limit wait in an unnamed temporary file. What stays is 16
/// bytes a node, twice that while the next level is put in order, and one slice of tiles.
struct PackedRTree: ~Copyable {
  /// Entries kept in memory, 24 bytes each, with another 16 while they are sorted.
  static let defaultLimit = 1 << 19

  private var entries: SpillSort<RTreeEntry>
  private var bounds = Envelope.empty
  private let limit: Int
  private let folder: String?

  /// - Parameter folder: where a temporary file lies if there is need for one.
  init(limit: Int = Self.defaultLimit, folder: String? = nil) {
    self.limit = limit
    self.folder = folder
    entries = SpillSort(limit: limit, folder: folder)
  }

  var count: Int { entries.count }

  mutating func add(_ entry: RTreeEntry) throws(FieldpackError) {
    try entries.append(entry)
    bounds.extend(x: Double(entry.minX), y: Double(entry.minY))
    bounds.extend(x: Double(entry.maxX), y: Double(entry.maxY))
  }

  /// Gives the entries in the order they were added.
  func visit(_ body: (RTreeEntry) throws(FieldpackError) -> Void) throws(FieldpackError) {
    try entries.visit(body)
  }

  /// Gives the entries along a Hilbert curve, which are then gone from here.
  mutating func takeAlongCurve(
    _ body: (RTreeEntry) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let curve = Hilbert.Curve(over: bounds)
    try entries.takeSorted(by: curve.place, body)
  }

  /// Replaces what the R-tree `name` holds by the entries, which are then gone from here.
  ///
  /// The connection must not be in defensive mode, and the ids must be distinct.
  mutating func write(to file: GeoPackageFile, rtree name: String) throws(FieldpackError) {
    let shadow = RTreeShadow(file: file, name: name)
    let nodeSize = try shadow.nodeSize()
    try shadow.empty()
    let layout = RTreeLayout(entries: count, nodeSize: nodeSize)
    var nodes = try RTreeNodeWriter(layout, to: shadow)
    var leaves = SpillSort<LeafOfRow>(limit: limit, folder: folder)
    try takeTiled(TileOrder(boxes: count, capacity: layout.capacity)) {
      (entry) throws(FieldpackError) in
      try leaves.append(LeafOfRow(id: entry.id, leaf: nodes.number))
      try nodes.append(entry)
    }
    try nodes.finish()
    var rows = try RTreePairs(shadow, table: "rowid")
    try leaves.takeSorted(by: LeafOfRow.order) { (row) throws(FieldpackError) in
      try rows.append(row.id, row.leaf)
    }
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

  private struct LeafOfRow: BitwiseCopyable {
    var id: Int64
    var leaf: Int64

    /// The id, the lowest of all as 0.
    static func order(_ row: LeafOfRow) -> UInt64 { UInt64(bitPattern: row.id) ^ 1 << 63 }
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
    let capacity = (nodeSize - 4) / 24
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
