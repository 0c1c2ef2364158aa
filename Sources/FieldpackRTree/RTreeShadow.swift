package import FieldpackCore
package import FieldpackSQLite

/// The three tables behind one of SQLite's R-trees, which its documentation calls shadow tables
/// (https://www.sqlite.org/rtree.html#implementation_details).
package struct RTreeShadow {
  package let name: String
  private let connection: Connection
  /// Makes SQLite's error an error that names the file.
  private let worded: (SQLiteError) -> FieldpackError

  package init(
    _ name: String, on connection: Connection,
    errors worded: @escaping (SQLiteError) -> FieldpackError
  ) {
    self.name = name
    self.connection = connection
    self.worded = worded
  }

  package static let suffixes = ["node", "parent", "rowid"]

  package func table(_ suffix: String) -> String { quoted("\(name)_\(suffix)") }

  /// The size of a node in bytes, as SQLite takes it: the size of the root. Without a usable root
  /// it is the size in a new tree: the page's size less 64 bytes, with at most 51 entries.
  func nodeSize() throws(FieldpackError) -> Int {
    let size = try integer("SELECT length(data) FROM \(table("node")) WHERE nodeno = 1")
    if let size, (448...Int64(RTreeNode.greatestSize)).contains(size) { return Int(size) }
    let page = try integer("PRAGMA page_size") ?? 4096
    return min(Int(clamping: page) - 64, RTreeNode.greatestSize)
  }

  func empty() throws(FieldpackError) {
    for suffix in Self.suffixes {
      try sql { () throws(SQLiteError) in try connection.execute("DELETE FROM \(table(suffix))") }
    }
  }

  func prepare(_ sql: String) throws(FieldpackError) -> Statement {
    try self.sql { () throws(SQLiteError) in try connection.prepare(sql, caching: false) }
  }

  private func integer(_ sql: String) throws(FieldpackError) -> Int64? {
    let value = try self.sql { () throws(SQLiteError) in try connection.scalar(sql) }
    guard case .integer(let integer)? = value else { return nil }
    return integer
  }

  func sql<R>(_ body: () throws(SQLiteError) -> R) throws(FieldpackError) -> R {
    do throws(SQLiteError) { return try body() } catch { throw worded(error) }
  }
}

/// Writes the nodes of a packed R-tree, and the parent of each node, from a stream of entries.
struct RTreeNodeWriter {
  private let layout: RTreeLayout
  private let shadow: RTreeShadow
  private let insert: Statement
  private var node: RTreeNodeBuilder
  private var level = 0
  /// The number of the node that the next cell goes into.
  private(set) var number: Int64
  private var union = Self.nothing
  /// The boxes of the written nodes of this level.
  private var unions: [SIMD4<Float>] = []

  private static let nothing = SIMD4<Float>(.infinity, -.infinity, .infinity, -.infinity)

  init(_ layout: RTreeLayout, to shadow: RTreeShadow) throws(FieldpackError) {
    self.layout = layout
    self.shadow = shadow
    node = RTreeNodeBuilder(size: layout.nodeSize)
    number = layout.firstNode[0]
    insert = try shadow.prepare("INSERT INTO \(shadow.table("node")) VALUES (?, ?)")
  }

  mutating func append(_ entry: RTreeEntry) throws(FieldpackError) {
    try append(entry.id, entry.box)
  }

  private mutating func append(_ id: Int64, _ box: SIMD4<Float>) throws(FieldpackError) {
    node.append(id, box)
    union = SIMD4(
      min(union[0], box[0]), max(union[1], box[1]), min(union[2], box[2]), max(union[3], box[3]))
    if node.count == layout.capacity { try close() }
  }

  /// Writes the current node and begins the next one.
  private mutating func close() throws(FieldpackError) {
    node.finish(depth: level == layout.depth ? layout.depth : 0)
    try shadow.sql { () throws(SQLiteError) in
      try insert.bind(number, at: 1)
      try insert.run(lending: node.bytes.span.bytes, at: 2)
    }
    unions.append(union)
    union = Self.nothing
    node.begin()
    number += 1
  }

  /// Writes the last leaf, the levels above the leaves, and the parents.
  mutating func finish() throws(FieldpackError) {
    if node.count > 0 || unions.isEmpty { try close() }
    var parents = try RTreePairs(shadow, table: "parent", value: "parentnode")
    while level < layout.depth { try writeLevel(parents: &parents) }
    try parents.finish()
  }

  /// Writes the level above the last one.
  private mutating func writeLevel(parents: inout RTreePairs) throws(FieldpackError) {
    let below = unions
    let firstBelow = layout.firstNode[level]
    var parent = [Int64](repeating: 0, count: below.count)
    unions.removeAll(keepingCapacity: true)
    level += 1
    number = layout.firstNode[level]
    for index in TileOrder(boxes: below.count, capacity: layout.capacity).order(of: below) {
      parent[index] = number
      try append(firstBelow + Int64(index), below[index])
    }
    if node.count > 0 { try close() }
    for (index, number) in parent.enumerated() {
      try parents.append(firstBelow + Int64(index), number)
    }
  }
}

/// Writes rows of a key and a value by ascending keys, 64 rows in one statement: running a
/// statement costs more than inserting a row. Rows whose keys follow the last key without a gap are
/// inserted without keys, which SQLite then counts itself; this takes half the time.
struct RTreePairs {
  private static let rowsAtOnce = 64
  private let shadow: RTreeShadow
  private let single: Statement
  private let several: Statement
  private let following: Statement
  private var waiting: [Int64] = []
  private var last: Int64?

  /// - Parameters:
  ///   - table: an empty table.
  ///   - value: the name of the table's second column.
  init(_ shadow: RTreeShadow, table: String, value: String) throws(FieldpackError) {
    self.shadow = shadow
    let name = shadow.table(table)
    func rows(_ row: String) -> String {
      Array(repeating: row, count: Self.rowsAtOnce).joined(separator: ", ")
    }
    single = try shadow.prepare("INSERT INTO \(name) VALUES (?, ?)")
    several = try shadow.prepare("INSERT INTO \(name) VALUES \(rows("(?, ?)"))")
    following = try shadow.prepare(
      "INSERT INTO \(name) (\(quoted(value))) VALUES \(rows("(?)"))")
    waiting.reserveCapacity(2 * Self.rowsAtOnce)
  }

  mutating func append(_ key: Int64, _ value: Int64) throws(FieldpackError) {
    waiting.append(key)
    waiting.append(value)
    guard waiting.count == 2 * Self.rowsAtOnce else { return }
    let end = waiting[waiting.count - 2]
    if let last, last >= 0, last < .max, waiting[0] == last + 1,
      end == last &+ Int64(Self.rowsAtOnce)
    {
      try run(following, stride(from: 1, to: waiting.count, by: 2))
    } else {
      try run(several, stride(from: 0, to: waiting.count, by: 1))
    }
    last = end
    waiting.removeAll(keepingCapacity: true)
  }

  private func run(
    _ statement: Statement, _ indexes: StrideTo<Int>
  ) throws(FieldpackError) {
    try shadow.sql { () throws(SQLiteError) in
      var parameter = 1
      for index in indexes {
        try statement.bind(waiting[index], at: parameter)
        parameter += 1
      }
      try statement.run()
    }
  }

  /// Writes the rows that still wait.
  mutating func finish() throws(FieldpackError) {
    for row in stride(from: 0, to: waiting.count, by: 2) {
      try run(single, stride(from: row, to: row + 2, by: 1))
    }
    waiting.removeAll(keepingCapacity: true)
  }
}
