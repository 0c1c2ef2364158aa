/// Values by keys that are found by halving.
///
/// The first dictionary of a key type of one's own has the runtime look through the conformances of
/// all libraries, which takes longer than to read a small file's catalogue.
package struct SortedMap<Key, Value> {
  /// Ascending by their keys, each of which is there but once.
  package private(set) var entries: [(key: Key, value: Value)] = []

  package init() {}
}

extension SortedMap: Sendable where Key: Sendable, Value: Sendable {}

extension SortedMap where Key: Comparable {
  /// Of several values of one key the last is kept.
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

  package subscript(key: Key) -> Value? { place(of: key).map { entries[$0].value } }

  /// Changes the value of a key, where there is one.
  package mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
    if let place = place(of: key) { body(&entries[place].value) }
  }

  private func place(of key: Key) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].key == key ? low : nil
  }
}
