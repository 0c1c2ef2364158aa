package import FieldpackCore
import FieldpackSQLite

extension GeoPackageStore {
  /// Runs `body` in a transaction as ``write(_:)`` does, and removes the bytes of what it deletes from the
  /// file.
  ///
  /// SQLite overwrites what is deleted, then writes the file anew without free pages, and empties the
  /// write-ahead log. What was deleted earlier goes as well.
  /// - Throws: as ``write(_:)``. `.busy` where others read the file: what `body` did is done then, and its
  ///   bytes may still be there.
  package func scrub<R: Sendable>(
    _ body: @Sendable (GeoPackageWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await onWriter { (file) throws(FieldpackError) in
      try file.execute("PRAGMA secure_delete = ON")
    }
    let result = try await write(body)
    do throws(FieldpackError) {
      try await onWriter { (file) throws(FieldpackError) in
        try Self.rewrite(file)
      }
    } catch {
      throw FieldpackError(
        error.code,
        "what was asked for is deleted, but its bytes may still be in the file: \(error.message)",
        location: error.location, underlying: error)
    }
    return result
  }

  private static func rewrite(_ file: GeoPackageSession) throws(FieldpackError) {
    // VACUUM may renumber the rows of tables without an INTEGER PRIMARY KEY
    // (https://www.sqlite.org/lang_vacuum.html).
    let unnamed = try file.catalogue().layers.first {
      !$0.layer.isView && $0.schema.idColumn == nil
    }
    file.forgetCatalogue()
    file.connection.clearStatementCache()
    if let unnamed {
      throw FieldpackError(
        .unsupported,
        "layer '\(unnamed.layer.id)' has no column for its ids, so that the file cannot be written anew",
        location: .init(store: file.store, layer: unnamed.layer.id))
    }
    // VACUUM attaches a database of its own for a while.
    let attached = file.connection.limit(.attached, to: 1)
    defer { file.connection.limit(.attached, to: attached) }
    try file.execute("VACUUM")
    let state = try file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    guard state.first?.first?.integerValue ?? 0 == 0 else {
      throw FieldpackError(
        .busy, "other programs read the file", location: .init(store: file.store))
    }
  }

  private func onWriter(
    _ body: @Sendable (GeoPackageSession) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) {
    let pool = try await pools.writer()
    let watch = watch
    try await pool.write { (file) throws(FieldpackError) in
      try body(file)
      if watch.awaitsOwnCommits { watch.note(file.connection) }
    }
  }
}
