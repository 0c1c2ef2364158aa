import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// Writes layers into a new GeoPackage: names, ids, columns and their marks, types and SRSs stay.
///
/// Generated columns become plain ones. Ids that are texts go to a column that is marked to hold
/// the ids of the features' source, and the features get ids of their own.
final class GeoPackageExport: FormatWriter {
  private let writer: GeoPackageBulkWriter
  private var layers: [LayerID: Stored] = [:]
  /// The rows as they come.
  private var rowSchemas: [LayerID: Schema] = [:]
  private var systems: [SRS: StoredSRS] = [:]

  private struct Stored {
    var schema: Schema
    /// Whether the last column holds the text id.
    var keepsTextID: Bool
  }

  init(creating path: String, options: ExportOptions) throws(FieldpackError) {
    writer = try GeoPackageBulkWriter(
      creating: path, version: options.version, overwrite: options.overwrite,
      store: FileImport.storeID(of: path))
    writer.loader.skipsErrors = options.skipsErrors
    writer.loader.enforcesConstraints = false
    writer.keepsNames = true
  }

  var interrupt: (@Sendable () -> Void)? { writer.interrupt }
  var notes: [String] { [] }
  var skipped: SkippedFeatures { writer.loader.skipped }

  func begin(_ target: ExportTarget) throws(FieldpackError) {
    let stored = Self.stored(target)
    layers[target.layer] = stored
    rowSchemas[target.layer] = target.schema
    if let system = target.system { try define(system, for: target.layer) }
    // A file of others may state envelopes that its geometries have outgrown.
    writer.loader.trustsEnvelopes = target.isTransformed
    try writer.create(stored.schema, ids: target.hasTextIDs ? .assigned : .given)
  }

  /// One code stands for one system in a file.
  private func define(_ system: StoredSRS, for layer: LayerID) throws(FieldpackError) {
    if let other = systems[system.srs], other.definition != system.definition {
      throw FieldpackError(
        .unsupported,
        "\(system.srs) is not the same system in layer '\(layer)' as in a layer before it",
        advice: .transformAll, location: .init(layer: layer))
    }
    systems[system.srs] = system
    try writer.define(system)
  }

  private static func stored(_ target: ExportTarget) -> Stored {
    var schema = target.schema.copied(storedTypes: target.storedTypes)
    guard target.hasTextIDs else { return Stored(schema: schema, keepsTextID: false) }
    let idName = target.schema.idColumn
    schema.idColumn = schema.freeName("fid")
    if let idName {
      var column = ColumnDefinition(idName, .text())
      column.isSourceID = true
      schema.columns.append(column)
    }
    return Stored(schema: schema, keepsTextID: idName != nil)
  }

  /// What a layer whose geometries do not fit its declaration is declared as instead.
  private static func note(_ loaded: LoadedLayer) -> String? {
    guard let geometry = loaded.declared else { return nil }
    let ordinates = [("z", geometry.z), ("m", geometry.m)].filter { $0.1 != .prohibited }
    let marks = ordinates.map(\.0).joined(separator: " and ")
    return "layer '\(loaded.layer)' is declared \(geometry.type.name)"
      + (marks.isEmpty ? "" : " with \(marks)")
      + " in the copy: geometries do not fit what the source declares"
  }

  func write(_ batch: FeatureBatch) throws(FieldpackError) {
    var loader = writer.loader
    guard let stored = layers[batch.schema.layer], stored.keepsTextID else {
      return try batch.drive(&loader)
    }
    try loader.begin(stored.schema)
    for index in 0..<batch.count {
      try loader.feature(
        TextIDRow(row: batch[index], idColumn: stored.schema.columns.count - 1))
    }
  }

  /// An encoder for the layers created; `nil` where ids are texts, which become a column.
  func encoder(skipsErrors: Bool) throws(FieldpackError) -> GeoPackageEncoder? {
    var targets: [LayerID: GeoPackageEncoder.Target] = [:]
    for (layer, schema) in rowSchemas {
      guard layers[layer]?.keepsTextID == false else { return nil }
      targets[layer] = .init(schema: schema, plan: try writer.loader.plan(for: schema))
    }
    return GeoPackageEncoder(
      targets, skipsErrors: skipsErrors, emptyRows: writer.loader.emptyRows)
  }

  /// Stores the rows of an encoder and leaves it empty.
  func take(from encoder: inout GeoPackageEncoder) throws(FieldpackError) {
    writer.loader.note(skipped: encoder.skipped)
    if let schema = encoder.target?.schema {
      try writer.loader.append(&encoder.rows, of: schema)
    }
    if let failure = encoder.failure { throw failure }
  }

  /// - Returns: what the user should know of the file's place.
  func finish() throws(FieldpackError) -> [String] {
    let loaded = try writer.commit()
    return writer.notes + loaded.compactMap(Self.note)
  }
}

/// A row with its id as one column more.
private struct TextIDRow: FeatureRow {
  let row: FeatureBatch.Row
  let idColumn: Int

  var id: FeatureID { row.id }
  var envelope: Envelope? { row.envelope }

  func kind(at column: Int) -> ValueKind { column == idColumn ? .text : row.kind(at: column) }
  func integer(at column: Int) -> Int64 { column == idColumn ? 0 : row.integer(at: column) }
  func real(at column: Int) -> Double { column == idColumn ? .nan : row.real(at: column) }

  func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    guard column == idColumn else { return try row.withBytes(at: column, body) }
    let bytes = Array(id.description.utf8)
    return try body(bytes.span.bytes)
  }

  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    try row.withGeometry(body)
  }
}
