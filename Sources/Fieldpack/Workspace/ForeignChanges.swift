import FieldpackCore
import FieldpackField
import FieldpackGeoPackage

/// Looks for what others commit to the files that a subscriber asks for.
struct ForeignChanges: Sendable {
  private let stores: [GeoPackageStore]

  /// `nil` where there is no such file.
  init?(of members: [Workspace.Member], asked query: Query) {
    stores = members.compactMap { member in
      guard query.stores?.contains(member.id) ?? true else { return nil }
      return member.store?.geoPackage
    }
    if stores.isEmpty { return nil }
  }

  /// Starts to look, from the state that the files are in now, until the task is cancelled or the
  /// stores are to be closed.
  func watching(
    every interval: Duration, _ subscriber: Subscriber<FeatureChange>,
    failure: Locked<FieldpackError?>, until isStopping: Locked<Bool>
  ) -> Task<Void, Never> {
    let interval = max(interval, .milliseconds(10))
    let watchers = stores.map { $0.beginWatching() }
    return Task.detached {
      var counts = [Int](repeating: 0, count: watchers.count)
      defer { for (store, watcher) in zip(stores, watchers) { store.endWatching(watcher) } }
      do {
        while !isStopping.withLock({ $0 }) {
          try await Task.sleep(for: interval)
          for (index, store) in stores.enumerated() {
            let count = try await store.foreignCommits(watchers[index])
            guard count != counts[index] else { continue }
            counts[index] = count
            subscriber.send(FeatureChange(external: store.id))
          }
        }
      } catch let error as FieldpackError {
        // A store that is closed has nothing to tell.
        guard !Task.isCancelled, !isStopping.withLock({ $0 }) else { return }
        failure.withLock { $0 = error }
        subscriber.finish()
      } catch {
        // Cancelled.
      }
    }
  }
}
