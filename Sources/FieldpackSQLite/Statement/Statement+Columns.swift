import CSQLite

extension Statement {
  public var columnCount: Int { Int(sqlite3_column_count(handle)) }

  /// The name of a column of the result; empty when there is no such column.
  public func columnName(_ index: Int) -> String {
    sqlite3_column_name(handle, clampedColumn(index)).map { String(cString: $0) } ?? ""
  }

  public var columnNames: [String] { (0..<columnCount).map(columnName) }

  /// The storage class of a value in the current row. Read it before any other form of the value,
  /// because reading may convert the value.
  public func kind(_ index: Int) -> StorageClass {
    StorageClass(code: sqlite3_column_type(handle, clampedColumn(index)))
  }

  public func isNull(_ index: Int) -> Bool {
    sqlite3_column_type(handle, clampedColumn(index)) == SQLITE_NULL
  }

  /// The value as an integer, converted as SQLite does; 0 for NULL.
  public func integer(_ index: Int) -> Int64 {
    sqlite3_column_int64(handle, clampedColumn(index))
  }

  /// The value as a number, converted as SQLite does; 0 for NULL.
  public func real(_ index: Int) -> Double {
    sqlite3_column_double(handle, clampedColumn(index))
  }

  /// Lends the bytes of a blob or of a text (UTF-8, not validated) without a copy; no bytes for
  /// NULL.
  @inlinable
  public func withBytes<R, E: Error>(_ index: Int, _ body: (RawSpan) throws(E) -> R) throws(E)
    -> R
  {
    try body(unsafeBytes(index).bytes)
  }

  /// The bytes of a blob or text; valid until the next step, reset or conversion of this column.
  @usableFromInline
  func unsafeBytes(_ index: Int) -> UnsafeRawBufferPointer {
    let column = clampedColumn(index)
    // Reading the bytes as text would first make SQLite copy them to put a NUL behind them.
    let start: UnsafeRawPointer?
    if !connection.storesUTF8, sqlite3_column_type(handle, column) == SQLITE_TEXT {
      start = UnsafeRawPointer(sqlite3_column_text(handle, column))
    } else {
      start = sqlite3_column_blob(handle, column)
    }
    let count = start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  /// The value as text, with invalid UTF-8 repaired; `nil` for NULL.
  public func string(_ index: Int) -> String? {
    isNull(index) ? nil : String(decoding: unsafeBytes(index), as: UTF8.self)
  }

  /// A copy of the bytes of a blob or text; `nil` for NULL.
  public func blob(_ index: Int) -> [UInt8]? {
    isNull(index) ? nil : [UInt8](unsafeBytes(index))
  }

  /// The stored value, owned.
  public func value(_ index: Int) -> SQLiteValue {
    switch kind(index) {
    case .null: .null
    case .integer: .integer(integer(index))
    case .real: .real(real(index))
    case .text: .text(String(decoding: unsafeBytes(index), as: UTF8.self))
    case .blob: .blob([UInt8](unsafeBytes(index)))
    }
  }

  /// The stored values of the current row, owned.
  public var values: [SQLiteValue] { (0..<columnCount).map(value) }

  /// The index for SQLite; -1 where it does not fit, for which SQLite answers NULL.
  private func clampedColumn(_ index: Int) -> Int32 { Int32(exactly: index) ?? -1 }
}
