package import FieldpackCore
package import FieldpackSQLite

/// Statements that stay prepared while one piece of work runs them for row after row. The session's own
/// cache finds a statement by its whole text, which costs as much as running it.
package final class KeptStatements<Use: Hashable> {
  private let file: GeoPackageSession
  private let layer: LayerID?
  private var statements: [Use: SessionStatement] = [:]

  init(of file: GeoPackageSession, in layer: LayerID? = nil) {
    (self.file, self.layer) = (file, layer)
  }

  package convenience init(of snapshot: GeoPackageSnapshot) { self.init(of: snapshot.file) }

  /// A statement with its values. It is to be reset before its next use.
  ///
  /// - Parameter text: its SQL, always the same for one use.
  package func callAsFunction(
    _ use: Use, _ values: [SQLiteValue], _ text: @autoclosure () -> String
  ) throws(FieldpackError) -> SessionStatement {
    guard let statement = statements[use] else {
      let statement = try file.prepare(text(), values, in: layer)
      statements[use] = statement
      return statement
    }
    for (index, value) in values.enumerated() { try statement.bind(value, at: index + 1) }
    return statement
  }

  /// The first row of a result; `nil` where it has none.
  package func row(
    _ use: Use, _ values: [SQLiteValue], _ text: @autoclosure () -> String
  ) throws(FieldpackError) -> [SQLiteValue]? {
    let statement = try self(use, values, text())
    defer { statement.reset() }
    return try statement.step() ? statement.row.values : nil
  }

  /// The first column of the first row, where it holds an integer.
  package func integer(
    _ use: Use, _ values: [SQLiteValue], _ text: @autoclosure () -> String
  ) throws(FieldpackError) -> Int64? {
    try row(use, values, text())?.first?.integerValue
  }

  /// Runs a statement that returns no rows.
  package func run(
    _ use: Use, _ values: [SQLiteValue], _ text: @autoclosure () -> String
  ) throws(FieldpackError) {
    try self(use, values, text()).run()
  }
}
