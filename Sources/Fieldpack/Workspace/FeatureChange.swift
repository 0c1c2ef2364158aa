public import FieldpackCore
import FieldpackGeoPackage

/// A committed change to one feature.
public struct FeatureChange: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    case created, updated, deleted
  }

  public let kind: Kind
  public let key: KeyTuple
  /// How many changes before this one are lost, because they were not taken in time.
  public internal(set) var missed = 0
}

/// The changes that a subscriber of ``Workspace/changes(matching:)`` gets; to be iterated once.
public struct FeatureChanges: AsyncSequence, Sendable {
  public typealias Element = FeatureChange
  public typealias Failure = FieldpackError

  /// Changes that are kept for a subscriber; beyond that the oldest are lost.
  static let capacity = 4096
  let stream: AsyncStream<FeatureChange>
  let missed: Locked<Int>
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
        change.missed = sequence.missed.withLock { missed in
          defer { missed = 0 }
          return missed
        }
        return change
      }
      return nil
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(changes: stream.makeAsyncIterator(), sequence: self)
  }

  /// Whether the feature meets the filter; one that is gone cannot be asked and counts.
  private func isAsked(_ change: FeatureChange) async throws(FieldpackError) -> Bool {
    guard query.filter != .all, change.kind != .deleted else { return true }
    do throws(FieldpackError) {
      return try await meetsFilter(change.key)
    } catch {
      // The workspace was closed meanwhile, which ends the sequence.
      guard error.code == .unavailable else { throw error }
      return false
    }
  }

  private func meetsFilter(_ key: KeyTuple) async throws(FieldpackError) -> Bool {
    let store = try workspace.store(key.store)
    let folded = key.layer.rawValue.lowercased()
    let schema = try await store.schemas().first { $0.layer.rawValue.lowercased() == folded }
    guard let column = schema?.idColumn, case .integer(let id) = key.feature else { return false }
    let one = query.filter && Column<Int64>(column) == id
    return try await store.count(Query(layers: [key.layer], where: one)) > 0
  }
}

/// Tells the subscribers of a workspace what was committed.
final class ChangeHub: Sendable {
  private struct Subscriber {
    let query: Query
    let continuation: AsyncStream<FeatureChange>.Continuation
    let missed: Locked<Int>
  }

  private struct State {
    var subscribers: [Int: Subscriber] = [:]
    var last = 0
    var isFinished = false
  }

  private let state = Locked(State())

  func subscribe(_ query: Query, to workspace: Workspace) -> FeatureChanges {
    let (stream, continuation) = AsyncStream.makeStream(
      of: FeatureChange.self, bufferingPolicy: .bufferingNewest(FeatureChanges.capacity))
    let missed = Locked(0)
    let number: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.last += 1
      state.subscribers[state.last] = Subscriber(
        query: query, continuation: continuation, missed: missed)
      return state.last
    }
    if let number {
      let state = state
      continuation.onTermination = { _ in
        // Removed after the lock is given back: what goes may end a stream, which comes here again.
        _ = state.withLock { $0.subscribers.removeValue(forKey: number) }
      }
    } else {
      continuation.finish()
    }
    return FeatureChanges(stream: stream, missed: missed, query: query, workspace: workspace)
  }

  /// - Parameter untold: how many features of the layer changed beside those of the keys.
  func publish(_ kind: FeatureChange.Kind, _ keys: [KeyTuple], untold: Int = 0) {
    guard let first = keys.first else { return }
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for subscriber in subscribers {
      var missed = subscriber.query.asks(first) ? untold : 0
      for key in keys where subscriber.query.asks(key) {
        let result = subscriber.continuation.yield(FeatureChange(kind: kind, key: key))
        if case .dropped = result { missed += 1 }
      }
      if missed > 0 { subscriber.missed.withLock { [missed] in $0 += missed } }
    }
  }

  /// Tells of the features of one layer that an import created; of many only the last ones, which
  /// are all that a subscriber can keep.
  func publish(_ loaded: LoadedLayer, of store: StoreID) {
    guard state.withLock({ !$0.subscribers.isEmpty }) else { return }
    let ids =
      loaded.areConsecutive ? loaded.ids.map { Array($0.suffix(FeatureChanges.capacity)) } : nil
    let told = ids ?? loaded.firstIDs
    publish(
      .created,
      told.map { KeyTuple(store: store, layer: loaded.layer, feature: .integer($0)) },
      untold: loaded.count - told.count)
  }

  func finish() {
    let subscribers = state.withLock { state in
      state.isFinished = true
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.continuation.finish() }
  }
}

extension Query {
  /// Whether the query is about the store and the layer of the key.
  fileprivate func asks(_ key: KeyTuple) -> Bool {
    if let stores, !stores.contains(key.store) { return false }
    let folded = key.layer.rawValue.lowercased()
    return layers.isEmpty || layers.contains { $0.rawValue.lowercased() == folded }
  }
}

extension Workspace {
  /// The changes that are committed through this workspace from now on, in order: by create,
  /// update, delete and import, not by other programs.
  ///
  /// Of the query stores, layers and the filter count. The filter is asked when a change is taken,
  /// of the feature as it is then; deletions come whatever the filter says. Each call is a
  /// subscriber of its own, for which the last 4,096 changes are kept; ``FeatureChange/missed``
  /// counts those that were lost. The sequence ends when the workspace is closed.
  public nonisolated func changes(
    matching query: Query = Query()
  ) -> some AsyncSequence<FeatureChange, FieldpackError> & Sendable {
    hub.subscribe(query, to: self)
  }
}
