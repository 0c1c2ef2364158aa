package import FieldpackSQLite

/// Reads an R-tree of SQLite's straight from its node table.
///
/// Reading nodes is faster than a query of the R-tree: SQLite's module runs its virtual machine and
/// copies each bound. Nodes above the leaves stay in memory for as long as the file does not
/// change. Nothing read is trusted: sizes, counts, depth and the way from node to node are checked.
package final class RTreeReader {
  /// The code of errors that report a damaged R-tree: `SQLITE_CORRUPT_VTAB`.
  package static let damageCode: Int32 = 267

  package let name: String
  private let schema: String
  /// Lives as long as the connection.
  private unowned let connection: Connection
  private let sql: String
  private var innerNodes: [Int64: InnerNode] = [:]
  private var rootDepth = 0
  private var version: UInt32?

  private static let keptNodes = 4_096

  private struct InnerNode {
    var children: [Int64]
    var bounds: [RTreeBounds]
    /// The number of entries of each child that is a leaf and has been read; -1 for other children.
    var counts: [Int]
  }

  package init(name: String, in schema: String = "main", on connection: Connection) {
    self.name = name
    self.schema = schema
    self.connection = connection
    sql = "SELECT data FROM \(quoted(schema)).\(quoted("\(name)_node")) WHERE nodeno = ?"
  }

  /// The ids of the entries that satisfy the window's relation whatever the rounding of their
  /// bounds was, and of those that may satisfy it, in no order.
  package func candidates(_ window: RTreeWindow) throws(SQLiteError) -> (
    certain: [Int64], uncertain: [Int64]
  ) {
    var (certain, uncertain): ([Int64], [Int64]) = ([], [])
    try visit(window) { id, bounds in
      if window.surelyHolds(bounds) { certain.append(id) } else { uncertain.append(id) }
    }
    return (certain, uncertain)
  }

  /// Gives every entry that may satisfy the window's relation, in no order.
  @inline(__always)
  package func visit(
    _ window: RTreeWindow, _ body: (Int64, RTreeBounds) -> Void
  ) throws(SQLiteError) {
    let nodes = try begin()
    var seen: Set<Int64> = []
    var waiting = [(number: RTreeNode.root, depth: rootDepth, bounds: Self.everywhere)]
    while let (number, depth, above) = waiting.popLast() {
      try note(number, in: &seen)
      guard depth > 0 else {
        var isHeld = true
        try read(number, nodes) { leaf in
          for cell in 0..<leaf.cellCount {
            let bounds = leaf.bounds(ofCell: cell)
            if !Self.holds(above, bounds) { isHeld = false }
            if window.mayHold(bounds) { body(leaf.id(of: cell), bounds) }
          }
        }
        guard isHeld else { throw beyond(number) }
        continue
      }
      let node = try innerNode(number, nodes)
      for (child, bounds) in zip(node.children, node.bounds) {
        guard Self.holds(above, bounds) else { throw beyond(number) }
        if window.mayHoldBelow(bounds) { waiting.append((child, depth - 1, bounds)) }
      }
    }
  }

  /// How many entries surely satisfy the window's relation, and the ids of those that may.
  ///
  /// Entries below a node that lies wholly inside the window are counted without reading their
  /// bounds.
  package func count(_ window: RTreeWindow) throws(SQLiteError) -> (
    certain: Int, uncertain: [Int64]
  ) {
    let nodes = try begin()
    var certain = 0
    var uncertain: [Int64] = []
    var seen: Set<Int64> = []
    var waiting = [(number: RTreeNode.root, depth: rootDepth, isInside: false)]
    while let (number, depth, isInside) = waiting.popLast() {
      try note(number, in: &seen)
      guard depth > 0 else {
        try read(number, nodes) { leaf in
          if isInside { certain += leaf.cellCount }
          guard !isInside else { return }
          for cell in 0..<leaf.cellCount {
            let bounds = leaf.bounds(ofCell: cell)
            if window.surelyHolds(bounds) {
              certain += 1
            } else if window.mayHold(bounds) {
              uncertain.append(leaf.id(of: cell))
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

  /// How many leaves may have entries that satisfy the window's relation; `nil` where there are more than
  /// `most`. Leaves are not read for it. A leaf has 51 entries at most.
  package func leafCount(
    _ window: RTreeWindow, upTo most: Int
  ) throws(SQLiteError) -> Int? {
    let nodes = try begin()
    guard rootDepth > 0 else { return 1 }
    var count = 0
    var seen: Set<Int64> = []
    var waiting = [(number: RTreeNode.root, depth: rootDepth)]
    while let (number, depth) = waiting.popLast() {
      try note(number, in: &seen)
      let node = try innerNode(number, nodes)
      for (child, bounds) in zip(node.children, node.bounds) where window.mayHoldBelow(bounds) {
        if depth > 1 { waiting.append((child, depth - 1)) } else { count += 1 }
      }
      guard count <= most else { return nil }
    }
    return count
  }

  /// The number of the root and its depth; a walk begins with it.
  package func root() throws(SQLiteError) -> (number: Int64, depth: Int) {
    _ = try begin()
    return (RTreeNode.root, rootDepth)
  }

  /// The children of a node with their bounds; at depth 0 its entries.
  package func content(
    of number: Int64, depth: Int
  ) throws(SQLiteError) -> [(id: Int64, bounds: RTreeBounds)] {
    let nodes = try prepareNodes()
    if depth > 0 {
      let node = try innerNode(number, nodes)
      return zip(node.children, node.bounds).map { ($0, $1) }
    }
    return try read(number, nodes) { leaf in
      (0..<leaf.cellCount).map { (leaf.id(of: $0), leaf.bounds(ofCell: $0)) }
    }
  }

  // MARK: Nodes

  /// Reads the depth, and forgets the nodes of an earlier state of the file.
  private func begin() throws(SQLiteError) -> Statement {
    // A rollback of what this connection wrote gives no new version, so that nothing is kept then.
    let current = connection.totalChanges == 0 ? connection.snapshotVersion(of: schema) : nil
    let nodes = try prepareNodes()
    if let current, current == version { return nodes }
    version = nil
    innerNodes.removeAll(keepingCapacity: true)
    rootDepth = try read(RTreeNode.root, nodes) { $0.depth }
    guard rootDepth <= RTreeNode.greatestDepth else {
      throw damage("it is \(rootDepth) nodes deep")
    }
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
    let node = try read(number, nodes) { node in
      let cells = 0..<node.cellCount
      return InnerNode(
        children: cells.map { node.id(of: $0) }, bounds: cells.map { node.bounds(ofCell: $0) },
        counts: [Int](repeating: -1, count: cells.count))
    }
    if innerNodes.count < Self.keptNodes { innerNodes[number] = node }
    return node
  }

  private func leafCount(
    _ index: Int, of number: Int64, _ node: InnerNode, _ nodes: Statement
  ) throws(SQLiteError) -> Int {
    if let count = innerNodes[number]?.counts[index], count >= 0 { return count }
    let count = try read(node.children[index], nodes) { $0.cellCount }
    innerNodes[number]?.counts[index] = count
    return count
  }

  /// Lends a node to `body`.
  private func read<R>(
    _ number: Int64, _ nodes: Statement, _ body: (RTreeNode) -> R
  ) throws(SQLiteError) -> R {
    defer { nodes.reset() }
    try nodes.bind(number, at: 1)
    guard try nodes.step() else { throw damage("node \(number) is missing") }
    let result: R? = nodes.withBytes(0) { span in
      span.withUnsafeBytes { RTreeNode($0).map(body) }
    }
    guard let result else { throw damage("node \(number) is cut short") }
    return result
  }

  /// Refuses a node that the walk has met before: a tree has each node once, and a cycle of nodes
  /// would keep the walk from ending.
  package func note(_ number: Int64, in seen: inout Set<Int64>) throws(SQLiteError) {
    guard seen.insert(number).inserted else {
      throw damage("node \(number) is the child of two nodes")
    }
  }

  private static let everywhere: RTreeBounds = [-.infinity, .infinity, -.infinity, .infinity]

  /// Whether a node's bounds hold those of an entry below it. NaN lies in all bounds, as in a
  /// search.
  @inline(__always)
  package static func holds(_ node: RTreeBounds, _ entry: RTreeBounds) -> Bool {
    let signs: RTreeBounds = [1, -1, 1, -1]
    return !any(entry * signs .< node * signs)
  }

  private func beyond(_ number: Int64) -> SQLiteError {
    damage("node \(number) reaches beyond the bounds that the node above it states")
  }

  private func damage(_ what: String) -> SQLiteError {
    SQLiteError(extendedCode: Self.damageCode, message: "the R-tree \(name) is damaged: \(what)")
  }
}
