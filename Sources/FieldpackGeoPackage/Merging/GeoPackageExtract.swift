package import FieldpackCore
import FieldpackSQLite

/// A new GeoPackage with features of one layer, their media, links and styles, out of one state of a file.
///
/// A copy of the whole layer keeps its change log, so that both files can be synchronised.
/// Blocks the calling thread; not `Sendable`.
package final class GeoPackageExtract {
  private let source: GeoPackageSource
  private let writer: GeoPackageBulkWriter

  /// - Parameter pending: the file that is filled; it keeps its hidden name.
  /// - Throws: as `GeoPackageSource` and `GeoPackageBulkWriter`.
  package init(
    from path: String, store: StoreID, into pending: PendingFile
  ) throws(FieldpackError) {
    source = try GeoPackageSource(path: path, store: store)
    writer = try GeoPackageBulkWriter(filling: pending, store: store)
    writer.keepsNames = true
    writer.loader.enforcesConstraints = false
    writer.loader.trustsEnvelopes = false
  }

  /// Stops the work from any thread.
  package var interrupt: @Sendable () -> Void {
    let (reading, writing) = (source.interrupt, writer.interrupt)
    return {
      reading()
      writing()
    }
  }

  /// Writes the features that `query` asks of the layer.
  ///
  /// - Parameters:
  ///   - isWhole: whether the query asks for all features with all columns, unchanged.
  ///   - reads: whether the reader of the copy may have the media of a layer.
  package func run(
    _ query: Query, of layer: LayerID, isWhole: Bool, reads: (LayerID) -> Bool
  ) throws(FieldpackError) {
    let layers = try source.layers(only: [layer.rawValue])
    guard let own = layers.first(where: { $0.schema.layer == layer }) else {
      throw source.missing(layer)
    }
    let media = layers.filter { $0.schema.layer != layer && reads($0.schema.layer) }
    var sink = ExtractSink(writer, own, collectsIDs: !media.isEmpty)
    try source.scan(query, into: &sink)
    var parts = [sink.part]
    for medium in media where own.hasIDs && medium.hasIDs {
      var rows = ExtractSink(writer, medium, collectsIDs: false)
      rows.wanted = try source.linked(to: sink.ids, of: layer, in: medium.schema.layer)
      try source.scan(Query(layers: [medium.schema.layer]), into: &rows)
      parts.append(rows.part)
    }
    writer.add(LayerMerge(from: source, parts))
    _ = try writer.commit(adding: { () throws(FieldpackError) in
      guard isWhole, own.hasIDs else { return }
      try carryLogs(of: parts.map(\.source))
    })
  }

  // MARK: Logs

  /// Carries the log of the layer, and those of its media that came whole, with their links.
  private func carryLogs(of layers: [LayerID]) throws(FieldpackError) {
    var carried: Set<SQLName> = []
    for (index, layer) in layers.enumerated() {
      // The copy has only the media of this layer; a log of all media would not fit them.
      if index > 0 {
        guard try source.isWhole(layer, in: writer.file) else { continue }
      }
      guard try source.carryLog(of: layer.rawValue, to: writer.file) else { continue }
      carried.insert(SQLName(layer.rawValue))
    }
    for relation in try RelationTables(file: writer.file).all() {
      let ends = [relation.base, relation.related]
      guard ends.allSatisfy({ carried.contains(SQLName($0.rawValue)) }) else { continue }
      _ = try source.carryLog(of: relation.mapping, to: writer.file)
    }
  }
}

/// Creates a layer when its columns are known, and stores its rows.
private struct ExtractSink: FeatureSink {
  private let writer: GeoPackageBulkWriter
  private let layer: GeoPackageSource.SourceLayer
  private let collectsIDs: Bool
  /// The ids of the rows that are taken; `nil` for all.
  var wanted: Set<Int64>?
  private(set) var ids: Set<Int64> = []
  private var isCreated = false

  init(
    _ writer: GeoPackageBulkWriter, _ layer: GeoPackageSource.SourceLayer, collectsIDs: Bool
  ) {
    (self.writer, self.layer, self.collectsIDs) = (writer, layer, collectsIDs)
  }

