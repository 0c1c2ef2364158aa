import FieldpackGeometry
import FieldpackSQLite

/// The entries of an R-tree, gathered while rows are written and then packed into full nodes along
/// a Hilbert curve, straight into the shadow tables of SQLite's R-tree module.
///
/// The node format is SQLite's (`ext/rtree/rtree.c`): big-endian; two bytes of depth, which only
/// the root fills in; two bytes of cell count; then cells of an eight-byte id, a row's in a leaf
/// and a node's above, with minx, maxx, miny, maxy as floats rounded outwards. Node 1 is the root.
struct PackedRTree {
  private(set) var entries: [RTreeEntry] = []
  private var bounds = Envelope.empty
  /// What SQLite takes for the size of a node: the page's less 64 bytes.
  private static let nodeSizes: ClosedRange<Int64> = 448...65_536

  var count: Int { entries.count }

  mutating func add(_ entry: RTreeEntry) {
    entries.append(entry)
    bounds.extend(x: Double(entry.minX), y: Double(entry.minY))
    bounds.extend(x: Double(entry.maxX), y: Double(entry.maxY))
  }

  /// Replaces what the R-tree `name` holds by the entries.
  ///
  /// The connection must not be in defensive mode, and the ids must be distinct.
  func write(to connection: Connection, rtree name: String) throws(SQLiteError) {
    let shadow = { (suffix: String) in quoted("\(name)_\(suffix)") }
    let root = try connection.scalar(
      "SELECT length(data) FROM \(shadow("node")) WHERE nodeno = 1")
    guard case .integer(let size)? = root, Self.nodeSizes.contains(size) else {
      throw SQLiteError(
        extendedCode: 11, message: "the R-tree \(name) has no usable root node")
    }
    for suffix in ["node", "parent", "rowid"] {
      try connection.execute("DELETE FROM \(shadow(suffix))")
    }
    let layout = Layout(entries: count, capacity: (Int(size) - 4) / 24, nodeSize: Int(size))
    let order = hilbertOrder()
    let nodes = try connection.prepare("INSERT INTO \(shadow("node")) VALUES (?, ?)")
    try writeNodes(layout, order, nodes)
    let parents = try connection.prepare("INSERT INTO \(shadow("parent")) VALUES (?, ?)")
    try writeParents(layout, parents)
    let rows = try connection.prepare("INSERT INTO \(shadow("rowid")) VALUES (?, ?)")
    try writeRows(layout, order, rows)
  }

  // MARK: Layout

  /// How many nodes each level has, from the root down; nodes are numbered in that order.
  struct Layout {
    let capacity: Int
    let nodeSize: Int
    /// Nodes a level, the root's first.
    let levels: [Int]
    /// The number of the first node of each level.
    let firstNode: [Int64]

    init(entries: Int, capacity: Int, nodeSize: Int) {
      self.capacity = capacity
      self.nodeSize = nodeSize
      var levels = [max(1, (entries + capacity - 1) / capacity)]
      while levels[0] > 1 { levels.insert((levels[0] + capacity - 1) / capacity, at: 0) }
      self.levels = levels
      var next: Int64 = 1
      firstNode = levels.map { count in
        defer { next += Int64(count) }
        return next
      }
    }

    var leafLevel: Int { levels.count - 1 }
  }

  private func writeNodes(
    _ layout: Layout, _ order: [UInt32], _ statement: Statement
  ) throws(SQLiteError) {
    var level = layout.leafLevel
    // Bounds are found from the leaves up, nodes are written from the root down, so that the table
    // grows in the order of its key.
    var boundsByLevel = [[SIMD4<Float>]](repeating: [], count: layout.levels.count)
    boundsByLevel[level] = unions(of: order.count, capacity: layout.capacity) {
      entries[Int(order[$0])].box
    }
    while level > 0 {
      let below = boundsByLevel[level]
      level -= 1
      boundsByLevel[level] = unions(of: below.count, capacity: layout.capacity) { below[$0] }
    }
    var node = Node(size: layout.nodeSize)
    for level in 0...layout.leafLevel {
      let isLeaf = level == layout.leafLevel
      let childCount = isLeaf ? order.count : layout.levels[level + 1]
      for index in 0..<layout.levels[level] {
        let range = index * layout.capacity..<min(childCount, (index + 1) * layout.capacity)
        node.begin(depth: level == 0 ? layout.leafLevel : 0, count: range.count)
        for child in range {
          if isLeaf {
            let entry = entries[Int(order[child])]
            node.append(entry.id, entry.box)
          } else {
            node.append(layout.firstNode[level + 1] + Int64(child), boundsByLevel[level + 1][child])
          }
        }
        try node.insert(layout.firstNode[level] + Int64(index), with: statement)
      }
    }
  }

