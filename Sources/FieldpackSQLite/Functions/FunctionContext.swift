import CSQLite

/// The arguments and the result of one call of an SQL function; valid during that call only.
///
/// A function that sets no result answers NULL.
public struct FunctionContext {
  public let argumentCount: Int
  private let context: OpaquePointer
  private let arguments: UnsafeMutablePointer<OpaquePointer?>?

  init(
    context: OpaquePointer, count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    self.context = context
    self.argumentCount = Int(count)
    self.arguments = arguments
  }

  public func kind(_ index: Int) -> StorageClass {
    guard let value = argument(index) else { return .null }
    return StorageClass(code: sqlite3_value_type(value))
  }

  public func isNull(_ index: Int) -> Bool { kind(index) == .null }

  /// The argument as an integer, converted as SQLite does; 0 for NULL.
  public func integer(_ index: Int) -> Int64 { argument(index).map(sqlite3_value_int64) ?? 0 }

  /// The argument as a number, converted as SQLite does; 0 for NULL.
  public func real(_ index: Int) -> Double { argument(index).map(sqlite3_value_double) ?? 0 }

  /// Lends the bytes of a blob or text argument (UTF-8, not validated); no bytes for NULL.
  @inlinable
  public func withBytes<R, E: Error>(_ index: Int, _ body: (RawSpan) throws(E) -> R) throws(E)
    -> R
  {
    try body(unsafeBytes(index).bytes)
  }

  /// The argument as text, with invalid UTF-8 repaired; `nil` for NULL.
  public func string(_ index: Int) -> String? {
    isNull(index) ? nil : String(decoding: unsafeBytes(index), as: UTF8.self)
  }

  /// A copy of the bytes of a blob or text argument; `nil` for NULL.
  public func blob(_ index: Int) -> [UInt8]? {
    isNull(index) ? nil : [UInt8](unsafeBytes(index))
  }

  /// A copy of the argument.
  package func value(_ index: Int) -> SQLiteValue {
    argument(index).map { FunctionValue($0).copy } ?? .null
  }

  /// Binds the argument to a parameter. Text and blobs are not copied: their bytes stay valid until the
  /// call ends.
  package func lend(
    _ index: Int, to statement: Statement, at parameter: Int
  ) throws(SQLiteError) {
    switch kind(index) {
    case .null: break
    case .integer: try statement.bind(integer(index), at: parameter)
    case .real: try statement.bind(real(index), at: parameter)
    case .text: try statement.bindUnowned(utf8: unsafeBytes(index), at: parameter)
    case .blob: try statement.bindUnowned(unsafeBytes(index), at: parameter)
    }
  }

  @usableFromInline
  func unsafeBytes(_ index: Int) -> UnsafeRawBufferPointer {
    guard let value = argument(index) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return FunctionValue(value).bytes
  }

  private func argument(_ index: Int) -> OpaquePointer? {
    index >= 0 && index < argumentCount ? arguments?[index] : nil
  }
}

/// One value that SQLite lends to a function.
struct FunctionValue {
  private let value: OpaquePointer

  init(_ value: OpaquePointer) { self.value = value }

  var kind: StorageClass { StorageClass(code: sqlite3_value_type(value)) }

  /// The bytes of a blob or a text (UTF-8, not validated).
  var bytes: UnsafeRawBufferPointer {
    let start: UnsafeRawPointer?
    if sqlite3_value_type(value) == SQLITE_TEXT, sqlite3_value_encoding(value) != SQLITE_UTF8 {
      start = UnsafeRawPointer(sqlite3_value_text(value))
    } else {
      start = sqlite3_value_blob(value)
    }
    let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  var copy: SQLiteValue {
    switch kind {
    case .null: .null
    case .integer: .integer(sqlite3_value_int64(value))
    case .real: .real(sqlite3_value_double(value))
    case .text: .text(String(decoding: bytes, as: UTF8.self))
    case .blob: .blob([UInt8](bytes))
    }
  }
}

extension FunctionContext {
  public func setNull() { sqlite3_result_null(context) }
  public func set(_ value: Int64) { sqlite3_result_int64(context, value) }
  public func set(_ value: Double) { sqlite3_result_double(context, value) }
  /// Answers 1 or 0.
  public func set(_ value: Bool) { sqlite3_result_int(context, value ? 1 : 0) }

  public func set(_ text: String) {
    var text = text
    text.withUTF8 { setText(UnsafeRawBufferPointer($0)) }
  }

  /// Answers text given as UTF-8; the bytes are copied.
  public func set(utf8 bytes: borrowing RawSpan) { bytes.withUnsafeBytes { setText($0) } }

  /// Answers a blob; the bytes are copied.
  public func set(_ blob: borrowing RawSpan) { blob.withUnsafeBytes { setBlob($0) } }

  /// Answers a blob; the bytes are copied.
  public func set(_ blob: [UInt8]) { blob.withUnsafeBytes { setBlob($0) } }

  /// Answers an argument unchanged.
  public func setArgument(_ index: Int) {
    guard let value = argument(index) else { return setNull() }
    sqlite3_result_value(context, value)
  }

  /// Makes the statement fail with `message`.
  public func setError(_ message: String) {
    sqlite3_result_error(context, message, -1)
  }

  // A null pointer would make the answer NULL instead of an empty text or blob.
  private func setText(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return sqlite3_result_text(context, "", 0, fieldpack_sqlite_transient())
    }
    sqlite3_result_text64(
      context, base.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
      fieldpack_sqlite_transient(), UInt8(SQLITE_UTF8))
  }

  private func setBlob(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return sqlite3_result_zeroblob(context, 0)
    }
    sqlite3_result_blob64(
      context, base, UInt64(bytes.count), fieldpack_sqlite_transient())
  }
}

extension FunctionContext {
  /// The object that an earlier call of this statement left beside the argument; `nil` unless the
  /// argument is constant and unchanged.
  public func auxiliary(_ index: Int) -> AnyObject? {
    guard let index = Int32(exactly: index),
      let pointer = sqlite3_get_auxdata(context, index)
    else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Keeps `object` beside an argument for later calls of this statement.
  ///
  /// SQLite releases it when the argument is not constant, when the statement is reset or
  /// finalised, and when memory is short, possibly before this call returns.
  public func setAuxiliary(_ object: AnyObject, _ index: Int) {
    guard let index = Int32(exactly: index) else { return }
    let pointer = Unmanaged.passRetained(object).toOpaque()
    sqlite3_set_auxdata(context, index, pointer, releaseCallback)
  }
}

/// Releases the reference that was handed to SQLite.
let releaseCallback: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
  guard let pointer else { return }
  Unmanaged<AnyObject>.fromOpaque(pointer).release()
}