  var part: LayerMerge.Part {
    .init(
      source: layer.schema.layer, target: layer.schema.layer, isNew: true,
      ids: layer.hasIDs ? .kept(renumbered: [:]) : .unknown)
  }

  mutating func begin(_ schema: Schema) throws(FieldpackError) {
    // The columns that come, as the layer declares them.
    let types = Dictionary(
      layer.schema.columns.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    var schema = schema.copied(storedTypes: types)
    if let system = layer.system, system.srs == schema.geometry?.srs {
      schema.geometry?.srs = try writer.define(system)
    }
    if !isCreated { try writer.create(schema, ids: layer.hasIDs ? .given : .assigned) }
    isCreated = true
    try writer.loader.begin(schema)
  }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    if case .integer(let id) = row.id {
      if let wanted, !wanted.contains(id) { return }
      if collectsIDs { ids.insert(id) }
    }
    try writer.loader.feature(row)
  }
}

extension GeoPackageSource {
  fileprivate func missing(_ layer: LayerID) -> FieldpackError {
    FieldpackError(
      .notFound, "there is no layer '\(layer)'", location: .init(store: file.store, layer: layer))
  }

  /// The media that are linked to some rows of a layer.
  fileprivate func linked(
    to ids: Set<Int64>, of layer: LayerID, in media: LayerID
  ) throws(FieldpackError) -> Set<Int64> {
    var found: Set<Int64> = []
    for relation in try RelationTables(file: file).all()
    where relation.kind == .media && SQLName(relation.base.rawValue) == SQLName(layer.rawValue)
      && SQLName(relation.related.rawValue) == SQLName(media.rawValue)
    {
      let links = try file.prepare(
        "SELECT base_id, related_id FROM \(quoted(relation.mapping))", in: media)
      defer { links.reset() }
      while try links.step() {
        if ids.contains(links.row.integer(0)) { found.insert(links.row.integer(1)) }
      }
    }
    return found
  }

  /// Whether a copy of the file has as many rows of a layer.
  fileprivate func isWhole(
    _ layer: LayerID, in copy: GeoPackageSession
  ) throws(FieldpackError) -> Bool {
    let count = "SELECT count(*) FROM \(quoted(layer.rawValue))"
    return try file.integer(count) == copy.integer(count)
  }

  /// Gives a table in a copy of the file the log that it has here.
  ///
  /// - Returns: `false` where the table has no log, or one that does not fit the copy.
  fileprivate func carryLog(
    of table: String, to copy: GeoPackageSession
  ) throws(FieldpackError) -> Bool {
    guard let log = try EditLog(of: table, in: file), try log.isCurrent(),
      try LogShape(of: table, in: copy) == log.shape
    else { return false }
    let made = try EditLog.enable(table, in: copy)
    try copy.execute(
      "UPDATE \(LogTables.registry) SET origin = ? WHERE table_name = ?",
      [.text(log.origin), .text(table)])
    let shape = log.shape
    let names = (shape.ownColumns.map { shape.own($0) } + shape.columns.map { quoted($0) })
    try copyRows(
      "SELECT \(names.sqlList) FROM \(quoted(shape.log)) ORDER BY 1", [], to: made.shape.log,
      names, of: copy)
    try copyRows(
      "SELECT table_name, feature, since, identity FROM \(LogTables.identities) "
        + "WHERE table_name = ?", [.text(table)], to: LogTables.identities,
      ["table_name", "feature", "since", "identity"], of: copy)
    return true
  }

  private func copyRows(
    _ selection: String, _ values: [SQLiteValue], to table: String, _ names: [String],
    of copy: GeoPackageSession
  ) throws(FieldpackError) {
    let rows = try file.prepare(selection, values)
    defer { rows.reset() }
    let marks = (1...names.count).map { "?\($0)" }.sqlList
    let insertion = try copy.prepare(
      "INSERT INTO \(quoted(table)) (\(names.sqlList)) VALUES (\(marks))")
    while try rows.step() {
      for (index, value) in rows.row.values.enumerated() {
        try insertion.bind(value, at: index + 1)
      }
      try insertion.run()
    }
  }
}
