import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite

/// Compares an R-tree with the rows that it indexes: its nodes first, then every entry.
///
/// Entries are sorted by id in bounded memory, and merged with the rows as these are read.
struct IndexAudit: ~Copyable {
  private let check: ConformanceCheck
  private let table: String
  private let column: String
  private let shadow: RTreeShadow
  private var entries: RTreeLeafEntries
  private var isWhole = true
  private var nodeCount = 0

  init(check: ConformanceCheck, table: String, column: String, rtree: String) {
    self.check = check
    self.table = table
    self.column = column
    shadow = check.file.shadow(ofRTree: rtree)
    // On read-only media the spill file cannot lie beside the file.
    entries = RTreeLeafEntries(folder: check.file.connection.isReadOnly ? nil : check.file.folder)
  }

  mutating func run(against scan: RowScan) throws(FieldpackError) {
    let tables = RTreeShadow.suffixes.map { "\(shadow.name)_\($0)" }
    if let view = tables.first(where: { check.table($0)?.isView == true }) {
      return try check.report(
        .error, .index, table: table, column: column, "its R-tree's table \(view) is a view")
    }
    do throws(FieldpackError) {
      try readNodes()
    } catch {
      guard let reason = error.damage else { throw error }
      try damage("its tables cannot be read: \(reason)")
    }
    // With an unreadable tree every row would seem to be missing.
    guard isWhole else { return }
    try compare(scan)
  }

  private mutating func damage(_ what: String) throws(FieldpackError) {
    isWhole = false
    try check.report(
      .error, .index, table: table, column: column, "the R-tree \(shadow.name): \(what)",
      repair: .index(table: table))
  }

  // MARK: Nodes

  private struct Visit {
    var number: Int64
    var level: Int
    var parent: Int64?
    var bounds: SIMD4<Float>?
  }

  private struct Node {
    var depth: Int
    var cells: [RTreeEntry]
    var size: Int

    init?(_ bytes: UnsafeRawBufferPointer) {
      guard let node = RTreeNode(bytes) else { return nil }
      (depth, cells, size) = (node.depth, node.entries, bytes.count)
    }
  }

  private mutating func readNodes() throws(FieldpackError) {
    let nodes = try check.file.prepare(
      "SELECT data FROM \(shadow.table("node")) WHERE nodeno = ?", caching: false)
    let parents = try check.file.prepare(
      "SELECT parentnode FROM \(shadow.table("parent")) WHERE nodeno = ?", caching: false)
    guard let root = try node(1, nodes) else { return }
    guard root.depth <= RTreeNode.greatestDepth else {
      return try damage("it is \(root.depth) nodes deep")
    }
    let most = RTreeNode.greatestSize
    if root.size > most {
      try damage("its nodes have \(root.size) bytes, and \(most) at most are read")
    }
    var seen: Set<Int64> = []
    var waiting = [Visit(number: 1, level: root.depth)]
    while let visit = waiting.popLast() {
      guard seen.insert(visit.number).inserted else {
        try damage("node \(visit.number) is the child of two nodes")
        continue
      }
      guard let node = try node(visit.number, nodes) else { continue }
      if node.size != root.size {
        try damage("node \(visit.number) has \(node.size) bytes, the root \(root.size)")
      }
      try examine(node, visit, parents)
      for cell in node.cells {
        if visit.level == 0 {
          try entries.append(RTreeLeafEntry(entry: cell, leaf: visit.number))
        } else {
          waiting.append(
            Visit(
              number: cell.id, level: visit.level - 1, parent: visit.number, bounds: cell.box))
        }
      }
    }
    nodeCount = seen.count
    try countNodes()
  }

  /// Reads a node and reports it if it is invalid.
  private mutating func node(
    _ number: Int64, _ nodes: SessionStatement
  ) throws(FieldpackError) -> Node? {
    defer { nodes.reset() }
    try nodes.bind(number, at: 1)
    guard try nodes.step() else {
      try damage(number == 1 ? "node 1, the root, is missing" : "node \(number) is missing")
      return nil
    }
    let node: Node? = nodes.row.withBytes(0) { span in
      span.withUnsafeBytes { bytes in Node(bytes) }
    }
    guard nodes.row.kind(0) == .blob, let node else {
      try damage("node \(number) is cut short")
      return nil
    }
    return node
  }

  private mutating func examine(
    _ node: Node, _ visit: Visit, _ parents: SessionStatement
  ) throws(FieldpackError) {
    for cell in node.cells {
      guard cell.minX <= cell.maxX, cell.minY <= cell.maxY else {
        return try damage("node \(visit.number) has a box the wrong way round")
      }
      guard let outer = visit.bounds else { continue }
      guard outer[0] <= cell.minX, outer[1] >= cell.maxX, outer[2] <= cell.minY,
        outer[3] >= cell.maxY
      else { return try damage("node \(visit.number) is larger than its parent says") }
    }
    guard let parent = visit.parent else { return }
    defer { parents.reset() }
    try parents.bind(visit.number, at: 1)
    let isTrue = try parents.step() && parents.row.integer(0) == parent
    if !isTrue { try damage("the parent of node \(visit.number) is not as noted") }
  }

