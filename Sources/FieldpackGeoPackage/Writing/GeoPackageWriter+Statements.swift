package import FieldpackCore
package import FieldpackGeometry
package import FieldpackSQLite

// SQL for layers whose tables the caller made.
//
// Statements stay prepared as long as the connection, so that a row, also of a later transaction,
// costs no more than binding its values. Code that changes rows must call `changed(_:growing:)`.

extension GeoPackageWriter {
  package var connection: Connection { file.connection }

  package func prepare(
    _ sql: String, in layer: LayerID? = nil
  ) throws(FieldpackError) -> SessionStatement {
    try file.prepare(sql, in: layer)
  }

  package func execute(
    _ sql: String, _ values: [SQLiteValue] = []
  ) throws(FieldpackError) {
    try file.execute(sql, values)
  }

  /// Notes that rows of a layer changed; the end of the transaction updates the layer's extent and
  /// date.
  ///
  /// - Parameter envelope: the extent grows to hold this envelope; it never shrinks.
  package func changed(_ layer: LayerID, growing envelope: Envelope? = nil) throws(FieldpackError) {
    let table = try table(layer)
    try file.checkCountless(table)
    touch(table, growing: envelope)
  }

  /// Creates a layer whose table has constraints that a schema does not hold, such as a foreign
  /// key.
  ///
  /// - Parameter rules: table constraints in SQL.
  package func createLayer(
    _ schema: Schema, rules: [String]
  ) throws(FieldpackError) {
    try whole { () throws(FieldpackError) in
      try LayerCreation(file: file).create(schema, rules: rules)
    }
    note(schema.layer)
  }

  /// Adds missing index triggers of a layer, before statements of the caller change its rows.
  package func ready(_ layer: LayerID) throws(FieldpackError) {
    _ = try writable(layer)
  }

  /// What `find` finds out about the layers, or makes of them. It is asked again when other programs have
  /// changed the file, and after each ``GeoPackageStore/write(_:)``.
  package func finding<T: Sendable>(
    _ name: String, _ find: () throws(FieldpackError) -> T
  ) throws(FieldpackError) -> T {
    try file.finding(name, find)
  }

  /// Registers an extension that Fieldpack defines itself, for a table.
  package func registerExtension(
    _ name: String, table: String, scope: String = "write-only"
  ) throws(FieldpackError) {
    try LayerCreation(file: file).registerExtension(
      name, table: table, column: nil, scope: scope)
  }
}

extension GeoPackageSnapshot {
  /// The rows of a small result. The SQL must be the program's own, not the user's.
  package func rows(
    _ sql: String, _ values: [SQLiteValue] = []
  ) throws(FieldpackError) -> [[SQLiteValue]] {
    try file.rows(sql, values)
  }

  /// Gives each row of a result to `body`; the columns are valid until `body` returns.
  package func each(
    _ sql: String, _ values: [SQLiteValue] = [],
    _ body: (Statement) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let statement = try file.prepare(sql, values)
    defer { statement.reset() }
    while try statement.step() { try body(statement.row) }
  }

  /// The schema of a layer; `nil` where there is none of that name.
  package func schema(of layer: LayerID) throws(FieldpackError) -> Schema? {
    try file.catalogue().layer(layer)?.schema
  }

  package func hasTable(_ name: String) throws(FieldpackError) -> Bool {
    try file.hasTable(name)
  }
}
