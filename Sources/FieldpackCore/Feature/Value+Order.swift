extension Value {
  /// The order of results: NULL, then numbers and truth values, then texts, dates and instants by
  /// code point, then blobs.
  public func sorts(before other: Value) -> Bool {
    switch (sortKey, other.sortKey) {
    case (.number(let a), .number(let b)): a.isLess(than: b)
    case (.bytes(let a), .bytes(let b)), (.blob(let a), .blob(let b)):
      a.lexicographicallyPrecedes(b)
    case (let a, let b): a.rank < b.rank
    }
  }

  private enum SortKey {
    case null
    case number(Number)
    case bytes([UInt8])
    case blob([UInt8])

    var rank: Int {
      switch self {
      case .null: 0
      case .number: 1
      case .bytes: 2
      case .blob: 3
      }
    }
  }

  private enum Number {
    case integer(Int64)
    case real(Double)

    /// Compares exactly: neither number is rounded to the other's type.
    func isLess(than other: Number) -> Bool {
      switch (self, other) {
      case (.integer(let a), .integer(let b)): a < b
      case (.real(let a), .real(let b)): a < b
      case (.integer(let a), .real(let b)):
        if let floor = Int64(exactly: b.rounded(.down)) {
          a < floor || (a == floor && b > Double(floor))
        } else {
          b > 0
        }
      case (.real(let a), .integer(let b)):
        if let floor = Int64(exactly: a.rounded(.down)) { floor < b } else { a < 0 }
      }
    }
  }

  private var sortKey: SortKey {
    switch self {
    case .null: .null
    case .boolean(let flag): .number(.integer(flag ? 1 : 0))
    case .integer(let value): .number(.integer(value))
    case .real(let value): .number(.real(value))
    case .text(let text): .bytes(Array(text.utf8))
    case .date(let day): .bytes(Array(day.description.utf8))
    case .dateTime(let instant): .bytes(Array(instant.description.utf8))
    case .blob(let bytes): .blob(bytes)
    }
  }
}
