import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A failure reported by SQLite, with its extended result code.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The extended result code, for example 2067 (`SQLITE_CONSTRAINT_UNIQUE`).
  public let extendedCode: Int32
  /// SQLite's message.
  public let message: String
  /// The SQL of the statement that failed; `nil` where no statement was involved.
  public let sql: String?
  /// The byte offset in `sql` of the wrong token, where SQLite knows it.
  public let offset: Int?
  /// The `errno` behind the failure; 0 when unknown.
  public let systemError: Int32

  public init(
    extendedCode: Int32, message: String, sql: String? = nil, offset: Int? = nil,
    systemError: Int32 = 0
  ) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
    self.offset = offset
    self.systemError = systemError
  }

  /// The primary result code, the low 8 bits of `extendedCode`.
  public var code: Int32 { extendedCode & 0xff }

  /// Whether another connection held the needed lock for longer than the busy timeout.
  public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  /// Whether the disk, its number of files, the quota or `max_page_count` is exhausted.
  public var isFull: Bool {
    code == SQLITE_FULL
      || ([SQLITE_IOERR, SQLITE_CANTOPEN].contains(code)
        && [ENOSPC, EDQUOT, EFBIG].contains(systemError))
  }
  /// Whether the work was interrupted, by cancellation or by a deadline.
  public var isInterrupted: Bool { code == SQLITE_INTERRUPT }
  /// Whether a constraint of the file refused the change.
  public var isConstraint: Bool { code == SQLITE_CONSTRAINT }
  /// Whether the file or the connection cannot be written.
  public var isReadOnly: Bool { code == SQLITE_READONLY }
  /// Whether the file is a damaged database.
  public var isCorrupt: Bool { code == SQLITE_CORRUPT }
  /// Whether the file is not a database.
  public var isNotADatabase: Bool { code == SQLITE_NOTADB }
  /// Whether the file could not be opened; `systemError` may say why.
  public var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
  /// Whether a statement ran more instructions before its next row than it may.
  public var isEndless: Bool { code == SQLITE_ABORT && systemError == ELOOP }
  /// Whether an endless statement was not a query, so that a trigger may be endless.
  package var isEndlessChange: Bool { isEndless && extendedCode == Self.abortedChange }
  /// Whether the system could start no thread for a connection.
  public var isOutOfThreads: Bool { code == SQLITE_NOMEM && systemError == EAGAIN }
  /// Whether the system or the connection's authorizer denied access.
  public var isPermission: Bool {
    code == SQLITE_PERM || code == SQLITE_AUTH
      || (code == SQLITE_CANTOPEN && (systemError == EACCES || systemError == EPERM))
  }

  public var description: String {
    guard let sql else { return message }
    return "\(message) in: \(sql)"
  }
}

/// An error type that can carry a failure of SQLite, so that transactions and pools can throw it.
public protocol SQLiteErrorConvertible: Error {
  init(sqlite error: SQLiteError)
}

extension SQLiteError: SQLiteErrorConvertible {
  public init(sqlite error: SQLiteError) { self = error }
}

extension SQLiteError {
  /// The last error of `handle`.
  init(handle: OpaquePointer?, code: Int32, sql: String? = nil) {
    let offset = sql == nil ? -1 : sqlite3_error_offset(handle)
    let known = handle.map(sqlite3_extended_errcode) ?? code
    let isLatest = known & 0xff == code & 0xff
    self.init(
      extendedCode: isLatest ? known : code,
      message: isLatest && handle != nil
        ? String(cString: sqlite3_errmsg(handle)) : String(cString: sqlite3_errstr(code)),
      sql: sql, offset: offset < 0 ? nil : Int(offset),
      systemError: handle.map(sqlite3_system_errno) ?? 0)
  }

  package static func misuse(_ message: String, sql: String? = nil) -> SQLiteError {
    SQLiteError(extendedCode: SQLITE_MISUSE, message: message, sql: sql)
  }

  static let outOfThreads = SQLiteError(
    extendedCode: SQLITE_NOMEM, message: "no thread could be started", systemError: EAGAIN)

  /// SQLite's code `SQLITE_ABORT_ROLLBACK`.
  private static let abortedChange: Int32 = SQLITE_ABORT | 2 << 8

  static func endless(sql: String?, isChange: Bool) -> SQLiteError {
    SQLiteError(
      extendedCode: isChange ? abortedChange : SQLITE_ABORT, message: "the next row takes too long",
      sql: sql,
      systemError: ELOOP)
  }

  static func interrupted(sql: String? = nil) -> SQLiteError {
    SQLiteError(extendedCode: SQLITE_INTERRUPT, message: "interrupted", sql: sql)
  }
}
