import FieldpackSQLite
import Foundation

/// Rows as `sqlite3` prints them.
func storedRows(_ sql: String, in file: URL) throws -> [String] {
  let connection = try Connection(path: file.path, mode: .readOnly)
  let statement = try connection.prepare(sql)
  var rows: [String] = []
  while try statement.step() {
    rows.append(
      (0..<statement.columnCount).map { statement.string($0) ?? "NULL" }.joined(separator: "|"))
  }
  return rows
}
