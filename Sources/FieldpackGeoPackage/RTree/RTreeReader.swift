import FieldpackSQLite

/// Reads an R-tree of SQLite's straight from its node table, which spares SQLite's own module, its
/// virtual machine and a copy of each bound.
///
/// Nodes above the leaves are kept for as long as the file does not change. Nothing read is
/// trusted: sizes, counts, depth and the way from node to node are checked.
final class RTreeReader {
  /// Why an R-tree cannot be used: `SQLITE_CORRUPT_VTAB`.
  static let damageCode: Int32 = 267

  let name: String
  private let schema: String
  /// Lives as long as the connection.
  private unowned let connection: Connection
  private let sql: String
  private var innerNodes: [Int64: InnerNode] = [:]
  private var rootDepth = 0
  private var version: UInt32?

  /// SQLite takes no tree to be deeper.
  private static let greatestDepth = 40
  private static let keptNodes = 4_096
  /// The number of the root.
  private static let root: Int64 = 1

  private struct InnerNode {
    var children: [Int64]
    var bounds: [RTreeBounds]
    /// How many entries each child has, where the children are leaves and have been read.
    var counts: [Int]
  }

  init(name: String, in schema: String = "main", on connection: Connection) {
    self.name = name
    self.schema = schema
    self.connection = connection
    sql = "SELECT data FROM \(quoted(schema)).\(quoted("\(name)_node")) WHERE nodeno = ?"
  }

  /// Gives every entry that may satisfy the window's relation, in no order.
  func visit(
    _ window: RTreeWindow, _ body: (Int64, RTreeBounds) -> Void
  ) throws(SQLiteError) {
    let nodes = try begin()
    var seen: Set<Int64> = []
    var waiting = [(number: Self.root, depth: rootDepth)]
    while let (number, depth) = waiting.popLast() {
      try note(number, in: &seen)
      guard depth > 0 else {
        try readLeaf(number, nodes) { bytes, count in
          for cell in 0..<count {
            let bounds = Self.bounds(of: cell, in: bytes)
            if window.mayHold(bounds) { body(Self.id(of: cell, in: bytes), bounds) }
          }
        }
        continue
      }
      let node = try innerNode(number, nodes)
      for (child, bounds) in zip(node.children, node.bounds) where window.mayHoldBelow(bounds) {
        waiting.append((child, depth - 1))
      }
    }
  }

  /// How many entries surely satisfy the window's relation, and the ids of those that may.
  ///
  /// Below a node that lies wholly inside entries are counted and not read.
  func count(_ window: RTreeWindow) throws(SQLiteError) -> (certain: Int, uncertain: [Int64]) {
    let nodes = try begin()
    var certain = 0
    var uncertain: [Int64] = []
    var seen: Set<Int64> = []
    var waiting = [(number: Self.root, depth: rootDepth, isInside: false)]
    while let (number, depth, isInside) = waiting.popLast() {
      try note(number, in: &seen)
      guard depth > 0 else {
        try readLeaf(number, nodes) { bytes, count in
          if isInside { certain += count }
          guard !isInside else { return }
          for cell in 0..<count {
            let bounds = Self.bounds(of: cell, in: bytes)
            if window.surelyHolds(bounds) {
              certain += 1
            } else if window.mayHold(bounds) {
              uncertain.append(Self.id(of: cell, in: bytes))
            }
          }
        }
        continue
      }
      let node = try innerNode(number, nodes)
      for (index, bounds) in node.bounds.enumerated() {
        let isInside = isInside || window.surelyHoldsAllBelow(bounds)
        guard isInside || window.mayHoldBelow(bounds) else { continue }
        if isInside, depth == 1 {
          certain += try leafCount(index, of: number, node, nodes)
        } else {
          waiting.append((node.children[index], depth - 1, isInside))
        }
      }
    }
    return (certain, uncertain)
  }

  /// The number of the root and its depth; a walk begins with it.
  func root() throws(SQLiteError) -> (number: Int64, depth: Int) {
    _ = try begin()
    return (Self.root, rootDepth)
  }

  /// The children of a node with their bounds; at depth 0 its entries.
  func content(
    of number: Int64, depth: Int
  ) throws(SQLiteError) -> [(id: Int64, bounds: RTreeBounds)] {
    let nodes = try prepareNodes()
    if depth > 0 {
      let node = try innerNode(number, nodes)
      return zip(node.children, node.bounds).map { ($0, $1) }
    }
    var entries: [(Int64, RTreeBounds)] = []
    try readLeaf(number, nodes) { bytes, count in
      for cell in 0..<count {
        entries.append((Self.id(of: cell, in: bytes), Self.bounds(of: cell, in: bytes)))
      }
    }
    return entries
  }

