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
        if fetched.count < count {
          isFinished = true
          try connection.execute("CLOSE \(name)")
        }
        rows = fetched
        row = 0
        count = Self.next(count, after: fetched)
      }
    }

    /// More rows at a time, as far as those of the last part fit the window.
    private static func next(_ count: Int, after rows: PostgresRows) -> Int {
      var bytes = 1
      for column in 0..<rows.columnCount {
        for row in stride(from: 0, to: rows.count, by: max(1, rows.count / 16)) {
          bytes += rows.bytes(row, column).count
        }
      }
      let sampled = max(1, min(16, rows.count))
      return min(mostRows, count * 4, max(1, window / max(1, bytes / sampled)))
    }
  }
#endif
