public import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// What the optimizer does to a GeoPackage.
public struct OptimizeOptions: Sendable {
  /// The layers to optimize; empty for all.
  public var layers: [LayerID] = []
  /// Whether layers with geometry and without an R-tree get one.
  public var createsIndexes = false
  /// Whether neighbouring features are stored together. The features get new ids.
  public var clusters = false
  /// Whether statistics for the query planner are gathered, and the file is then rewritten without
  /// free pages.
  public var compacts = true
  /// Gets each step and its duration; never a value.
  public var logger = Logger.silent
  /// Called now and then with the number of features done. Throws to stop.
  public var progress: (@Sendable (Int) throws(FieldpackError) -> Void)?

  public init() {}
}

/// The result of optimizing a GeoPackage.
public struct OptimizeReport: Hashable, Sendable {
  public enum Index: String, Hashable, Sendable {
    /// The R-tree was packed again.
    case packed
    /// An R-tree was created where there was none.
    case created
    /// The layer has no R-tree.
    case none
  }

  public struct OptimizedLayer: Hashable, Sendable {
    public var layer: LayerID
    public var index: Index
    /// How many geometries the index has.
    public var entries = 0
    /// How many features got new ids, from 1 up in the order along the curve; `nil` where they kept
    /// their ids.
    public var renumbered: Int?
  }

  public var layers: [OptimizedLayer] = []
  public var bytesBefore = 0
  public var bytesAfter = 0
  /// Whether the file was rewritten without free pages.
  public var isCompacted = false
  public var notes: [Note] = []
}

extension OptimizeReport: CustomStringConvertible {
  /// `3 layers optimized: 81920 bytes, 65536 after`.
  public var description: String {
    layers.count.counting("layer") + " optimized: \(bytesBefore) bytes, \(bytesAfter) after"
  }
}

/// Packs the R-trees of a GeoPackage, orders its features, gathers statistics and compacts it.
///
/// All changes are one transaction. Compacting follows: it changes no content, and SQLite undoes it
/// if it is interrupted. Blocks the calling thread; not `Sendable`.
public final class GeoPackageOptimizer: CancellableJob {
  private let options: OptimizeOptions
  private let connection: Connection
  private let file: GeoPackageSession

  /// - Throws: `.notFound`, `.invalidData`, `.permission`, `.readOnly`.
  public init(
    path: String, store: StoreID, options: OptimizeOptions
  ) throws(FieldpackError) {
    self.options = options
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .readWrite, profile: .bulk)
      StatementLog.attach(to: connection, options.logger)
      file = try GeoPackageSession(connection, store: store, path: path)
      _ = try connection.scalar("PRAGMA cache_size = -16384")
    } catch {
      throw FieldpackError(error, path: path, location: .init(store: store))
    }
  }

  /// Stops the work from any thread. The running call throws `.interrupted`.
  public var interrupt: @Sendable () -> Void {
    let handle = connection.interruptHandle
    return { handle.interrupt() }
  }

  /// Does the work.
  ///
  /// - Throws: `.notFound` for a layer that does not exist; `.constraint` where a named layer is to
  ///   be clustered and other tables refer to its ids; `.busy`, `.full`, `.interrupted`.
  public func run() throws(FieldpackError) -> OptimizeReport {
    var report = OptimizeReport()
    report.bytesBefore = try size()
    try file.execute("BEGIN IMMEDIATE")
    do throws(FieldpackError) {
      try file.beginChanges()
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
    // VACUUM may renumber the rows of tables without an INTEGER PRIMARY KEY
    // (https://www.sqlite.org/lang_vacuum.html).
    let unnamed = try file.catalogue().layers.first {
      !$0.layer.isView && $0.schema.idColumn == nil
    }
    guard unnamed == nil else {
      report.notes.append(
        Note(
          "not compacted: that would change the ids of layer "
            + "'\(unnamed?.layer.id.rawValue ?? "")', which has no column for them"))
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
      // The changes are committed, so the file is correct and only larger.
      report.notes.append(
        error.code == .full
          ? "not compacted: the disk is full" : Note("not compacted: ", error))
    }
  }
}
