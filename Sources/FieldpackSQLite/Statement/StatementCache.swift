import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A prepared statement that its connection keeps.
final class KeptStatement {
  let handle: OpaquePointer
  let sql: String
  /// Whether it leaves the schema and the transaction as they are.
  let keepsSchema: Bool
  fileprivate var lastUse: UInt64 = 0
  fileprivate var isInUse = true
  /// Whether the cache has it.
  fileprivate var isKept = false

  init(_ handle: OpaquePointer, _ sql: String, keepsSchema: Bool) {
    (self.handle, self.sql, self.keepsSchema) = (handle, sql, keepsSchema)
  }
}

/// Prepared statements by their SQL. Of those that are not in use, the least recently used one is dropped
/// first.
struct StatementCache {
  private var entries: [String: KeptStatement] = [:]
  /// The number of statements that are not in use.
  private(set) var count = 0
  private var clock: UInt64 = 0
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// The statement for `sql`, where it is kept and nobody uses it.
  mutating func take(_ sql: String) -> KeptStatement? {
    // Swift takes some strings as equal that SQLite distinguishes, such as two spellings of é in a
    // name.
    guard let entry = entries[sql], !entry.isInUse, Self.hasSameBytes(entry.sql, sql) else {
      return nil
    }
    entry.isInUse = true
    count -= 1
    return entry
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

  /// Keeps a new statement, which is in use, unless there is one for the same SQL.
  mutating func add(_ statement: KeptStatement) {
    guard capacity > 0, entries[statement.sql] == nil else { return }
    statement.isKept = true
    entries[statement.sql] = statement
  }

  /// Takes back a statement after its use, reset and with its bindings cleared.
  mutating func release(_ statement: KeptStatement) {
    guard statement.isKept else {
      sqlite3_finalize(statement.handle)
      return
    }
    sqlite3_reset(statement.handle)
    sqlite3_clear_bindings(statement.handle)
    if count >= capacity { dropOldest() }
    clock += 1
    (statement.isInUse, statement.lastUse) = (false, clock)
    count += 1
  }

  /// Finalises all statements. One in use is finalised after its use.
  mutating func removeAll() {
    for statement in entries.values {
      statement.isKept = false
      if !statement.isInUse { sqlite3_finalize(statement.handle) }
    }
    entries.removeAll()
    count = 0
  }

  private mutating func dropOldest() {
    let idle = entries.values.lazy.filter { !$0.isInUse }
    guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return }
    sqlite3_finalize(oldest.handle)
    entries.removeValue(forKey: oldest.sql)
    count -= 1
  }
}
