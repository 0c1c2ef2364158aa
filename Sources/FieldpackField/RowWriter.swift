package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackSQLite

/// Writes many rows by one statement, which the connection prepares once.
///
///     var points = try RowWriter(inserting: Self.columns, into: layer, writer)
///     try points.add(blob)
///     try points.add(number)
///     let id = try points.insert()
///
/// Values come in the order of the statement's parameters.
package struct RowWriter {
  package let statement: SessionStatement
  private let writer: GeoPackageWriter
  private var last = 0

  /// - Parameter sql: a statement with parameters `?`, whose text is best made once.
  package init(
    _ sql: String, in layer: LayerID, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    statement = try writer.prepare(sql, in: layer)
    self.writer = writer
  }

  /// The statement that inserts values of these columns.
  package static func insertion(into layer: LayerID, _ columns: [String]) -> String {
    "INSERT INTO \(layer) (\(columns.joined(separator: ", "))) VALUES ("
      + columns.map { _ in "?" }.joined(separator: ", ") + ")"
  }

  package mutating func add(_ value: Int64?) throws(FieldpackError) {
    try statement.bind(value, at: next())
  }

  package mutating func add(_ value: Int?) throws(FieldpackError) {
    try statement.bind(value, at: next())
  }

  package mutating func add(_ value: Double?) throws(FieldpackError) {
    try statement.bind(value, at: next())
  }

  package mutating func add(_ text: String?) throws(FieldpackError) {
    try statement.bind(text, at: next())
  }

  package mutating func add(_ blob: [UInt8]) throws(FieldpackError) {
    try statement.bind(blob, at: next())
  }

  /// Adds an id to a column for integers and the one after it for texts.
  package mutating func add(region: FeatureID?) throws(FieldpackError) {
    var (integer, name): (Int64?, String?)
    switch region {
    case .integer(let number): integer = number
    case .text(let text): name = text
    case nil: break
    }
    try add(integer)
    try add(name)
  }

  private mutating func next() -> Int {
    last += 1
    return last
  }

  /// Writes the row, for the first value of the next one to follow.
  package mutating func run() throws(FieldpackError) {
    last = 0
    try statement.run()
  }

  /// As ``run()``; gives the id of the row.
  package mutating func insert() throws(FieldpackError) -> Int64 {
    try run()
    return writer.connection.lastInsertRowID
  }
}
