package import FieldpackCore
package import FieldpackSQLite

/// Limits the memory for a result by the size of the file: the rows of a table never exceed it, and
/// a view may give rows without end.
package struct ResultSize {
  private var bytes: Int64 = 0
  private var most: Int64 = 1 << 18
  private var isMeasured = false

  package init() {}

  /// - Throws: an error when the rows so far are larger than the file.
  package mutating func add(
    _ row: [SQLiteValue], of file: GeoPackageSession
  ) throws(FieldpackError) {
    bytes += row.reduce(8) { $0 + Self.bytes($1) }
    guard bytes > most else { return }
    if !isMeasured {
      isMeasured = true
      // Text in UTF-8 can be twice as long as it is in a UTF-16 file.
      let (count, size) = (
        try file.integer("PRAGMA page_count") ?? 0, try file.integer("PRAGMA page_size") ?? 0
      )
      most += 2 * count * size
    }
    guard bytes > most else { return }
    throw file.worded(
      SQLiteError(extendedCode: 1, message: "a view gives more than the file has room for"))
  }

  private static func bytes(_ value: SQLiteValue) -> Int64 {
    switch value {
    case .text(let text): Int64(text.utf8.count)
    case .blob(let bytes): Int64(bytes.count)
    default: 0
    }
  }
}
