import CSQLite

extension Statement {
  public var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  public func bindNull(at index: Int) throws(SQLiteError) {
    try check(sqlite3_bind_null(handle, clamped(index)))
  }

  public func bind(_ value: Int64, at index: Int) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, clamped(index), value))
  }

  public func bind(_ value: Int, at index: Int) throws(SQLiteError) {
    try bind(Int64(value), at: index)
  }

  public func bind(_ value: Double, at index: Int) throws(SQLiteError) {
    try check(sqlite3_bind_double(handle, clamped(index), value))
  }

  public func bind(_ text: String, at index: Int) throws(SQLiteError) {
    var text = text
    let code = text.withUTF8 { utf8 in
      bindText(UnsafeRawBufferPointer(utf8), at: index, fieldpack_sqlite_transient())
    }
    try check(code)
  }

  public func bind(_ blob: [UInt8], at index: Int) throws(SQLiteError) {
    let code = blob.withUnsafeBytes { bytes in
      bindBlob(bytes, at: index, fieldpack_sqlite_transient())
    }
    try check(code)
  }

  /// Binds a blob without copying it.
  ///
  /// The bytes must stay where they are until the statement is reset and this parameter is bound
  /// again or cleared.
  public func bindUnowned(_ blob: UnsafeRawBufferPointer, at index: Int) throws(SQLiteError) {
    try check(bindBlob(blob, at: index, nil))
  }

  /// Binds UTF-8 text without copying it; the bytes must stay as in ``bindUnowned(_:at:)``.
  public func bindUnowned(utf8 text: UnsafeRawBufferPointer, at index: Int) throws(SQLiteError) {
    try check(bindText(text, at: index, nil))
  }

  public func bind(_ value: SQLiteValue, at index: Int) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: index)
    case .integer(let number): try bind(number, at: index)
    case .real(let number): try bind(number, at: index)
    case .text(let text): try bind(text, at: index)
    case .blob(let bytes): try bind(bytes, at: index)
    }
  }

  /// Binds the parameters in order, starting with the first.
  public func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
    for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
  }

  // A null pointer would bind NULL instead of an empty text or blob.
  private func bindText(
    _ bytes: UnsafeRawBufferPointer, at index: Int, _ destructor: sqlite3_destructor_type?
  ) -> Int32 {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return sqlite3_bind_text(handle, clamped(index), "", 0, fieldpack_sqlite_transient())
    }
    let text = base.assumingMemoryBound(to: CChar.self)
    return sqlite3_bind_text64(
      handle, clamped(index), text, UInt64(bytes.count), destructor, UInt8(SQLITE_UTF8))
  }

  private func bindBlob(
    _ bytes: UnsafeRawBufferPointer, at index: Int, _ destructor: sqlite3_destructor_type?
  ) -> Int32 {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return sqlite3_bind_zeroblob(handle, clamped(index), 0)
    }
    return sqlite3_bind_blob64(handle, clamped(index), base, UInt64(bytes.count), destructor)
  }

  /// The index for SQLite; 0 where it does not fit, for which SQLite answers `SQLITE_RANGE`.
  private func clamped(_ index: Int) -> Int32 { Int32(exactly: index) ?? 0 }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw failure(code) }
  }
}
