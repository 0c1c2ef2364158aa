import CSQLite

/// One value of the row a statement is on.
///
/// The bytes of a text or blob are valid until the statement moves on.
public struct LentValue {
  /// SQLite's code of the storage class, 1 to 5.
  @usableFromInline let code: UInt8
  /// An integer, the bits of a real, or the address of the bytes of a text or blob.
  @usableFromInline let bits: UInt
  @usableFromInline let count: Int

  @inlinable init(code: UInt8, bits: UInt, count: Int) {
    self.code = code
    self.bits = bits
    self.count = count
  }

  static var null: LentValue { LentValue(code: 5, bits: 0, count: 0) }

  @inlinable public var kind: StorageClass {
    switch code {
    case 1: .integer
    case 2: .real
    case 3: .text
    case 4: .blob
    default: .null
    }
  }

  @inlinable public var isNull: Bool { code == 5 }

  /// The integer; 0 where the value is not an integer.
  @inlinable public var integer: Int64 { code == 1 ? Int64(Int(bitPattern: bits)) : 0 }

  /// The number; NaN where the value is not a number.
  @inlinable public var real: Double {
    switch code {
    case 1: Double(Int(bitPattern: bits))
    case 2: Double(bitPattern: UInt64(bits))
    default: .nan
    }
  }

  /// Lends the bytes of a text (UTF-8, not validated) or a blob; no bytes for other kinds.
  @inlinable
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let start = code == 3 || code == 4 ? UnsafeRawPointer(bitPattern: bits) : nil
    return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count).bytes)
  }
}

/// The values of one row, read from where SQLite has them; it does not keep them alive.
public struct LentRow {
  @usableFromInline let values: UnsafeBufferPointer<LentValue>

  @inlinable init(values: UnsafeBufferPointer<LentValue>) { self.values = values }

  /// - Precondition: `index` is a column.
  @inlinable public subscript(index: Int) -> LentValue {
    precondition(index >= 0 && index < values.count, "no such column")
    return values[index]
  }
}

/// The values of one row, read together, which costs less than reading each one.
///
/// Valid until the statement moves on.
public final class LentValues {
  @usableFromInline let values: UnsafeMutableBufferPointer<LentValue>

  public init(count: Int) {
    values = .allocate(capacity: max(0, count))
    values.initialize(repeating: .null)
  }

  deinit { values.deallocate() }

  public var count: Int { values.count }

  /// The row that was read last. It is valid as long as that row and this object.
  @inlinable public var row: LentRow { LentRow(values: UnsafeBufferPointer(values)) }

  /// Reads the arguments of a function; there are as many as values.
  func read(_ arguments: UnsafeMutablePointer<OpaquePointer?>, storesUTF8: Bool) {
    for index in 0..<values.count {
      values[index] = LentValue(arguments[index], storesUTF8: storesUTF8)
    }
  }

  /// Reads the row that a statement is on.
  fileprivate func read(_ statement: OpaquePointer, storesUTF8: Bool) {
    for index in 0..<values.count {
      let value = sqlite3_column_value(statement, Int32(truncatingIfNeeded: index))
      values[index] = LentValue(value, storesUTF8: storesUTF8)
    }
  }
}

extension LentValue {
  @inline(__always)
  fileprivate init(_ value: OpaquePointer?, storesUTF8: Bool) {
    let code = sqlite3_value_type(value)
    switch code {
    case SQLITE_INTEGER:
      let bits = UInt(bitPattern: Int(sqlite3_value_int64(value)))
      self.init(code: 1, bits: bits, count: 0)
    case SQLITE_FLOAT:
      self.init(code: 2, bits: UInt(sqlite3_value_double(value).bitPattern), count: 0)
    case SQLITE_TEXT, SQLITE_BLOB:
      // Reading the bytes as text would first make SQLite look for a NUL behind them.
      let start =
        code == SQLITE_TEXT && !storesUTF8
        ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
      let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
      self.init(code: UInt8(truncatingIfNeeded: code), bits: UInt(bitPattern: start), count: count)
    default: self = .null
    }
  }
}

extension Statement {
  /// Reads the first columns of the current row into `values`, as many as `values` holds.
  public func lend(_ values: LentValues) {
    values.read(handle, storesUTF8: connection.storesUTF8)
  }
}
