#if PostGIS
  import FieldpackCore

  /// Reads the rows of a statement: at once where they are few, else a part at a time, so that memory
  /// stays flat. That takes a transaction, which is begun where none is open.
  final class PostgresCursor {
    private let connection: PostgresConnection
    private let statement: () -> (sql: String, values: [PostgresValue])
    /// `nil` before the cursor has begun.
    private var name: String?
    /// How rows are asked for first; `nil` when that is done.
    private var few: LayerPlan.FewRows?
    private var count: Int
    private let rowBytes: Int
    private var isFinished = false

    /// What of rows the client holds at a time, about, in bytes and in rows.
    private static let window = 1 << 20
    private static let mostRows = 2_048

    /// - Parameters:
    ///   - few: asks for all rows where they are few.
    ///   - rowBytes: about how long a row is.
    init(
      _ connection: PostgresConnection,
      _ statement: @autoclosure @escaping () -> (sql: String, values: [PostgresValue]),
      few: LayerPlan.FewRows? = nil, rowBytes: Int
    ) {
      self.connection = connection
      self.few = few
      self.statement = statement
      self.rowBytes = max(1, rowBytes)
      count = min(256, max(1, Self.window / self.rowBytes))
    }

    /// Gives the next row to `fields`; `false` after the last.
    func next(into fields: RowFields) throws(FieldpackError) -> Bool {
      while !fields.advance() {
        // Long rows are not held twice.
        fields.take(nil)
        guard let rows = try nextRows() else { return false }
        fields.take(rows)
      }
      return true
    }

    /// The next part of the rows; `nil` after the last.
    private func nextRows() throws(FieldpackError) -> PostgresRows? {
      if isFinished { return nil }
      if let few {
        self.few = nil
        if let rows = try all(few) { return rows }
      }
      let name = try declared()
      let fetched = try connection.execute("FETCH FORWARD \(count) FROM \(name)")
      guard fetched.count <= count else {
        throw connection.mistake("sends \(fetched.count) rows in place of \(count)")
      }
      if fetched.count < count { try close() }
      count = Self.next(count, after: fetched)
      return fetched
    }

    /// All rows; `nil` where they are not few, and are to be read a part at a time.
    private func all(_ few: LayerPlan.FewRows) throws(FieldpackError) -> PostgresRows? {
      let answer = try connection.execute(kept: few.sql, few.values, form: few.form)
      guard answer.count <= few.limit else {
        throw connection.mistake("sends \(answer.count) rows in place of \(few.limit)")
      }
      guard few.isWhole || answer.count < few.limit else { return nil }
      isFinished = true
      return answer
    }

    /// The name of the cursor, which begins where the first part is wanted.
    private func declared() throws(FieldpackError) -> String {
      if let name { return name }
      let name = "fieldpack_\(connection.nextNumber())"
      let (sql, values) = statement()
      if !connection.isInTransaction {
        try connection.execute(PostgresConnection.Transaction.snapshot.rawValue)
      }
      try connection.execute("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", values)
      self.name = name
      return name
    }

    /// Ends the reading at the server; the rows that are here stay.
    func close() throws(FieldpackError) {
      guard !isFinished else { return }
      isFinished = true
      if let name { try connection.execute("CLOSE \(name)") }
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
