import FieldpackCore
import FieldpackField
import FieldpackGeoPackage

/// Looks for what others commit to the files that a subscriber asks for.
struct ForeignChanges: Sendable {
  private let table: Locked<MemberTable>
  private let query: Query

  init(of table: Locked<MemberTable>, asked query: Query) {
    self.table = table
    self.query = query
  }

  /// A file that is looked at.
  private struct Watched {
    let store: GeoPackageStore
    let number: Int
    var count = 0

    init(_ store: GeoPackageStore) {
      self.store = store
      number = store.beginWatching()
    }
  }

  /// The stores that are open now.
  private var stores: [GeoPackageStore] {
    table.withLock { $0.members }.compactMap { member in
      query.stores?.contains(member.id) ?? true ? member.kept?.observedFile : nil
    }
  }

  /// The stores that are open now, and are told what others commit.
  private var listening: [any ListeningStore] {
    table.withLock { $0.members }.compactMap { member in
      query.stores?.contains(member.id) ?? true ? member.store as? any ListeningStore : nil
    }
  }

  /// Starts to look, from the state that the files are in now, until the task is cancelled or the
  /// stores are to be closed. Stores that come and go meanwhile are followed.
  func watching(
    every interval: Duration, _ subscriber: Subscriber<FeatureChange>,
    failure: Locked<FieldpackError?>, until isStopping: Locked<Bool>
  ) -> Task<Void, Never> {
    let interval = max(interval, .milliseconds(10))
    let first = stores.map { Watched($0) }
    return Task.detached {
      var watched = first
      let listeners = StoreListeners()
      defer { for file in watched { file.store.endWatching(file.number) } }
      do {
        while !isStopping.withLock({ $0 }) {
          listeners.follow(listening, subscriber, asked: query) { error in
            guard !isStopping.withLock({ $0 }) else { return }
            failure.withLock { $0 = error }
            subscriber.finish()
          }
          try await Task.sleep(for: interval)
          follow(&watched, subscriber)
          for index in watched.indices { try await look(at: &watched[index], subscriber) }
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

  /// Drops the stores that are gone, and takes those that came. What was committed to these before
  /// now is not known, so each is told as changed.
  private func follow(_ watched: inout [Watched], _ subscriber: Subscriber<FeatureChange>) {
    let stores = stores
    watched.removeAll { file in
      guard !stores.contains(where: { $0 === file.store }) else { return false }
      file.store.endWatching(file.number)
      return true
    }
    for store in stores where !watched.contains(where: { $0.store === store }) {
      watched.append(Watched(store))
      subscriber.send(FeatureChange(external: store.id))
    }
  }

  private func look(
    at file: inout Watched, _ subscriber: Subscriber<FeatureChange>
  ) async throws(FieldpackError) {
    do throws(FieldpackError) {
      let count = try await file.store.foreignCommits(file.number)
      guard count != file.count else { return }
      file.count = count
      subscriber.send(FeatureChange(external: file.store.id))
    } catch {
      // A store that has gone meanwhile is dropped at the next look.
      let store = file.store
      guard !stores.contains(where: { $0 === store }) else { throw error }
    }
  }
}