  // MARK: Nodes

  /// Makes sure of the depth, and forgets nodes of another state of the file.
  private func begin() throws(SQLiteError) -> Statement {
    // What this connection has written can be undone without a new version.
    let current = connection.totalChanges == 0 ? connection.snapshotVersion(of: schema) : nil
    let nodes = try prepareNodes()
    if let current, current == version { return nodes }
    version = nil
    innerNodes.removeAll(keepingCapacity: true)
    rootDepth = try read(Self.root, nodes) { bytes in Int(Self.integer(at: 0, in: bytes)) }
    guard rootDepth <= Self.greatestDepth else { throw damage("it is \(rootDepth) nodes deep") }
    version = current
    return nodes
  }

  private func prepareNodes() throws(SQLiteError) -> Statement {
    do throws(SQLiteError) {
      return try connection.prepare(sql)
    } catch  where error.code == 1 {
      throw damage("its nodes cannot be read: \(error.message)")
    }
  }

  private func innerNode(
    _ number: Int64, _ nodes: Statement
  ) throws(SQLiteError) -> InnerNode {
    if let kept = innerNodes[number] { return kept }
    let node = try read(number, nodes) { bytes in
      let cells = 0..<Self.cellCount(in: bytes)
      return InnerNode(
        children: cells.map { Self.id(of: $0, in: bytes) },
        bounds: cells.map { Self.bounds(of: $0, in: bytes) },
        counts: [Int](repeating: -1, count: cells.count))
    }
    if innerNodes.count < Self.keptNodes { innerNodes[number] = node }
    return node
  }

  private func leafCount(
    _ index: Int, of number: Int64, _ node: InnerNode, _ nodes: Statement
  ) throws(SQLiteError) -> Int {
    if let count = innerNodes[number]?.counts[index], count >= 0 { return count }
    var count = 0
    try readLeaf(node.children[index], nodes) { _, found in count = found }
    innerNodes[number]?.counts[index] = count
    return count
  }

  private func readLeaf(
    _ number: Int64, _ nodes: Statement, _ body: (UnsafeRawBufferPointer, Int) -> Void
  ) throws(SQLiteError) {
    try read(number, nodes) { bytes in body(bytes, Self.cellCount(in: bytes)) }
  }

  /// Lends the node's bytes, which hold as many cells as they say.
  private func read<R>(
    _ number: Int64, _ nodes: Statement, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(SQLiteError) -> R {
    defer { nodes.reset() }
    try nodes.bind(number, at: 1)
    guard try nodes.step() else { throw damage("node \(number) is missing") }
    let result: R? = nodes.withBytes(0) { span in
      span.withUnsafeBytes { bytes in
        let isWhole = bytes.count >= 4 && 4 + Self.cellCount(in: bytes) * 24 <= bytes.count
        return isWhole ? body(bytes) : nil
      }
    }
    guard let result else { throw damage("node \(number) is cut short") }
    return result
  }

  /// A tree comes to each node but once; one that does not could keep a reader for ever.
  func note(_ number: Int64, in seen: inout Set<Int64>) throws(SQLiteError) {
    guard seen.insert(number).inserted else {
      throw damage("node \(number) is the child of two nodes")
    }
  }

  private func damage(_ what: String) -> SQLiteError {
    SQLiteError(extendedCode: Self.damageCode, message: "the R-tree \(name) is damaged: \(what)")
  }

  // MARK: Bytes

  // Numbers are big-endian: two bytes of depth, in the root only, two of cell count, then cells of
  // an id and four floats. `read` has checked that all cells are there.

  private static func integer(at offset: Int, in bytes: UnsafeRawBufferPointer) -> UInt16 {
    UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  private static func cellCount(in bytes: UnsafeRawBufferPointer) -> Int {
    Int(integer(at: 2, in: bytes))
  }

  private static func id(of cell: Int, in bytes: UnsafeRawBufferPointer) -> Int64 {
    Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 + cell * 24, as: Int64.self))
  }

  private static func bounds(of cell: Int, in bytes: UnsafeRawBufferPointer) -> RTreeBounds {
    let start = 4 + cell * 24 + 8
    func float(_ index: Int) -> Float {
      let bits = bytes.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self)
      return Float(bitPattern: UInt32(bigEndian: bits))
    }
    return RTreeBounds(float(0), float(1), float(2), float(3))
  }
}
