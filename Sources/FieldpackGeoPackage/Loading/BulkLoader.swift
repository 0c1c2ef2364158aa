public import FieldpackCore
public import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// Inserts rows as fast as SQLite allows: without triggers, several rows per statement, with blobs
/// built in reused buffers and a packed R-tree of the envelopes gathered on the way. Rows are
/// encoded on the caller's thread and inserted on another one.
///
/// Works in the transaction that the caller has open on a connection of the bulk profile.
/// ``finish()`` does what the triggers would have done.
public final class BulkLoader: FeatureSink {
  let file: GeoPackageSession
  private let inserter = InsertWorker()
  private var targets: [LayerID: LayerLoad] = [:]
  private var order: [LayerID] = []
  private var current: LayerLoad?
  /// Called every 4,096 rows with the number of rows so far. Throws to stop the load.
  public var progress: (@Sendable (Int) throws(FieldpackError) -> Void)?
  public private(set) var rowCount = 0
  /// Whether rows that cannot be stored or transformed are skipped, counted and listed. Set it
  /// before layers are prepared.
  public var skipsErrors = false
  /// Whether values are checked against the constraints of their columns. Set it before layers are
  /// prepared. A copy of a layer does not check, because it may keep values older than its
  /// constraints.
  public var enforcesConstraints = true
  /// Whether an envelope that comes with a row is taken for its geometry's. Set it before layers are
  /// prepared. A file of others may state envelopes that its geometries have outgrown.
  package var trustsEnvelopes = true
  public private(set) var skipped = SkippedFeatures()

  init(_ file: GeoPackageSession) { self.file = file }

  /// Prepares an existing layer; rows announced under `schema` go there.
  func prepare(
    _ schema: Schema, into layer: LayerID, ids: LoadedIDs, isNew: Bool, clusters: Bool,
    replacing key: ReplacedKey? = nil
  ) throws(FieldpackError) -> TransformationReport? {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    let target = try LayerLoad(
      file: file, table: table, source: schema, ids: ids, isNew: isNew, inserter: inserter,
      rules: LoadRules(
        skipsErrors: skipsErrors, enforcesConstraints: enforcesConstraints,
        trustsEnvelopes: trustsEnvelopes, key: key))
    if clusters { target.cluster() }
    targets[schema.layer] = target
    order.append(schema.layer)
    if let source = schema.geometry?.srs, let stored = table.schema.geometry?.srs, source != stored
    {
      guard !source.isUndefined || stored.isUndefined else {
        throw FieldpackError(
          .invalidArgument,
          "the rows say no reference system, and layer '\(table.layer.id)' has \(stored)",
          advice: .nameSourceSRS, location: .init(store: file.store, layer: table.layer.id))
      }
      let transformation = try file.transformation(from: source, to: table, in: catalogue)
      target.transform(with: transformation)
      return transformation.report
    }
    return nil
  }

  /// The highest id that a layer has had. New ids are higher.
  public func lastID(of layer: LayerID) -> Int64 { targets[layer]?.lastID ?? 0 }

  /// Gives no new id up to `highest`, the highest id that the rows bring.
  package func reserveIDs(upTo highest: Int64, in layer: LayerID) {
    targets[layer]?.reserveIDs(upTo: highest)
  }

  /// The new ids of the rows since the last call whose own ids were taken.
  package func takeRenumbered(in layer: LayerID) throws(FieldpackError) -> [Int64: Int64] {
    try targets[layer]?.takeRenumbered() ?? [:]
  }

  /// Waits until all rows so far are in the file.
  func settle() throws(FieldpackError) {
    for id in order { try targets[id]?.submit() }
    try inserter.drain()
  }

  /// The highest whole number in the columns of that name in the prepared layers, at least 0. Ask
  /// before any rows come.
  package func highestNumber(in column: String) throws(FieldpackError) -> Int {
    var found = 0
    for target in targets.values where target.table.schema.columnIndex(column) != nil {
      let number = try file.integer(
        "SELECT max(CAST(\(quoted(column)) AS INTEGER)) FROM \(quoted(target.table.table))")
      found = max(found, Int(clamping: number ?? 0))
    }
    return found
  }

  public func begin(_ schema: Schema) throws(FieldpackError) {
    let target = try target(for: schema)
    try target.adopt(schema)
    current = target
  }

