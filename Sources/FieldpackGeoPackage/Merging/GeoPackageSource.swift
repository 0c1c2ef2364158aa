package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// A GeoPackage whose layers are imported into another one, in one state of the file.
///
/// Blocks the calling thread; not `Sendable`.
package final class GeoPackageSource {
  private let connection: Connection
  let file: GeoPackageSession

  /// A layer of the file, as another file can declare it.
  package struct SourceLayer: Sendable {
    package var schema: Schema
    /// Whether its rows have ids that stay the same.
    package var hasIDs: Bool
    /// The reference system of its geometries, as the file defines it.
    package var system: StoredSRS?
    /// Whether these are media that come with the rows that are linked to them.
    package var comesAlong = false
  }

  /// - Throws: `.notFound`, `.permission`, `.busy`, `.corrupt`; `.invalidData` for what is not a
  ///   GeoPackage.
  package init(
    path: String, store: StoreID, busyTimeout: Duration = .seconds(5)
  ) throws(FieldpackError) {
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .readOnly, busyTimeout: busyTimeout)
      file = try GeoPackageSession(connection, store: store, path: path)
    } catch {
      throw FieldpackError(error, path: path, location: .init(store: store))
    }
    try file.execute("BEGIN")
    _ = try file.catalogue()
  }

  deinit { try? connection.execute("ROLLBACK") }

  /// Stops the work from any thread. The running call throws `.interrupted`.
  package var interrupt: @Sendable () -> Void {
    let handle = connection.interruptHandle
    return { handle.interrupt() }
  }

  // MARK: Layers

  /// The layers to import: all, or one of them and the media that its rows are linked to.
  ///
  /// - Throws: `.notFound` for a name that is no layer of the file.
  package func layers(
    only names: Set<String>? = nil
  ) throws(FieldpackError) -> [SourceLayer] {
    let catalogue = try file.catalogue()
    let relations = try RelationTables(file: file).all()
    var tables = catalogue.layers
    if let names {
      var wanted: Set<LayerID> = []
      for name in names.sorted() {
        guard let table = catalogue.layer(LayerID(name)) else {
          throw file.missingLayer(LayerID(name), in: catalogue)
        }
        wanted.insert(table.layer.id)
        for relation in relations
        where relation.kind == .media && SQLName(relation.base.rawValue) == SQLName(name) {
          if let media = catalogue.layer(relation.related) { wanted.insert(media.layer.id) }
        }
      }
      tables = tables.filter { wanted.contains($0.layer.id) }
    } else {
      // Links and styles come with the layers that they belong to.
      let others = Set((relations.map(\.mapping) + [LayerChange.styles]).map { SQLName($0) })
      tables = tables.filter { !others.contains(SQLName($0.table)) }
    }
    let all = Set(tables.map { SQLName($0.layer.id.rawValue) })
    let asked = Set((names ?? []).map { SQLName($0) })
    var media: Set<SQLName> = []
    for relation in relations
    where relation.kind == .media && all.contains(SQLName(relation.base.rawValue)) {
      media.insert(SQLName(relation.related.rawValue))
    }
    media.subtract(asked)
    var layers: [SourceLayer] = []
    for table in tables {
      let types = try file.storedTypes(of: table.schema)
      layers.append(
        SourceLayer(
          schema: table.schema.copied(storedTypes: types), hasIDs: table.idSQL != nil,
          system: catalogue.system(table.srsID).map { StoredSRS($0) },
          comesAlong: media.contains(SQLName(table.layer.id.rawValue))
            && MediaColumns.all.allSatisfy { table.schema.columnIndex($0) != nil }))
    }
    return layers
  }

  /// The highest id of a layer's rows.
  package func highestID(of layer: LayerID) throws(FieldpackError) -> Int64? {
    guard let table = try file.catalogue().layer(layer), table.idSQL != nil else { return nil }
    return try file.limited("reading a layer's ids") { () throws(FieldpackError) in
      try file.integer("SELECT max(\(table.idExpression)) FROM \(quoted(table.table))")
    }
  }

  /// Gives the rows of a layer to `sink`, in the order of their ids.
  ///
  /// - Returns: what was skipped, and what there is to tell.
  package func scan(
    _ layer: LayerID, skipsErrors: Bool, into sink: inout some FeatureSink
  ) throws(FieldpackError) -> QueryReport.Contents {
    let report = QueryReport()
    try GeoPackageSnapshot(file, report: report).scan(
      Query(layers: [layer]).skippingErrors(skipsErrors), into: &sink)
    return report.current
  }

  /// Gives the rows that `query` asks for to `sink`.
  func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    try GeoPackageSnapshot(file, report: QueryReport()).scan(query, into: &sink)
  }

  /// What the file holds that no import takes, in words.
  package func leftBehind() throws(FieldpackError) -> [String] {
    let pyramids = try TileTables(file: file).pyramids().map { "the tile pyramid '\($0.name)'" }
    return try pyramids + (hasMetadataOfFile() ? ["the metadata about the whole file"] : [])
  }

  /// Whether there are documents about something else than a layer, its columns and its rows.
  private func hasMetadataOfFile() throws(FieldpackError) -> Bool {
    let tables = MetadataTables(file: file)
    var ofLayers: Set<Int64> = []
    for reference in try tables.references() where reference.subject != .geoPackage {
      ofLayers.insert(reference.metadata)
      if let parent = reference.parent { ofLayers.insert(parent) }
    }
    return try tables.all().contains { !ofLayers.contains($0.id) }
  }

  /// Whether the table of a layer checks its rows by expressions of its own.
  func hasChecks(_ layer: LayerID) throws(FieldpackError) -> Bool {
    guard let table = try file.catalogue().layer(layer)?.table else { return false }
    let rows = try file.rows(
      "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)",
      [.text(table)])
    guard let sql = rows.first?.first?.textValue else { return false }
    // A name that is a keyword of SQLite stands in quotes.
    return SQLTokens(sql).contains { token in
      guard case .word(let word) = token else { return false }
      return SQLName(String(decoding: word, as: UTF8.self)) == SQLName("check")
    }
  }
}

extension Schema {
  /// The layer as a new file can declare it: with the standard's types, and generated columns as
  /// plain ones.
  ///
  /// - Parameter storedTypes: the types of columns that are declared with none of the standard's.
  package func copied(storedTypes: [String: ColumnType]) -> Schema {
    var schema = self
    for index in schema.columns.indices {
      if let type = storedTypes[schema.columns[index].name] { schema.columns[index].type = type }
      schema.columns[index].isGenerated = false
      schema.columns[index].isPrimaryKey = false
    }
    if schema.idColumn == nil { schema.idColumn = schema.freeName("fid") }
    return schema
  }

  /// The name, with a number where a column has it.
  package func freeName(_ name: String) -> String {
    var taken = Set(columns.map { $0.name.lowercased() })
    if let geometry { taken.insert(geometry.name.lowercased()) }
    return name.numbered { !taken.contains($0) }
  }
}
