public import FieldpackCore
import FieldpackGeometry
package import FieldpackProjection
import FieldpackRTree
public import FieldpackSQLite

extension FieldpackError: SQLiteErrorConvertible {
  public init(sqlite error: SQLiteError) { self.init(error, path: nil) }

  /// The error for a report of SQLite on the file at `path`.
  package init(_ error: SQLiteError, path: String?, location: KeyTuple.Partial = .init()) {
    let (code, message) = Self.words(for: error)
    // A condition that is nested too deep is no fault of the file.
    self.init(
      code, message, advice: Self.advice(for: error), location: location,
      position: code == .unsupported ? nil : path.map { FilePosition(file: $0) },
      underlying: error)
  }

  private static func words(for error: SQLiteError) -> (Code, String) {
    if error.isNotADatabase { return (.invalidData, "not a GeoPackage (not an SQLite file)") }
    if error.extendedCode == RTreeReader.damageCode {
      return (.corrupt, "the spatial index is damaged (\(error.message))")
    }
    if error.isCorrupt {
      return (.corrupt, "the file is damaged (\(error.message))")
    }
    if error.code == 18 {
      return (.invalidData, "a value is longer than is read of a file (\(error.message))")
    }
    if error.isBusy {
      return (.busy, "another program has the file locked. Try again when it is done")
    }
    if error.isFull { return (.full, "the disk is full; this change was not stored") }
    if error.isEndlessChange {
      return (
        .invalidData, "a change takes too many steps: a trigger or view of the file may have no end"
      )
    }
    if error.isInterrupted { return (.interrupted, "interrupted") }
    if error.isReadOnly { return (.readOnly, "the file cannot be written (\(error.message))") }
    if error.isPermission { return (.permission, "no permission (\(error.message))") }
    if error.isConstraint { return (.constraint, error.message) }
    if error.isEndless {
      return (
        .invalidData, "a view of the file gives no row for too long, and may have no end"
      )
    }
    if error.isOutOfThreads { return (SystemThread.shortage.code, SystemThread.shortage.message) }
    if error.isCannotOpen { return (.notFound, "cannot be opened (\(error.message))") }
    if error.code == 10 { return (.io, "reading or writing failed (\(error.message))") }
    if error.isNestedTooDeep {
      return (.unsupported, "the condition is nested too deep for SQLite (\(error.message))")
    }
    if error.code == 1 { return (.invalidData, error.message) }
    return (.io, error.message)
  }

  /// The advice for the same error.
  private static func advice(for error: SQLiteError) -> Advice? {
    if error.extendedCode == RTreeReader.damageCode { return .rebuildIndex }
    if error.isCorrupt { return .checkFile }
    return error.isEndless && !error.isEndlessChange ? .waitInSQL : nil
  }

  package init(_ error: ProjectionError, location: KeyTuple.Partial = .init()) {
    let code: Code =
      switch error.kind {
      case .unknownSRS, .undefinedSRS, .invalidDefinition: .invalidArgument
      case .failedPoints, .invalidGeometry: .invalidData
      case .noOperation: .unsupported
      case .unavailable: .unavailable
      }
    self.init(code, error.message, location: location, underlying: error)
  }
}

extension SQLiteError {
  /// Whether a row has the row id, or the INTEGER PRIMARY KEY that stands for it, already.
  var isTakenID: Bool { extendedCode == 1555 || extendedCode == 2579 }

  /// Whether SQL exceeds the stack of SQLite's parser (100 entries, `YYSTACKDEPTH`) or the limit of
  /// the depth of expressions.
  fileprivate var isNestedTooDeep: Bool {
    code == 1
      && (message == "parser stack overflow" || message.hasPrefix("Expression tree is too large"))
  }
}

extension FieldpackError {
  /// Whether an R-tree is damaged.
  package var isRTreeDamage: Bool {
    (underlying as? SQLiteError)?.extendedCode == RTreeReader.damageCode
  }
}