  public func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    guard let current else { return }
    do throws(FieldpackError) {
      try current.insert(row)
    } catch {
      guard skipsErrors, error.isOfRow else { throw error.advisingToSkipRow() }
      skipped.add(SkippedFeature(error))
    }
    rowCount += 1
    if rowCount & 4095 == 0 { try progress?(rowCount) }
  }

  // MARK: Rows encoded elsewhere

  /// How rows announced under `schema` are stored, for encoders on other threads. From here on rows
  /// given to ``feature(_:)`` are of that schema, too.
  package func plan(for schema: Schema) throws(FieldpackError) -> RowPlan {
    try begin(schema)
    return try target(for: schema).plan
  }

  /// Gives empty rows for an encoder to fill, with reused buffers if there are any. Callable from
  /// any thread.
  package var emptyRows: @Sendable () -> EncodedRows {
    let inserter = inserter
    return { inserter.emptyRows() }
  }

  /// Lists rows that an encoder skipped.
  package func note(skipped features: [SkippedFeature]) { skipped.add(SkippedFeatures(features)) }

  /// Takes over rows that an encoder of the schema's plan filled. They follow all rows given
  /// before. `rows` is empty afterwards.
  package func append(_ rows: inout EncodedRows, of schema: Schema) throws(FieldpackError) {
    let before = rowCount >> 12
    rowCount += rows.count
    try target(for: schema).append(&rows)
    if rowCount >> 12 != before { try progress?(rowCount) }
  }

  private func target(for schema: Schema) throws(FieldpackError) -> LayerLoad {
    if let target = targets[schema.layer] { return target }
    throw FieldpackError(
      .invalidArgument, "layer '\(schema.layer)' was not prepared for loading",
      location: .init(store: file.store, layer: schema.layer))
  }

  /// Writes indexes, extents and counts, and creates the triggers again.
  public func finish() throws(FieldpackError) -> [LoadedLayer] {
    for id in order { try targets[id]?.submitOrdered() }
    try inserter.drain()
    stop()
    skipped.add(inserter.takeSkipped())
    try file.limitSteps()
    var loaded: [LoadedLayer] = []
    for id in order {
      if let target = targets[id] { loaded.append(try target.finish()) }
    }
    file.forgetCatalogue()
    return loaded
  }
}

extension FieldpackError {
  /// Whether a row cannot be stored, so that it can be passed over.
  fileprivate var isOfRow: Bool { code == .invalidData || code == .constraint }

  /// The error with the advice to pass over rows that cannot be stored.
  package func advisingToSkipRow() -> FieldpackError {
    guard isOfRow, advice?.single.contains(.skipErrors) != true else { return self }
    var error = self
    error.advice = advice?.then(.skipErrors) ?? .skipErrors
    return error
  }
}

extension BulkLoader {
  /// Ends the inserting thread and drops queued rows.
  func stop() { inserter.stop() }
}

/// How a loaded row gets its id.
public enum LoadedIDs: Hashable, Sendable {
  /// The next free id.
  case assigned
  /// The row's own id.
  case given
  /// The row's own id where it is free, else the next free one.
  case preferred
  /// The next free id; ``contentIDColumn`` gets a text id made from the row's contents.
  case hashed

  /// The column of ids that are made from contents.
  public static let contentIDColumn = "fieldpack_content_id"

  /// Whether rows bring ids.
  var areOwn: Bool { self == .given || self == .preferred }
}

/// By what a loaded row finds the feature that it replaces the columns of.
public enum ReplacedKey: Hashable, Sendable {
  /// The feature id.
  case id
  /// The value of a column, which no two features may share.
  case column(String)
}

/// The result of loading a layer.
public struct LoadedLayer: Hashable, Sendable {
  public var layer: LayerID
  public var count: Int
  /// How many of them changed a feature that was there.
  public var updatedCount = 0
  /// How many of them got another id than their own, which was taken.
  public var renumberedCount = 0
  /// The lowest and the highest id given.
  public var ids: ClosedRange<Int64>?
  /// Whether this load has taken every id between them.
  public var areConsecutive: Bool
  /// The first ids given, at most ``firstIDLimit``; empty where the ids are consecutive.
  public var firstIDs: [Int64] = []
  /// The SRS of the layer; `nil` where it has no geometry.
  public var srs: SRS?
  /// The geometry column, where it was declared anew because rows did not fit its declaration.
  package var declared: GeometryColumn?
  /// The features that lie beyond 180 degrees of longitude or 90 of latitude, in a layer in WGS 84.
  package var beyondDegrees: Beyond?

  /// Features where they cannot be.
  package struct Beyond: Hashable, Sendable {
    package var count: Int
    package var first: Int64
  }

  public static let firstIDLimit = 10_000
}

extension LoadedLayer {
  /// The result of loading a layer into a store of another kind.
  package init(_ layer: LayerID, count: Int, ids: ClosedRange<Int64>?, srs: SRS?) {
    var areConsecutive = false
    if let ids {
      let (span, isTooWide) = ids.upperBound.subtractingReportingOverflow(ids.lowerBound)
      areConsecutive = !isTooWide && span == Int64(count) - 1
    }
    self.init(layer: layer, count: count, ids: ids, areConsecutive: areConsecutive, srs: srs)
  }
}
