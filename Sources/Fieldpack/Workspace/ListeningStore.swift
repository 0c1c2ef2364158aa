package import FieldpackCore
import FieldpackField

/// A store that hears of what others commit.
package protocol ListeningStore: Store {
  /// Tells what others commit, until the task is cancelled or the store is closed.
  func listen(_ tell: @Sendable (ListeningEvent) -> Void) async throws(FieldpackError)
}

package enum ListeningEvent: Hashable, Sendable {
  /// From now on commits are told; what was committed before is not known.
  case begun
  case changed(ChangeLog)
}

/// The stores that listen for one subscriber, each in a task of its own.
final class StoreListeners: Sendable {
  private let tasks = Locked<[StoreID: Task<Void, Never>]>([:])

  deinit { for task in tasks.withLock({ $0.values }) { task.cancel() } }

  /// Drops the stores that are gone, and lets those that came listen.
  func follow(
    _ stores: [any ListeningStore], _ subscriber: Subscriber<FeatureChange>, asked query: Query,
    failed: @escaping @Sendable (FieldpackError) -> Void
  ) {
    tasks.withLock { tasks in
      let ids = Set(stores.map(\.id))
      for (id, task) in tasks where !ids.contains(id) {
        task.cancel()
        tasks[id] = nil
      }
      for store in stores where tasks[store.id] == nil {
        tasks[store.id] = Task.detached {
          do throws(FieldpackError) {
            try await store.listen { event in
              for change in Self.changes(event, of: store.id) where query.asks(change) {
                subscriber.send(change)
              }
            }
          } catch { failed(error) }
        }
      }
    }
  }

  private static func changes(_ event: ListeningEvent, of store: StoreID) -> [FeatureChange] {
    switch event {
    case .begun: [FeatureChange(external: store)]
    case .changed(let log): log.runs.flatMap { FeatureChange.all(in: $0, of: store) }
    }
  }
}
