import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackRTree

/// The packed R-tree against SQLite's own checks and a search through all entries.
@Suite struct PackedRTreeTests {
  private static func connection(pageSize: Int) throws -> Connection {
    let connection = try Connection(inMemory: .bulk)
    try connection.execute("PRAGMA page_size = \(pageSize)")
    try connection.execute("CREATE VIRTUAL TABLE tree USING rtree(id, minx, maxx, miny, maxy)")
    return connection
  }

  private static func shadow(_ connection: Connection) -> RTreeShadow {
    RTreeShadow("tree", on: connection) { FieldpackError(.io, $0.message) }
  }

  private static func rows(_ sql: String, _ connection: Connection) throws -> [[SQLiteValue]] {
    let statement = try connection.prepare(sql)
    var rows: [[SQLiteValue]] = []
    while try statement.step() {
      rows.append((0..<statement.columnCount).map { statement.value($0) })
    }
    return rows
  }

  private static func ids(_ connection: Connection, _ box: Envelope) throws -> [Int64] {
    let search = try connection.prepare(
      "SELECT id FROM tree WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ? ORDER BY id")
    try search.bind([.real(box.minX), .real(box.maxX), .real(box.minY), .real(box.maxY)])
    var ids: [Int64] = []
    while try search.step() { ids.append(search.integer(0)) }
    return ids
  }

  /// Envelopes by the same rule every time.
  private static func envelopes(_ count: Int, _ shape: String) -> [Envelope] {
    var state: UInt64 = 42
    func random() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 11) * 0x1p-53
    }
    return (0..<count).map { index in
      switch shape {
      case "equal": return Envelope(minX: 13.4, minY: -52.5, maxX: 13.4, maxY: -52.5)
      case "line":
        let x = Double(index)
        return Envelope(minX: x, minY: 7, maxX: x, maxY: 7)
      case "nested":
        let half = Double(index + 1) * 0.001
        return Envelope(minX: -half, minY: -half, maxX: half, maxY: half)
      case "extreme":
        let scale = index % 3 == 0 ? 1e300 : index % 3 == 1 ? 1e-300 : 1
        let (x, y) = ((random() - 0.5) * scale, (random() - 0.5) * scale)
        return Envelope(minX: x, minY: y, maxX: x, maxY: y)
      default:
        let (x, y) = (random() * 360 - 180, random() * 180 - 90)
        return Envelope(minX: x, minY: y, maxX: x + random() * 0.1, maxY: y + random() * 0.1)
      }
    }
  }

  private static func boxes(_ envelopes: [Envelope]) -> [Envelope] {
    var boxes = [
      Envelope(minX: -1, minY: -1, maxX: 1, maxY: 1),
      Envelope(minX: 10, minY: -60, maxX: 20, maxY: 0),
      Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90),
      Envelope(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity),
      Envelope(minX: 400, minY: 400, maxX: 500, maxY: 500),
    ]
    for index in stride(from: 0, to: envelopes.count, by: max(1, envelopes.count / 7)) {
      boxes.append(envelopes[index])
    }
    return boxes
  }

  static let counts = [0, 1, 2, 20, 21, 51, 52, 441, 442, 2601, 2602]

  @Test(arguments: [512, 4096, 65_536], ["random", "equal", "line", "nested", "extreme"])
  func `is valid and answers as a full search`(pageSize: Int, shape: String) throws {
    for count in Self.counts { try Self.check(count, shape, pageSize) }
  }

  @Test func `holds a hundred thousand entries`() throws {
    try Self.check(100_000, "random", 4096)
  }

  @Test(arguments: [1, 7, 51, 1000])
  func `is the same tree from a temporary file`(limit: Int) throws {
    for count in Self.counts {
      let connection = try Self.connection(pageSize: 4096)
      let entries = try Self.write(count, "random", to: connection)
      let nodes = "SELECT nodeno, data FROM tree_node"
      let (inMemory, rows) = try (
        Self.rows(nodes, connection), Self.rows("SELECT * FROM tree_rowid", connection)
      )
      var spilled = PackedRTree(limit: limit)
      for entry in entries { try spilled.add(entry) }
      try spilled.write(to: Self.shadow(connection))
      #expect(try Self.rows(nodes, connection) == inMemory)
      #expect(try Self.rows("SELECT * FROM tree_rowid", connection) == rows)
      #expect(try connection.scalar("SELECT rtreecheck('tree')") == .text("ok"), "\(count)")
    }
  }

  static let rowIDs: [(first: Int64, step: Int64)] = [
    (1, 1), (-2500, 1), (0, 3), (0, 1_000_003), (.max - 4999, 1), (.min, 1),
  ]

  @Test(arguments: rowIDs)
  func `ids may be a run, have holes or lie far apart`(first: Int64, step: Int64) throws {
    let ids = (0..<5000).map { (index: Int64) -> Int64 in first + index * step }
    let connection = try Self.connection(pageSize: 4096)
    var tree = PackedRTree()
    let boxes = Self.envelopes(ids.count, "random")
    for (id, box) in zip(ids, boxes) { try tree.add(RTreeEntry(id, box)) }
    try tree.write(to: Self.shadow(connection))
    #expect(try connection.scalar("SELECT rtreecheck('tree')") == .text("ok"))
    let found = try Self.rows("SELECT rowid FROM tree_rowid ORDER BY rowid", connection)
    #expect(found.map { $0[0] } == ids.map { SQLiteValue.integer($0) })
  }

  /// Writes a tree of ids with holes, not in order.
  private static func write(
    _ count: Int, _ shape: String, to connection: Connection
  ) throws -> [RTreeEntry] {
    let entries = envelopes(count, shape).enumerated().map { index, envelope in
      RTreeEntry(Int64((index * 7919) % max(count, 1)) * 3 - 5, envelope)
    }
    var tree = PackedRTree()
    for entry in entries { try tree.add(entry) }
    try tree.write(to: shadow(connection))
    return entries
  }

  private static func check(_ count: Int, _ shape: String, _ pageSize: Int) throws {
    let connection = try connection(pageSize: pageSize)
    let envelopes = envelopes(count, shape)
    let entries = try write(count, shape, to: connection)
    #expect(try connection.scalar("SELECT rtreecheck('tree')") == .text("ok"), "\(count)")
    for box in boxes(envelopes) {
      // The R-tree's bounds are rounded outwards, so it may name neighbours, and must miss none.
      let found = Set(try ids(connection, box))
      for (entry, envelope) in zip(entries, envelopes) {
        if envelope.intersects(box) {
          #expect(found.contains(entry.id), "\(count) \(envelope) \(box)")
        }
        let near = Envelope(
          minX: Double(entry.minX), minY: Double(entry.minY), maxX: Double(entry.maxX),
          maxY: Double(entry.maxY))
        if !near.intersects(box), found.contains(entry.id) {
          Issue.record("\(count) \(envelope) \(box)")
        }
      }
    }
    try grow(connection, count)
  }

  /// SQLite's own module goes on with the packed tree.
  private static func grow(_ connection: Connection, _ count: Int) throws {
    for index in 0..<60 {
      let value = Double(index)
      try connection.execute(
        "INSERT INTO tree VALUES (?, ?, ?, ?, ?)", .integer(1_000_000 + Int64(index)),
        .real(value), .real(value), .real(-value), .real(-value))
    }
    try connection.execute("DELETE FROM tree WHERE id % 2 = 0")
    #expect(try connection.scalar("SELECT rtreecheck('tree')") == .text("ok"), "\(count)")
  }
}
