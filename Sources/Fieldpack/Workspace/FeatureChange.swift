public import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackStoreKit

/// A committed change: to one feature, to a layer, or by somebody else to the file of a store.
public struct FeatureChange: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    case created, updated, deleted
    /// The layer itself was changed, or features of it by a write that does not tell which, such as
    /// SQL: query the layer again.
    case layer
    /// Another program, or another store on the same file, has committed. The file does not tell
    /// what was changed: query again whatever you show. Several commits in one interval are one
    /// change. A GeoPackage that is added to the workspace, or opened again, is one, too.
    case external
  }

  public let kind: Kind
  public let store: StoreID
  /// The layer; `nil` for a change that is `external`.
  public let layer: LayerID?
  /// The feature; `nil` for a change that is `layer` or `external`.
  public let key: KeyTuple?
  /// How many changes before this one were lost, because they were not read in time.
  public internal(set) var missed = 0

  init(_ kind: Kind, _ key: KeyTuple) {
    (self.kind, store, layer, self.key) = (kind, key.store, key.layer, key)
  }

  init(_ layer: LayerID, of store: StoreID) {
    (kind, self.store, self.layer, key) = (.layer, store, layer, nil)
  }

  init(external store: StoreID) {
    (kind, self.store, layer, key) = (.external, store, nil, nil)
  }

  /// The changes of a transaction to one layer.
  static func all(in run: ChangeLog.Run, of store: StoreID) -> [FeatureChange] {
    let kind: Kind
    switch run.kind {
    case .created: kind = .created
    case .updated: kind = .updated
    case .deleted: kind = .deleted
    case .layer: return [FeatureChange(run.layer, of: store)]
    }
    return run.ids.map {
      FeatureChange(kind, KeyTuple(store: store, layer: run.layer, feature: $0))
    }
  }
}

/// The changes that a subscriber of ``Workspace/changes(matching:polling:)`` gets; to be iterated
/// once.
public struct FeatureChanges: AsyncSequence, Sendable {
  public typealias Element = FeatureChange
  public typealias Failure = FieldpackError

  /// Changes that are kept for a subscriber; beyond that the oldest are lost.
  static let capacity = 4096
  let subscription: Subscription<FeatureChange>
  /// Why the sequence ended before its time.
  let failure: Locked<FieldpackError?>
  let query: Query
  let workspace: Workspace

  public struct Iterator: AsyncIteratorProtocol {
    var changes: AsyncStream<FeatureChange>.Iterator
    let sequence: FeatureChanges

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> FeatureChange? {
      while var change = await changes.next(isolation: actor) {
        guard try await sequence.isAsked(change) else { continue }
        change.missed = sequence.subscription.takeLost()
        return change
      }
      let failure = sequence.failure.withLock { failure in
        defer { failure = nil }
        return failure
      }
      if let failure { throw failure }
      return nil
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(changes: subscription.stream.makeAsyncIterator(), sequence: self)
  }

  /// Whether the feature meets the filter; one that is gone cannot be asked and counts.
  private func isAsked(_ change: FeatureChange) async throws(FieldpackError) -> Bool {
    guard query.filter != .all, change.kind != .deleted, let key = change.key else { return true }
    do throws(FieldpackError) {
      return try await meetsFilter(key)
    } catch {
      // The workspace was closed meanwhile, which ends the sequence.
      guard error.code == .unavailable else { throw error }
      return false
    }
  }

  private func meetsFilter(_ key: KeyTuple) async throws(FieldpackError) -> Bool {
    // A store may have gone since.
    guard let store = try? workspace.store(key.store) else { return false }
    let folded = key.layer.rawValue.lowercased()
    let schema = try await store.schemas().first { $0.layer.rawValue.lowercased() == folded }
    guard let schema else { return false }
    guard let column = schema.idColumn, case .integer(let id) = key.feature else {
      return try await meetsFilter(key, in: store, schema)
    }
    let one = query.filter && Column<Int64>(column) == id
    return try await store.count(Query(layers: [key.layer], where: one)) > 0
  }

  /// As above for a feature whose id no column of numbers has.
  private func meetsFilter(
    _ key: KeyTuple, in store: any Store, _ schema: Schema
  ) async throws(FieldpackError) -> Bool {
    guard let feature = try await store.feature(key.feature, in: key.layer) else { return false }
    let row = ValueRow(feature, id: key.feature, schema: schema)
    do throws(FieldpackError) {
      return try query.filter.evaluate(row, schema: schema) == true
    } catch {
      // Better one change too many than none, where only the store can apply the filter.
      guard error.code == .unsupported else { throw error }
      return true
    }
  }
}

/// Tells the subscribers of a workspace what was committed.
final class ChangeHub: Sendable {
  private let changes = Broadcast<FeatureChange>(capacity: FeatureChanges.capacity)
  /// Whether the stores are being closed, or are closed.
  private let isStopping = Locked(false)

