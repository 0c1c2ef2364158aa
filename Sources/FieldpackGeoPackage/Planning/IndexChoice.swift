import FieldpackCore
import FieldpackSQLite

/// An index of a layer's table, as `PRAGMA index_list` and `index_xinfo` tell it.
struct TableIndex: Hashable, Sendable {
  struct Key: Hashable, Sendable {
    /// `nil` for an expression and for the rowid.
    var column: SQLName?
    var collation: String
  }

  var name: String
  var keys: [Key]
  var isUnique: Bool
  /// Whether some rows have no entry.
  var isPartial: Bool
}

/// What one part of a filter asks of one column, where an index can look it up.
struct KeyCondition: Hashable {
  enum Span: Hashable {
    /// One value, or some.
    case equal
    /// Everything between two values.
    case between
    /// Everything beyond a value, on either side.
    case above, below
  }

  /// The place of the part in the filter.
  var part: Int
  var column: SQLName
  var span: Span
  /// The collation that the part compares with, where it compares texts.
  var collation: String?
}

/// How an index can answer parts of a filter.
struct IndexUse: Hashable {
  var index: TableIndex
  /// The places of those parts in the filter, ascending.
  var parts: [Int]
  /// How many of the index's first columns are held to single values.
  var equalColumns: Int
  /// Whether the column behind those is held between two values.
  var isBounded: Bool

  /// Whether the index finds few rows by the look of it: single values, or a range with two ends. A
  /// range that is open at one side can hold any share of the rows.
  var isNarrow: Bool { equalColumns > 0 || isBounded }
}

/// Tells which indexes of a table can answer a filter, from the catalogue alone.
struct IndexChoice {
  let indexes: [TableIndex]
  /// For each index how many rows have equal values in its first column, its first two and so on, from
  /// `sqlite_stat1`; empty where no statistics are kept (https://www.sqlite.org/fileformat2.html#stat1tab).
  var rowsPerKey: [String: [Int]] = [:]

  /// The uses of all indexes for the conditions of one filter.
  func uses(for conditions: [KeyCondition]) -> [IndexUse] {
    indexes.compactMap { use(of: $0, for: conditions) }
  }

  private func use(of index: TableIndex, for conditions: [KeyCondition]) -> IndexUse? {
    guard !index.isPartial else { return nil }
    var use = IndexUse(index: index, parts: [], equalColumns: 0, isBounded: false)
    for key in index.keys {
      let asked = conditions.filter { condition in
        condition.column == key.column && condition.collation ?? key.collation == key.collation
      }
      if let equal = asked.first(where: { $0.span == .equal }) {
        use.parts.append(equal.part)
        use.equalColumns += 1
        continue
      }
      let spans = Set(asked.map(\.span))
      use.isBounded = spans.contains(.between) || spans.isSuperset(of: [.above, .below])
      use.parts += asked.map(\.part)
      break
    }
    use.parts = Set(use.parts).sorted()
    return use.parts.isEmpty ? nil : use
  }

  /// The use that finds the fewest rows, of those that find few by the look of them.
  ///
  /// - Parameter most: with statistics, a use that finds so many rows or more is none.
  func narrowest(_ uses: [IndexUse], below most: Int) -> IndexUse? {
    let narrow = uses.filter { use in
      use.isNarrow && (use.isBounded || rows(of: use).map { $0 < most } ?? true)
    }
    return narrow.min { a, b in
      if isOneRow(a) != isOneRow(b) { return isOneRow(a) }
      if let (left, right) = both(rows(of: a), rows(of: b)), left != right { return left < right }
      return (a.equalColumns, a.isBounded ? 1 : 0) > (b.equalColumns, b.isBounded ? 1 : 0)
    }
  }

  private func isOneRow(_ use: IndexUse) -> Bool {
    use.index.isUnique && use.equalColumns == use.index.keys.count
  }

  /// How many rows single values find, as far as statistics tell.
  private func rows(of use: IndexUse) -> Int? {
    guard use.equalColumns > 0, let rows = rowsPerKey[use.index.name],
      rows.count >= use.equalColumns
    else { return nil }
    return rows[use.equalColumns - 1]
  }

  private func both(_ a: Int?, _ b: Int?) -> (Int, Int)? {
    if let a, let b { (a, b) } else { nil }
  }
}
