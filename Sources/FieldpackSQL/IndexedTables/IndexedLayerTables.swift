import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The virtual tables in the place of layers while a user's statement runs on a connection.
///
/// They are temporary tables with the names of the layers' own tables, which they hide from the
/// statement. Views of the file, and names with `main.` before them, still mean the layers' own
/// tables.
final class IndexedLayerTables {
  private static let module = "fieldpack_layer"

  // The session owns this object.
  private unowned let file: GeoPackageSession
  /// The layers behind the virtual tables, by the number that each table has as its argument.
  private var targets: [Int: (layer: LayerTable, schema: String)] = [:]
  private var latest = 0
  /// The numbers of the existing tables, by their names.
  private var numbers: [SQLName: Int] = [:]

  /// The tables for one statement.
  struct Raised {
    /// The layers that the statement mentions and that have a table.
    var layers: [LayerTable] = []
    /// The names of the tables made for the statement.
    fileprivate var names: [String] = []
  }

  init(_ file: GeoPackageSession) throws(SQLiteError) {
    self.file = file
    try file.connection.register(module: Self.module) {
      [unowned self] (arguments) throws(SQLiteError) in
      guard let number = arguments.first.flatMap({ Int($0) }), let target = targets[number] else {
        throw SQLiteError(
          extendedCode: 1, message: "\(Self.module) tables are made by Fieldpack alone")
      }
      return try IndexedLayerTable(target.layer, in: target.schema, of: file)
    }
  }

  /// Makes the tables that help `sql`; none where it has no function that searches an R-tree.
  /// Existing tables of a derived layer serve as well.
  @discardableResult
  func putUp(for sql: String) throws(FieldpackError) -> Raised {
    let words = SQLWords(sql)
    var raised = Raised()
    guard IndexedFunctions.isMentioned(in: words) else { return raised }
    do throws(FieldpackError) {
      for layer in try file.fileCatalogue().layers
      where words.contains(layer.table) && Self.canStand(for: layer) {
        if numbers[SQLName(layer.table)] == nil {
          try putUp(layer, as: layer.table)
          raised.names.append(layer.table)
        }
        raised.layers.append(layer)
      }
    } catch {
      takeDown(raised)
      throw error
    }
    return raised
  }

  static func canStand(for layer: LayerTable) -> Bool {
    layer.rtree != nil && !layer.layer.isView && layer.hasIDColumn
  }

  /// Makes a table for a layer under any name; it exists as long as the connection.
  func putUp(
    _ layer: LayerTable, in schema: String = "main", as name: String
  ) throws(FieldpackError) {
    try file.sql(layer: layer.layer.id) { () throws(SQLiteError) in
      latest += 1
      targets[latest] = (layer, schema)
      try file.connection.changingTemporary { () throws(SQLiteError) in
        try file.connection.executeScript(
          "CREATE VIRTUAL TABLE temp.\(quoted(name)) USING \(Self.module)(\(latest))")
      }
      numbers[SQLName(name)] = latest
    }
  }

  /// Drops the tables of a statement that has ended.
  func takeDown(_ raised: Raised) {
    for name in raised.names { takeDown(name) }
  }

  /// Drops a table, also while the work is being cancelled.
  func takeDown(_ name: String) {
    guard let number = numbers[SQLName(name)],
      file.connection.endTemporary("DROP TABLE temp.\(quoted(name))")
    else { return }
    numbers[SQLName(name)] = nil
    targets[number] = nil
  }
}
