import FieldpackGeoPackage
import FieldpackSQLite

/// What a session needs for users' statements: the functions on geometries, the tables that R-trees
/// speed up, and SpatiaLite's functions once a statement calls one.
final class UserSQL: SessionExtension {
  // The session owns both the connection and this object.
  private unowned let connection: Connection
  let tables: IndexedLayerTables
  private var sandbox: SpatiaLiteSandbox?

  init(on session: GeoPackageSession) throws(SQLiteError) {
    connection = session.connection
    try GeometryFunctions(of: session).register()
    tables = try IndexedLayerTables(session)
    session.triggers?.forget()
    try? session.triggers?.learn(connection)
  }

  /// Compiles a statement that runs once.
  func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try withSpatiaLite { () throws(SQLiteError) in try connection.prepare(sql, caching: false) }
  }

  /// Runs `body`. Where `body` fails because SQLite does not know a function, SpatiaLite's functions
  /// are added and `body` runs again.
  func withSpatiaLite<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    do throws(SQLiteError) {
      return try body()
    } catch {
      guard sandbox == nil, error.code == 1, error.message.hasPrefix("no such function") else {
        throw error
      }
      sandbox = try SpatiaLiteSandbox(lendingTo: connection)
      return try body()
    }
  }
}

extension GeoPackageSession {
  /// The session's extension for users' statements, installed at the first call.
  func userSQL() throws(SQLiteError) -> UserSQL { try installed(UserSQL.self) }
}
