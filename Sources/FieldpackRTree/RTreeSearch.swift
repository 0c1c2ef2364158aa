package import FieldpackGeometry
package import FieldpackSQLite

/// Gives the entries of an R-tree in the order of a lower bound of their distance, the nearest
/// first. A node is read only when its bound comes first.
package struct RTreeSearch {
  private struct Item: HeapElement {
    var bound: Double
    /// The number of the node, or the id of the entry.
    var number: Int64
    /// -1 for an entry.
    var depth: Int

    func precedes(_ other: Item) -> Bool { bound < other.bound }
  }

  private let reader: RTreeReader
  private let leastDistance: (Envelope) -> Double
  /// Whether a bound is computed for each entry, too; else an entry has the bound of its leaf.
  private let boundsEntries: Bool
  private var waiting = Heap<Item>()
  private var seen: Set<Int64> = []

  package init(
    _ reader: RTreeReader, boundsEntries: Bool, by leastDistance: @escaping (Envelope) -> Double
  ) throws(SQLiteError) {
    self.reader = reader
    self.leastDistance = leastDistance
    self.boundsEntries = boundsEntries
    let root = try reader.root()
    waiting.insert(Item(bound: 0, number: root.number, depth: root.depth))
  }

  /// The next entry; `nil` where no entry is left within `limit`.
  package mutating func next(within limit: Double) throws(SQLiteError) -> Int64? {
    while let item = waiting.first, item.bound <= limit {
      _ = waiting.removeFirst()
      if item.depth < 0 { return item.number }
      try reader.note(item.number, in: &seen)
      for (number, bounds) in try reader.content(of: item.number, depth: item.depth) {
        let isBounded = item.depth > 0 || boundsEntries
        let bound = isBounded ? leastDistance(RTreeWindow.cover(of: bounds)) : item.bound
        waiting.insert(Item(bound: bound, number: number, depth: item.depth - 1))
      }
    }
    return nil
  }
}