  /// - Parameter interval: the time between two looks at the files; `nil` for none.
  func subscribe(
    _ query: Query, to workspace: Workspace, polling interval: Duration?
  ) -> FeatureChanges {
    let failure = Locked<FieldpackError?>(nil)
    let subscription = changes.subscribe(
      wants: query.asks,
      begin: { subscriber in
        guard let interval else { return nil }
        let foreign = ForeignChanges(of: workspace.table, asked: query)
        let watching = foreign.watching(
          every: interval, subscriber, failure: failure, until: isStopping)
        return { watching.cancel() }
      })
    return FeatureChanges(
      subscription: subscription, failure: failure, query: query, workspace: workspace)
  }

  /// - Parameter untold: how many features of the layer changed beside those of the keys.
  private func publish(_ kind: FeatureChange.Kind, _ keys: [KeyTuple], untold: Int = 0) {
    changes.send(keys.lazy.map { FeatureChange(kind, $0) }, untold: untold)
  }

  /// Tells what a new version of a feed brought.
  func publish(_ changes: FeedChanges) {
    guard self.changes.hasSubscribers else { return }
    publish(.created, changes.created)
    publish(.updated, changes.updated)
    publish(.deleted, changes.deleted, untold: changes.untold)
  }

  /// Tells what a write to a store has committed.
  func publish(_ log: ChangeLog, of store: StoreID) {
    guard changes.hasSubscribers else { return }
    for run in log.runs { changes.send(FeatureChange.all(in: run, of: store), untold: 0) }
  }

  /// Tells of the features of one layer that an import created; of many only the last ones, which
  /// are all that a subscriber can keep.
  func publish(_ loaded: LoadedLayer, of store: StoreID) {
    guard changes.hasSubscribers else { return }
    let ids =
      loaded.areConsecutive ? loaded.ids.map { Array($0.suffix(FeatureChanges.capacity)) } : nil
    let told = ids ?? loaded.firstIDs
    publish(
      .created,
      told.map { KeyTuple(store: store, layer: loaded.layer, feature: .integer($0)) },
      untold: loaded.count - told.count)
  }

  /// To be called before the stores are closed, which is no failure of theirs.
  func stopWatching() { isStopping.withLock { $0 = true } }

  func finish() { changes.finish() }
}

extension Query {
  /// Whether the query is about the store and the layer of the change.
  func asks(_ change: FeatureChange) -> Bool {
    if let stores, !stores.contains(change.store) { return false }
    guard let layer = change.layer else { return true }
    let folded = layer.rawValue.lowercased()
    return layers.isEmpty || layers.contains { $0.rawValue.lowercased() == folded }
  }
}

extension Workspace {
  /// The changes that are committed from now on: every write to a store of this workspace, in the
  /// order of the commits, and changes of other programs to the files of its GeoPackage stores.
  ///
  ///     for try await change in workspace.changes(matching: Query("wells")) {
  ///       if let key = change.key { await refresh(key) } else { await refreshAll() }
  ///     }
  ///
  /// The query's stores, layers and filter choose the changes. The filter is applied when a change
  /// is read, to the feature as it is then. Deletions and changes of a layer come whatever the filter
  /// is, and changes of other programs come whatever layers and filter are. What triggers of a file
  /// change beside a feature is not told. Each call is a subscriber of its own, for
  /// which the last 4,096 changes are kept; ``FeatureChange/missed`` counts those that were lost.
  /// The sequence ends when the workspace is closed or its task is cancelled.
  ///
  /// Commits of other programs show in a number of the file (`PRAGMA data_version`), which is read
  /// at each interval. Compaction, a checkpoint or another journal mode can count as a change as
  /// well.
  /// - Parameter interval: how often files are looked at, at least 10 ms; `nil` gives the changes
  ///   of this workspace alone.
  /// - Returns: a sequence that throws `.unavailable` when a file is replaced by another or removed:
  ///   the store goes on with the old one until it is opened again.
  public nonisolated func changes(
    matching query: Query = Query(), polling interval: Duration? = .seconds(1)
  ) -> some AsyncSequence<FeatureChange, FieldpackError> & Sendable {
    hub.subscribe(query, to: self, polling: interval)
  }
}
