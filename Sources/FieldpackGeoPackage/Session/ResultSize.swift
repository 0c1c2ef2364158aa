package import FieldpackSQLite

/// Limits the memory for a result by the size of the file: the rows of a table never exceed it, and
/// a view may give rows without end.
package struct ResultSize {
  private var bytes: Int64 = 0
  private var most: Int64 = 1 << 18
  private var isMeasured = false

  package init() {}

  /// - Throws: an error when the rows so far are larger than the file.
  package mutating func add(_ row: [SQLiteValue], of connection: Connection) throws(SQLiteError) {
    bytes += row.reduce(8) { $0 + Self.bytes($1) }
    guard bytes > most else { return }
    if !isMeasured {
      isMeasured = true
      // Text in UTF-8 can be twice as long as it is in a UTF-16 file.
      most += try 2 * Self.pragma("page_count", connection) * Self.pragma("page_size", connection)
    }
    guard bytes > most else { return }
    throw SQLiteError(extendedCode: 1, message: "a view gives more than the file has room for")
  }

  private static func bytes(_ value: SQLiteValue) -> Int64 {
    switch value {
    case .text(let text): Int64(text.utf8.count)
    case .blob(let bytes): Int64(bytes.count)
    default: 0
    }
  }

  private static func pragma(
    _ name: String, _ connection: Connection
  ) throws(SQLiteError) -> Int64 {
    guard case .integer(let number) = try connection.scalar("PRAGMA \(name)") else { return 0 }
    return number
  }
}
