package import FieldpackCore
package import FieldpackSQLite

/// What another module adds to a session: SQL functions, virtual tables, and their state.
///
/// The session installs an extension when that module first asks for it, so that opening a file does
/// not wait for it, and keeps it to its own end. An extension must not hold its session strongly.
package protocol SessionExtension: AnyObject {
  /// Installs the extension on the connection of a session.
  init(on session: GeoPackageSession) throws(SQLiteError)
}

/// Gives the sessions of a store one layer of its own in place of those of the file.
package protocol Derivation: Sendable {
  /// Whether the layer reads another file as well.
  var readsOtherFile: Bool { get }

  /// Puts the layer up on a session's connection and gives the catalogue that has it alone. Nothing
  /// is left of it where that fails.
  ///
  /// - Precondition: no transaction is open.
  func install(on session: GeoPackageSession) throws(FieldpackError) -> Catalogue
}
