import FieldpackRTree
import FieldpackSQLite

extension SpatialIndexes {
  /// The entries that may satisfy a window's relation, as ``RTreeReader/candidates(_:)`` gives them.
  /// Where the R-tree cannot be believed, all ids of the table are uncertain.
  func candidates(
    _ rtree: String, _ window: RTreeWindow
  ) throws(SQLiteError) -> (certain: [Int64], uncertain: [Int64]) {
    try believing(rtree) { (verdict) throws(SQLiteError) in
      let (certain, uncertain) = try reader(rtree).candidates(window)
      return verdict == .holdsEmpties ? ([], certain + uncertain) : (certain, uncertain)
    } otherwise: { ids in
      ([], ids)
    }
  }

  /// As ``candidates(_:_:)``, with the number of the certain entries.
  func count(
    _ rtree: String, _ window: RTreeWindow
  ) throws(SQLiteError) -> (certain: Int, uncertain: [Int64]) {
    try believing(rtree) { (verdict) throws(SQLiteError) in
      guard verdict == .holdsEmpties else { return try reader(rtree).count(window) }
      let (certain, uncertain) = try reader(rtree).candidates(window)
      return (0, certain + uncertain)
    } otherwise: { ids in
      (0, ids)
    }
  }

  /// Runs `body` where the R-tree is believed, else `scan` with all ids of the table.
  ///
  /// A damaged node ends the belief.
  func believing<R>(
    _ rtree: String, in schema: String = "main",
    _ body: (IndexVerdict) throws(SQLiteError) -> R,
    otherwise scan: ([Int64]) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    let table = schema == "main" ? tables[rtree] : nil
    var verdict = table == nil ? .sound : try self.verdict(on: rtree)
    if verdict != .unsound {
      do throws(SQLiteError) {
        return try body(verdict)
      } catch {
        guard error.extendedCode == RTreeReader.damageCode, table != nil else { throw error }
        verdict = .unsound
        verdicts?[rtree] = verdict
      }
    }
    guard let table else { return try scan([]) }
    remark(on: rtree)
    return try scan(try ids(table.everyID))
  }

  /// Whether the R-tree is believed; the first call looks rows up in it.
  func isBelieved(_ rtree: String) throws(SQLiteError) -> Bool {
    guard tables[rtree] != nil else { return true }
    let verdict = try verdict(on: rtree)
    if verdict == .unsound { remark(on: rtree) }
    return verdict != .unsound
  }

  /// Notes that the R-tree was found damaged.
  func disbelieve(_ rtree: String) {
    verdicts?[rtree] = .unsound
    remark(on: rtree)
  }

  /// Notes for the user what has been found of the R-tree.
  func remark(on rtree: String) {
    guard let layer = tables[rtree]?.layer, let note = verdicts?[rtree]?.note(layer) else { return }
    pendingNotes.insert(note)
  }

  private func verdict(on rtree: String) throws(SQLiteError) -> IndexVerdict {
    guard let verdicts, let table = tables[rtree] else { return .sound }
    if let known = verdicts[rtree] { return known }
    let found: IndexVerdict
    do throws(SQLiteError) {
      found = try examine(rtree, table)
    } catch {
      // What the file's tables cannot answer is no verdict on the environment.
      guard error.code == 1 || error.isCorrupt else { throw error }
      found = .unsound
    }
    verdicts[rtree] = found
    return found
  }

  private func examine(
    _ rtree: String, _ table: IndexedTable
  ) throws(SQLiteError) -> IndexVerdict {
    let rows = try connection.prepare(table.sample(of: rtree), caching: false)
    var verdict = IndexVerdict.sound
    while try rows.step() {
      let (id, leaf) = (rows.integer(0), rows.integer(3))
      let isWhole = rows.integer(1) == 1
      let bounds = rows.kind(4) == .blob ? rows.withBytes(4) { Self.bounds(of: id, in: $0) } : nil
      let hasEntry = isWhole ? bounds != nil : rows.kind(3) != .null
      switch (rows.kind(2) == .null ? nil : rows.integer(2), hasEntry) {
      case (1, true): verdict = .holdsEmpties
      case (0, false): return .unsound
      case (0, true):
        guard isWhole, let bounds, leaf != RTreeNode.root else { continue }
        let above =
          rows.kind(5) == .blob ? rows.withBytes(5) { Self.bounds(of: leaf, in: $0) } : nil
        // A search finds the entry only by a node above the leaf that holds the entry's bounds.
        guard above.map({ RTreeReader.holds($0, bounds) }) == true else { return .unsound }
      default: break
      }
    }
    return verdict
  }

  /// The bounds of an entry in a node; `nil` where the node does not have the entry.
  private static func bounds(of id: Int64, in node: RawSpan) -> RTreeBounds? {
    node.withUnsafeBytes { bytes in RTreeNode(bytes)?.bounds(of: id) }
  }

  private func ids(_ sql: String) throws(SQLiteError) -> [Int64] {
    let rows = try connection.prepare(sql)
    defer { rows.reset() }
    var ids: [Int64] = []
    while try rows.step() { ids.append(rows.integer(0)) }
    return ids
  }
}
