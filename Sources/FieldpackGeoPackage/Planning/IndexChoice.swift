import FieldpackCore
import FieldpackSQLite

/// An index of a layer's table, as `PRAGMA index_list` and `PRAGMA index_xinfo` report it.
package struct TableIndex: Hashable, Sendable {
  struct Key: Hashable, Sendable {
    /// `nil` for an expression and for the rowid.
    var column: SQLName?
    var collation: String
  }

  var name: String
  var keys: [Key]
  var isUnique: Bool
  /// Whether the index leaves some rows out (a WHERE clause).
  var isPartial: Bool
}

/// What one part of a filter asks of one column, in a form that an index can look up.
struct KeyCondition: Hashable {
  enum Span: Hashable {
    /// One value or several.
    case equal
    /// All values between two.
    case between
    /// All values above or below one.
    case above, below
  }

  /// Index of the part in the filter's conjunction.
  var part: Int
  var column: SQLName
  var span: Span
  /// The collation of the comparison; `nil` where it compares no texts.
  var collation: String?
}

/// How an index can answer parts of a filter.
struct IndexUse: Hashable {
  var index: TableIndex
  /// Indexes of those parts in the filter's conjunction, ascending.
  var parts: [Int]
  /// How many leading columns of the index are compared with single values.
  var equalColumns: Int
  /// Whether the column after those is held between two values.
  var isBounded: Bool

  /// Whether the index probably finds few rows: it looks up single values, or a range with two
  /// ends. A range with one end can hold any share of the rows.
  var isNarrow: Bool { equalColumns > 0 || isBounded }
}

/// Chooses the index for a filter from the catalogue alone.
struct IndexChoice {
  let indexes: [TableIndex]
  /// By index name, how many rows have equal values in the first column, in the first two and so
  /// on, from `sqlite_stat1`; empty without statistics
  /// (https://www.sqlite.org/fileformat2.html#stat1tab).
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

  /// Of the narrow uses, the one that finds the fewest rows.
  ///
  /// - Parameter most: where statistics say that a use finds this many rows or more, it is ignored.
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

  /// How many rows the single values find according to the statistics; `nil` where these do not
  /// tell.
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
