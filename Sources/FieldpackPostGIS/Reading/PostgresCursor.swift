#if PostGIS
  import FieldpackCore

  /// Reads the rows of a statement a part at a time, in a transaction, so that memory stays flat.
  final class PostgresCursor {
    private let connection: PostgresConnection
    private let name: String
    private var rows: PostgresRows?
    private var row = 0
    private var count: Int
    private let rowBytes: Int
    private var isFinished = false

    /// What of rows the client holds at a time, about, in bytes and in rows.
    private static let window = 1 << 20
    private static let mostRows = 2_048

    /// - Parameters:
    ///   - number: tells the cursors of a transaction apart.
    ///   - rowBytes: about how long a row is.
    init(
      _ connection: PostgresConnection, _ statement: (sql: String, values: [PostgresValue]),
      number: Int, rowBytes: Int
    ) throws(FieldpackError) {
      self.connection = connection
      self.rowBytes = max(1, rowBytes)
      name = "fieldpack_\(number)"
      count = min(256, max(1, Self.window / self.rowBytes))
      try connection.execute(
        "DECLARE \(name) NO SCROLL CURSOR FOR \(statement.sql)", statement.values)
    }

    /// The next row; `nil` after the last.
    func next() throws(FieldpackError) -> (rows: PostgresRows, index: Int)? {
      while true {
        if let rows, row < rows.count {
          defer { row += 1 }
          return (rows, row)
        }
        if isFinished { return nil }
        rows = nil
        let fetched = try connection.execute("FETCH FORWARD \(count) FROM \(name)")
        guard fetched.count <= count else {
          throw connection.mistake("sends \(fetched.count) rows in place of \(count)")
        }
        if fetched.count < count { try close() }
        rows = fetched
        row = 0
        count = Self.next(count, after: fetched)
      }
    }

    /// Ends the reading at the server; the rows that are here stay.
    func close() throws(FieldpackError) {
      guard !isFinished else { return }
      isFinished = true
      try connection.execute("CLOSE \(name)")
    }

    /// More rows at a time, as far as rows as long as the longest seen in the last part fit the window.
    private static func next(_ count: Int, after rows: PostgresRows) -> Int {
      var longest = 1
      for row in stride(from: 0, to: rows.count, by: max(1, rows.count / 16)) {
        let length = (0..<rows.columnCount).reduce(0) { $0 + rows.bytes(row, $1).count }
        longest = max(longest, length)
      }
      return min(mostRows, count * 2, max(1, window / longest))
    }
  }
#endif