  private func unions(
    of count: Int, capacity: Int, box: (Int) -> SIMD4<Float>
  ) -> [SIMD4<Float>] {
    stride(from: 0, to: max(count, 1), by: capacity).map { start in
      var union = SIMD4<Float>(.infinity, -.infinity, .infinity, -.infinity)
      for index in start..<min(count, start + capacity) {
        let next = box(index)
        union = SIMD4(
          min(union[0], next[0]), max(union[1], next[1]), min(union[2], next[2]),
          max(union[3], next[3]))
      }
      return union
    }
  }

  private func writeParents(_ layout: Layout, _ statement: Statement) throws(SQLiteError) {
    for level in layout.levels.indices.dropFirst() {
      for index in 0..<layout.levels[level] {
        let parent = layout.firstNode[level - 1] + Int64(index / layout.capacity)
        try statement.bind(layout.firstNode[level] + Int64(index), at: 1)
        try statement.bind(parent, at: 2)
        try statement.run()
      }
    }
  }

  private func writeRows(
    _ layout: Layout, _ order: [UInt32], _ statement: Statement
  ) throws(SQLiteError) {
    var leaf = [UInt32](repeating: 0, count: count)
    for (place, entry) in order.enumerated() {
      leaf[Int(entry)] = UInt32(place / layout.capacity)
    }
    let first = layout.firstNode[layout.leafLevel]
    for entry in entriesByID() {
      try statement.bind(entries[Int(entry)].id, at: 1)
      try statement.bind(first + Int64(leaf[Int(entry)]), at: 2)
      try statement.run()
    }
  }

  private func entriesByID() -> [UInt32] {
    let places = Array(0..<UInt32(count))
    let isSorted = entries.indices.dropFirst().allSatisfy { entries[$0 - 1].id < entries[$0].id }
    return isSorted ? places : places.sorted { entries[Int($0)].id < entries[Int($1)].id }
  }

  // MARK: Hilbert order

  /// The entries by the place of their centres on a Hilbert curve over the bounds.
  private func hilbertOrder() -> [UInt32] {
    guard count > 1 else { return Array(0..<UInt32(count)) }
    let scaleX = bounds.width > 0 ? 65_535 / bounds.width : 0
    let scaleY = bounds.height > 0 ? 65_535 / bounds.height : 0
    var keyed = [UInt64]()
    keyed.reserveCapacity(count)
    for (index, entry) in entries.enumerated() {
      let box = entry.box
      let x = ((Double(box[0]) + Double(box[1])) / 2 - bounds.minX) * scaleX
      let y = ((Double(box[2]) + Double(box[3])) / 2 - bounds.minY) * scaleY
      let key = Hilbert.index(x: Self.cell(x), y: Self.cell(y))
      keyed.append(UInt64(key) << 32 | UInt64(index))
    }
    RadixSort.sortByUpperHalf(&keyed)
    return keyed.map { UInt32(truncatingIfNeeded: $0) }
  }

  private static func cell(_ value: Double) -> UInt32 {
    value.isFinite ? UInt32(max(0, min(65_535, value))) : 0
  }
}

/// A node in the making, its bytes reused.
private struct Node {
  private var bytes: [UInt8]
  private var end = 4

  init(size: Int) { bytes = [UInt8](repeating: 0, count: size) }

  mutating func begin(depth: Int, count: Int) {
    bytes.withUnsafeMutableBytes { buffer in
      buffer.storeBytes(of: UInt16(depth).bigEndian, toByteOffset: 0, as: UInt16.self)
      buffer.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
    }
    end = 4
  }

  mutating func append(_ id: Int64, _ box: SIMD4<Float>) {
    let start = end
    bytes.withUnsafeMutableBytes { buffer in
      buffer.storeBytes(of: id.bigEndian, toByteOffset: start, as: Int64.self)
      for axis in 0..<4 {
        buffer.storeBytes(
          of: box[axis].bitPattern.bigEndian, toByteOffset: start + 8 + 4 * axis, as: UInt32.self)
      }
    }
    end += 24
  }

  /// Writes the node; what lies behind its cells is cleared.
  mutating func insert(_ number: Int64, with statement: Statement) throws(SQLiteError) {
    let used = end
    bytes.withUnsafeMutableBytes { buffer in
      _ = UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).initializeMemory(
        as: UInt8.self, repeating: 0)
    }
    try statement.bind(number, at: 1)
    try statement.bind(bytes, at: 2)
    try statement.run()
  }
}