  private mutating func countNodes() throws(FieldpackError) {
    for (suffix, wanted, what) in [
      ("node", nodeCount, "nodes"), ("parent", nodeCount - 1, "parents"),
      ("rowid", entries.count, "row ids"),
    ] {
      let count = try check.file.integer("SELECT count(*) FROM \(shadow.table(suffix))") ?? 0
      if isWhole, count != wanted { try damage("it has \(count) \(what), not \(wanted)") }
    }
  }

  // MARK: Entries

  private mutating func compare(_ scan: RowScan) throws(FieldpackError) {
    let leaves = try check.file.prepare(
      "SELECT nodeno FROM \(shadow.table("rowid")) WHERE rowid = ?", caching: false)
    let reports = EntryReports(check: check, table: table, column: column, name: shadow.name)
    var row = try scan.next()
    var previous: Int64?
    try entries.takeSorted { (found) throws(FieldpackError) in
      let id = found.entry.id
      while let current = row, let rowID = current.id, rowID < id {
        try reports.missing(current)
        row = try scan.next()
      }
      if previous == id {
        try reports.twice(id)
      } else if let current = row, current.id == id {
        try reports.compare(found.entry, current)
        row = try scan.next()
      } else if scan.isComplete {
        try reports.extra(id)
      }
      previous = id
      try reports.leaf(found, leaves)
    }
    while let current = row {
      try reports.missing(current)
      row = try scan.next()
    }
  }
}

/// Reports what is wrong with an entry.
private struct EntryReports {
  let check: ConformanceCheck
  let table: String
  let column: String
  let name: String

  private func report(
    _ id: Int64?, _ reason: String, level: ConformanceFinding.Level = .error
  ) throws(FieldpackError) {
    try check.report(
      level, .index, table: table, column: column, row: id, reason, repair: .index(table: table))
  }

  func missing(_ row: RowScan.Row) throws(FieldpackError) {
    guard case .needed = row.indexBox else { return }
    try report(row.id, "it is not in the R-tree")
  }

  func twice(_ id: Int64) throws(FieldpackError) { try report(id, "the R-tree has it twice") }

  func extra(_ id: Int64) throws(FieldpackError) {
    try report(id, "the R-tree has it, and the table does not")
  }

  func leaf(
    _ found: RTreeLeafEntry, _ leaves: SessionStatement
  ) throws(FieldpackError) {
    defer { leaves.reset() }
    try leaves.bind(found.entry.id, at: 1)
    let isTrue = try leaves.step() && leaves.row.integer(0) == found.leaf
    if !isTrue { try report(found.entry.id, "the R-tree's node of it is not as noted") }
  }

  func compare(_ entry: RTreeEntry, _ row: RowScan.Row) throws(FieldpackError) {
    switch row.indexBox {
    case .unknown: break
    case .none: try report(entry.id, "the R-tree has it, and it has no geometry")
    case .needed(let least, let most):
      if !Self.holds(entry, least) {
        try report(entry.id, "its box in the R-tree does not hold it")
      } else if let most, !Self.isTight(entry, most) {
        try report(entry.id, "its box in the R-tree is larger than it", level: .warning)
      }
    }
  }

  /// Whether an entry's box contains `box`. For numbers below the normal floats SQLite's rounding
  /// is wrong by one step.
  private static func holds(_ entry: RTreeEntry, _ box: Envelope) -> Bool {
    func isAtMost(_ bound: Float, _ value: Double) -> Bool {
      Double(bound) <= value || abs(value) < 1e-37 && Double(bound.nextDown) <= value
    }
    func isAtLeast(_ bound: Float, _ value: Double) -> Bool {
      Double(bound) >= value || abs(value) < 1e-37 && Double(bound.nextUp) >= value
    }
    return isAtMost(entry.minX, box.minX) && isAtLeast(entry.maxX, box.maxX)
      && isAtMost(entry.minY, box.minY) && isAtLeast(entry.maxY, box.maxY)
  }

  /// Whether the entry's box is as tight as rounding allows. Writers round by up to two floats.
  private static func isTight(_ entry: RTreeEntry, _ box: Envelope) -> Bool {
    func isNear(_ bound: Float, _ value: Double) -> Bool {
      let nearest = Float(value)
      let step = Double(max(nearest.ulp, bound.ulp))
      return !step.isFinite || abs(Double(bound) - value) <= 4 * step
    }
    return isNear(entry.minX, box.minX) && isNear(entry.maxX, box.maxX)
      && isNear(entry.minY, box.minY) && isNear(entry.maxY, box.maxY)
  }
}
