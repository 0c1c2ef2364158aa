/// Values by keys, found by binary search.
///
/// A dictionary is slower here: for the first dictionary with a key type of the program, the
/// runtime searches the conformances of all libraries. This takes longer than reading a small
/// file's catalogue.
package struct SortedMap<Key, Value> {
  /// Ascending by key; each key occurs once.
  package private(set) var entries: [(key: Key, value: Value)] = []

  package init() {}
}

extension SortedMap: Sendable where Key: Sendable, Value: Sendable {}

extension SortedMap where Key: Comparable {
  /// Of several values with one key the last is kept.
  package init(_ values: [(key: Key, value: Value)]) {
    entries.reserveCapacity(values.count)
    let order = values.indices.sorted {
      values[$0].key == values[$1].key ? $0 < $1 : values[$0].key < values[$1].key
    }
    for index in order {
      if entries.last?.key == values[index].key { entries.removeLast() }
      entries.append(values[index])
    }
  }

  package subscript(key: Key) -> Value? { index(of: key).map { entries[$0].value } }

  /// Changes the value of a key, if the map has the key.
  package mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
    if let index = index(of: key) { body(&entries[index].value) }
  }

  private func index(of key: Key) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].key == key ? low : nil
  }
}
