import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Gives a statement's rows in batches.
struct SQLCursor: Sendable {
  private let lease: CursorLease<Walk>
  private let store: StoreID
  private let sql: String
  private let parameters: [SQLiteValue]

  init(pools: StorePools, store: StoreID, sql: String, parameters: [SQLiteValue]) {
    lease = CursorLease(pools: pools, store: store)
    self.store = store
    self.sql = sql
    self.parameters = parameters
  }

  func next() async throws(FieldpackError) -> SQLBatch? {
    let (sql, parameters) = (sql, parameters)
    return try await lease.next { (file, walk) throws(FieldpackError) in
      if walk == nil { walk = try Walk(UserStatement(sql, parameters, on: file)) }
      var batch = try walk?.batch()
      batch?.notes = file.takeNotes()
      return batch
    }
  }

  /// The statement, left with the reader between batches.
  private final class Walk {
    private let statement: UserStatement
    private let columns: [String]
    private var isFirst = true

    init(_ statement: UserStatement) {
      self.statement = statement
      columns = statement.columnNames
    }

    func batch() throws(FieldpackError) -> SQLBatch? {
      var batch = SQLBatch(columns: columns, rows: [])
      var size = 0
      while batch.rows.count < 1024, size < 1 << 20, let row = try statement.next(&size) {
        batch.rows.append(row)
      }
      defer { isFirst = false }
      return batch.rows.isEmpty && !isFirst ? nil : batch
    }
  }
}

extension Statement {
  /// The current row; adds the bytes of its texts and blobs to `size`.
  func values(_ size: inout Int) -> [Value] {
    (0..<columnCount).map { column in
      let value = Value(value(column))
      switch value {
      case .text(let text): size += text.utf8.count
      case .blob(let bytes): size += bytes.count
      default: break
      }
      return value
    }
  }
}
