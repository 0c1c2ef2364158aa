public import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// What a GeoPackage is to be made ready for.
public struct OptimizeOptions: Sendable {
  /// The layers; none names all.
  public var layers: [LayerID] = []
  /// Makes an R-tree for layers of geometries that have none.
  public var createsIndexes = false
  /// Stores features that are near each other near each other, which gives them new ids.
  public var clusters = false
  /// Gathers statistics for the planner of queries, and then writes the file anew without holes.
  public var compacts = true
  /// Told what is done and how long it takes; never a value.
  public var logger = Logger.silent
  /// Called now and then with the features done so far; throws to stop.
  public var progress: (@Sendable (Int) throws(FieldpackError) -> Void)?

  public init() {}
}

/// What became of a GeoPackage that was optimized.
public struct OptimizeReport: Hashable, Sendable {
  public enum Index: String, Hashable, Sendable {
    /// The R-tree is packed anew.
    case packed
    /// There was none, and is now.
    case created
    /// There is none.
    case none
  }

  public struct OptimizedLayer: Hashable, Sendable {
    public var layer: LayerID
    public var index: Index
    /// Geometries in the index.
    public var entries = 0
    /// How many features got new ids, 1 and up in the order along the curve; `nil` where they kept
    /// theirs.
    public var renumbered: Int?
  }

  public var layers: [OptimizedLayer] = []
  public var bytesBefore = 0
  public var bytesAfter = 0
  /// Whether the file was written anew without holes.
  public var isCompacted = false
  public var notes: [String] = []
}

/// Packs the R-trees of a GeoPackage, orders its features, gathers statistics and compacts it.
///
/// All changes are one transaction. Compacting follows, which changes no content and is undone by
/// SQLite when it is not finished. Blocks the calling thread; not `Sendable`.
public final class GeoPackageOptimizer: CancellableJob {
  private let options: OptimizeOptions
  private let connection: Connection
  private let file: GeoPackageFile

  /// - Throws: `.notFound`, `.invalidData`, `.permission`, `.readOnly`.
  public init(
    path: String, store: StoreID, options: OptimizeOptions
  ) throws(FieldpackError) {
    self.options = options
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .readWrite, profile: .bulk)
      StatementLog.attach(to: connection, options.logger)
      file = try GeoPackageFile(connection, store: store, path: path)
      _ = try connection.scalar("PRAGMA cache_size = -16384")
    } catch {
      throw FieldpackError(error, path: path, location: .init(store: store))
    }
  }

  /// Stops the work from any thread; the call under way throws `.interrupted`.
  public var interrupt: @Sendable () -> Void {
    let handle = connection.interruptHandle
    return { handle.interrupt() }
  }

  /// Does the work.
  ///
  /// - Throws: `.notFound` for a layer that is not there; `.constraint` for a layer that is named,
  ///   is to be clustered, and whose ids other tables refer to; `.busy`, `.full`, `.interrupted`.
  public func run() throws(FieldpackError) -> OptimizeReport {
    var report = OptimizeReport()
    report.bytesBefore = try size()
    try file.execute("BEGIN IMMEDIATE")
    do throws(FieldpackError) {
      try file.learnTriggers()
      try change(&report)
      try file.execute("COMMIT")
    } catch {
      try? file.execute("ROLLBACK")
      throw error
    }
    if options.compacts { try compact(&report) }
    report.bytesAfter = try size()
    return report
  }

  private func size() throws(FieldpackError) -> Int {
    let pages = try file.integer("PRAGMA page_count") ?? 0
    return Int(clamping: pages &* (try file.integer("PRAGMA page_size") ?? 0))
  }

  private func change(_ report: inout OptimizeReport) throws(FieldpackError) {
    var done = 0
    for table in try tables() {
      let layer = try LayerOptimization(
        file: file, table: table, options: options
      ).run(&report.notes, &done)
      report.layers.append(layer)
    }
    guard options.compacts else { return }
    connection.clearStatementCache()
    try file.execute("ANALYZE")
  }

  private func tables() throws(FieldpackError) -> [LayerTable] {
    let catalogue = try file.catalogue()
    guard !options.layers.isEmpty else {
      return catalogue.layers.filter { !$0.layer.isView }
    }
    var tables: [LayerTable] = []
    for layer in options.layers {
      guard let table = catalogue.layer(layer) else {
        throw file.missingLayer(layer, in: catalogue)
      }
      guard !table.layer.isView else {
        throw FieldpackError(
          .invalidArgument, "layer '\(layer)' is a view, which stores nothing of its own",
          location: .init(store: file.store, layer: layer))
      }
      tables.append(table)
    }
    return tables
  }

  private func compact(_ report: inout OptimizeReport) throws(FieldpackError) {
    // SQLite numbers the rows anew of tables whose ids have no column.
    let unnamed = try file.catalogue().layers.first {
      !$0.layer.isView && $0.schema.idColumn == nil
    }
    guard unnamed == nil else {
      report.notes.append(
        "not compacted: that would change the ids of layer '\(unnamed?.layer.id.rawValue ?? "")', "
          + "which has no column for them")
      return
    }
    connection.clearStatementCache()
    do throws(FieldpackError) {
      try file.execute("VACUUM")
      report.isCompacted = true
    } catch  where error.code == .interrupted {
      throw FieldpackError(
        .interrupted, "interrupted while the file was compacted; all else is done",
        location: error.location, underlying: error)
    } catch {
      // What was changed is committed, and the file is as good, only larger.
      let reason = error.code == .full ? "the disk is full" : error.message
      report.notes.append("not compacted: \(reason)")
    }
  }
}
