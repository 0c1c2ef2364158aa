import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Prepared statements that are not in use, by their SQL; the least recently used one is dropped
/// first.
struct StatementCache {
  private struct Entry {
    let handle: OpaquePointer
    let lastUse: UInt64
  }

  private var entries: [String: Entry] = [:]
  private var clock: UInt64 = 0
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
  }

  var count: Int { entries.count }

  /// Removes the statement for `sql` from the cache and returns it.
  mutating func take(_ sql: String) -> OpaquePointer? {
    // Swift takes some strings as equal that SQLite distinguishes, such as two spellings of é in a
    // name.
    guard let index = entries.index(forKey: sql),
      Self.hasSameBytes(entries[index].key, sql)
    else { return nil }
    return entries.remove(at: index).value.handle
  }

  private static func hasSameBytes(_ a: String, _ b: String) -> Bool {
    // Comparing the buffers is faster for the length of a statement than comparing byte by byte.
    let answer = a.utf8.withContiguousStorageIfAvailable { left in
      b.utf8.withContiguousStorageIfAvailable { right in
        guard left.count == right.count, let a = left.baseAddress, let b = right.baseAddress
        else { return left.count == right.count }
        return memcmp(a, b, left.count) == 0
      }
    }
    return (answer ?? nil) ?? a.utf8.elementsEqual(b.utf8)
  }

  /// Puts a statement into the cache, reset and with its bindings cleared.
  mutating func put(_ handle: OpaquePointer, for sql: String) {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
    guard capacity > 0, entries[sql] == nil else {
      sqlite3_finalize(handle)
      return
    }
    if entries.count >= capacity { evictOldest() }
    clock += 1
    entries[sql] = Entry(handle: handle, lastUse: clock)
  }

  mutating func removeAll() {
    for entry in entries.values { sqlite3_finalize(entry.handle) }
    entries.removeAll()
  }

  private mutating func evictOldest() {
    guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
    sqlite3_finalize(oldest.value.handle)
    entries.removeValue(forKey: oldest.key)
  }
}
