import FieldpackCore
import FieldpackSQLite

/// The virtual tables that stand for layers while a user's statement runs on a connection.
///
/// They are temporary tables with the names of the layers' own, which they hide from the statement;
/// views of the file, and names with `main.` before them, still mean the tables themselves.
final class LayerShadows {
  private static let module = "fieldpack_layer"

  // The file owns this.
  private unowned let file: GeoPackageFile
  private var isRegistered = false
  /// What the tables stand for, by the number that is a table's argument.
  private var targets: [(layer: LayerTable, schema: String)] = []
  /// The names of those that stand.
  private(set) var names: [String] = []

  init(_ file: GeoPackageFile) { self.file = file }

  /// Puts up the tables that help `sql`: none where it has no function that finds by an R-tree.
  /// - Returns: the layers that the statement mentions and that got one.
  @discardableResult
  func putUp(for sql: String) throws(FieldpackError) -> [LayerTable] {
    let words = SQLWords(sql)
    guard IndexedFunctions.isMentioned(in: words) else { return [] }
    var layers: [LayerTable] = []
    for layer in try file.catalogue().layers
    where words.contains(layer.table) && Self.canStand(for: layer) {
      try putUp(layer, as: layer.table)
      layers.append(layer)
    }
    return layers
  }

  static func canStand(for layer: LayerTable) -> Bool {
    layer.rtree != nil && !layer.layer.isView && layer.hasIDColumn
  }

  /// Puts up a table for a layer under any name.
  func putUp(
    _ layer: LayerTable, in schema: String = "main", as name: String
  ) throws(FieldpackError) {
    try file.sql(layer: layer.layer.id) { () throws(SQLiteError) in
      try register()
      targets.append((layer, schema))
      try file.connection.changingTemporary { () throws(SQLiteError) in
        try file.connection.executeScript(
          "CREATE VIRTUAL TABLE temp.\(quoted(name)) USING \(Self.module)(\(targets.count - 1))")
      }
      names.append(name)
    }
  }

  /// Takes all down again; no statement may use them any more.
  func takeDown() {
    guard !names.isEmpty else { return }
    let connection = file.connection
    for name in names {
      try? connection.changingTemporary { () throws(SQLiteError) in
        try connection.executeScript("DROP TABLE temp.\(quoted(name))")
      }
    }
    (names, targets) = ([], [])
  }

  private func register() throws(SQLiteError) {
    guard !isRegistered else { return }
    try file.connection.register(module: Self.module) {
      [unowned self] (arguments) throws(SQLiteError) in
      guard let number = arguments.first.flatMap({ Int($0) }), targets.indices.contains(number)
      else {
        throw SQLiteError(
          extendedCode: 1, message: "\(Self.module) tables are made by Fieldpack alone")
      }
      let target = targets[number]
      return try LayerShadow(target.layer, in: target.schema, of: file)
    }
    isRegistered = true
  }
}
