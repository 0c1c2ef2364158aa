package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackSQLite

/// A layer of field data, as this version makes it.
package struct FieldLayer: Sendable {
  package var schema: Schema
  /// Table constraints in SQL.
  package var rules: [String]
  /// Statements that make indexes where they are missing.
  package var indexes: [String]
  /// The columns that the layer had before it stated a version; none where there was no such layer.
  package var firstColumns: Set<String>
  /// What leads from older versions to this one, the oldest first.
  package var migrations: [Migration]

  package var id: LayerID { schema.layer }

  package init(
    _ schema: Schema, rules: [String] = [], indexes: [String] = [],
    firstColumns: Set<String> = [], migrations: [Migration] = []
  ) {
    self.schema = schema
    self.rules = rules
    self.indexes = indexes
    self.firstColumns = firstColumns
    self.migrations = migrations
  }
}

/// The layers that belong together, with the version that the file states of each.
package struct FieldLayers: Sendable {
  package let version: Int64
  package let layers: [FieldLayer]

  package init(version: Int64, _ layers: [FieldLayer]) {
    self.version = version
    self.layers = layers
  }

  static let table = "fieldpack_schema"

  /// Makes the layers what this version knows, in the writer's transaction: missing ones are created,
  /// older ones are migrated. Layers of this version are not written to.
  ///
  /// - Throws: `.unsupported` for a layer of a newer version, `.cannotCreate` where a table of that
  ///   name is something else; then nothing has changed when the transaction is rolled back.
  package func prepare(in writer: GeoPackageWriter) throws(FieldpackError) {
    try prepare(in: writer, creating: true)
  }

  /// As ``prepare(in:)``, for those layers that the file has.
  package func migrate(in writer: GeoPackageWriter) throws(FieldpackError) {
    try prepare(in: writer, creating: false)
  }

  private func prepare(
    in writer: GeoPackageWriter, creating: Bool
  ) throws(FieldpackError) {
    let stated = try Self.versions(in: writer)
    for layer in layers {
      var found = stated[layer.id.rawValue]
      if found == nil, try writer.hasTable(layer.id.rawValue) { found = 1 }
      if let found, found > version { throw newer(layer.id, found) }
      guard let schema = try writer.schema(of: layer.id) else {
        if creating { try create(layer, in: writer) }
        continue
      }
      let isStated = stated[layer.id.rawValue] != nil
      if found != version || !isStated {
        try upgrade(layer, from: isStated ? found ?? 1 : 1, schema, isStated: isStated, in: writer)
      }
      try writer.ready(layer.id)
    }
  }

  /// The versions that the file states.
  private static func versions(
    in writer: GeoPackageWriter
  ) throws(FieldpackError) -> [String: Int64] {
    guard try writer.hasTable(table) else { return [:] }
    var versions: [String: Int64] = [:]
    for row in try writer.rows("SELECT layer, version FROM \(table)") {
      guard case .text(let layer) = row[0], case .integer(let version) = row[1] else { continue }
      versions[layer] = version
    }
    return versions
  }

  private func newer(_ layer: LayerID, _ version: Int64) -> FieldpackError {
    FieldpackError(
      .unsupported,
      "layer '\(layer)' has version \(version) of the layers of field data, and this program writes "
        + "versions up to \(self.version); it can be read. Try: a newer Fieldpack",
      location: .init(layer: layer))
  }

  private func create(
    _ layer: FieldLayer, in writer: GeoPackageWriter
  ) throws(FieldpackError) {
    try writer.createLayer(layer.schema, rules: layer.rules)
    try finish(layer, in: writer)
  }

  private func upgrade(
    _ layer: FieldLayer, from found: Int64, _ schema: Schema, isStated: Bool,
    in writer: GeoPackageWriter
  ) throws(FieldpackError) {
    if !isStated { try checkFirstVersion(layer, schema) }
    guard schema.geometry?.srs == layer.schema.geometry?.srs else {
      throw FieldpackError(
        .cannotCreate, "layer '\(layer.id)' is not in WGS 84, as field data is. Try: another file",
        location: .init(layer: layer.id))
    }
    for migration in layer.migrations where migration.version > found {
      try migration.apply(to: layer.id, in: writer)
    }
    let columns = Set(try writer.schema(of: layer.id)?.columns.map(\.name) ?? [])
    for column in layer.schema.columns where columns.contains(column.name) {
      guard let constraint = column.constraint else { continue }
      try writer.setConstraint(constraint, of: column.name, in: layer.id)
    }
    try finish(layer, in: writer)
  }

  /// A table without a stated version is a layer of field data if it has the columns of the first.
  private func checkFirstVersion(
    _ layer: FieldLayer, _ schema: Schema
  ) throws(FieldpackError) {
    let missing = layer.firstColumns.subtracting(schema.columns.map(\.name)).sorted()
    guard layer.firstColumns.isEmpty || !missing.isEmpty else { return }
    throw FieldpackError(
      .cannotCreate,
      "the file has a table '\(layer.id)' that is no layer of field data"
        + (missing.isEmpty ? "" : " (it lacks \(missing.joined(separator: ", ")))")
        + ". Try: another file",
      location: .init(layer: layer.id))
  }

  private func finish(
    _ layer: FieldLayer, in writer: GeoPackageWriter
  ) throws(FieldpackError) {
    for index in layer.indexes { try writer.execute(index) }
    if try !writer.hasTable(Self.table) {
      try writer.execute(
        "CREATE TABLE \(Self.table) (layer TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL)")
    }
    try writer.registerExtension(Self.table, table: Self.table)
    try writer.execute(
      "INSERT OR REPLACE INTO \(Self.table) (layer, version) VALUES (?, ?)",
      [.text(layer.id.rawValue), .integer(version)])
  }
}
