package import FieldpackCore
package import FieldpackSQLite

/// SQL functions and virtual tables, with their state, that another module adds to a session.
///
/// The session installs an extension when the module first asks for it, so that opening a file does
/// not wait for the extension, and keeps it as long as the session lives. An extension must not
/// hold its session strongly.
package protocol SessionExtension: AnyObject {
  /// Installs the extension on the connection of a session.
  init(on session: GeoPackageSession) throws(SQLiteError)
}

/// Gives the sessions of a store one layer in place of the layers of the file.
package protocol Derivation: Sendable {
  /// Whether the layer reads a second file.
  var readsOtherFile: Bool { get }

  /// Makes the layer on a session's connection and returns a catalogue of this layer alone. A
  /// failure leaves nothing behind.
  ///
  /// - Precondition: no transaction is open.
  func install(on session: GeoPackageSession) throws(FieldpackError) -> Catalogue
}
