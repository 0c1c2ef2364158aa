import FieldpackCore
import FieldpackGeoPackage
import FieldpackMonitoring

/// Follows a GeoPackage, whose commits are counted without reading a table.
final class FollowedGeoPackage: FollowedStore {
  private let store: GeoPackageStore
  /// What the store itself has committed since the last look; `nil` while nobody follows.
  private let committed = Locked<[ChangeLog.Run]?>(nil)
  private let watcher = Locked<Int?>(nil)

  init(_ store: GeoPackageStore) { self.store = store }

  func begin() {
    let isFirst = watcher.withLock { watcher in
      guard watcher == nil else { return false }
      watcher = store.beginWatching()
      return true
    }
    if isFirst {
      let committed = committed
      store.observe { log in committed.withLock { $0? += log.runs } }
    }
    committed.withLock { $0 = $0 ?? [] }
  }

  func rest() { committed.withLock { $0 = nil } }

  func end() {
    let watcher = watcher.withLock { watcher in
      defer { watcher = nil }
      return watcher
    }
    if let watcher { store.endWatching(watcher) }
    rest()
  }

  var comesBack: Bool { false }
  var hasOwnNews: Bool { committed.withLock { $0?.isEmpty == false } }

  func commits() async throws(FieldpackError) -> Int {
    guard let watcher = watcher.withLock({ $0 }) else { return 0 }
    return try await store.foreignCommits(watcher)
  }

  private func read<R: Sendable>(
    _ body: @Sendable (EventReading) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let id = store.id
    // Most readings are short. Of many clients that come at once each would open a reader of its own.
    return try await store.readSoon { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try body(EventReading(file: snapshot, store: id))
    }
  }

  func present(_ commits: Int) async throws(FieldpackError) -> EventHub.Known {
    try await read { (reading) throws(FieldpackError) in
      EventHub.Known(
        place: try reading.end(), prints: try reading.prints(), runs: try reading.runs(),
        commits: commits)
    }
  }

  func news(
    since known: EventHub.Known, _ commits: Int, wantsPositions: Bool, limit: Int
  ) async throws(FieldpackError) -> EventHub.News {
    let own = committed.withLock { runs in
      defer { runs = [] }
      return runs ?? []
    }
    do throws(FieldpackError) {
      return try await read { (reading) throws(FieldpackError) in
        try reading.news(
          since: known, own, commits, wantsPositions: wantsPositions, limit: limit)
      }
    } catch {
      committed.withLock { $0 = own + ($0 ?? []) }
      throw error
    }
  }

  func missed(
    after place: EventPlace, upTo end: EventPlace, limit: Int
  ) async throws(FieldpackError) -> (events: [LiveEvent], place: EventPlace) {
    try await read {
      (reading) throws(FieldpackError) -> (events: [LiveEvent], place: EventPlace) in
      var place = place
      let events = try reading.events(after: &place, upTo: end, limit: limit)
      return (events, place)
    }
  }

  func place(since time: Instant) async throws(FieldpackError) -> EventPlace {
    try await read { (reading) throws(FieldpackError) in try reading.place(since: time) }
  }

  func positions(
    since runs: [Int64: Int64]
  ) async throws(FieldpackError) -> (positions: [LiveEvent], runs: [Int64: Int64]) {
    try await read {
      (reading) throws(FieldpackError) -> (positions: [LiveEvent], runs: [Int64: Int64]) in
      (try reading.positions(since: runs), try reading.runs())
    }
  }

  func unlogged(_ known: EventHub.Known) -> Set<LayerID> { Set(known.prints.keys) }

  func regions(of layer: LayerID) -> RegionLayer { RegionLayer(layer, of: store) }
}

extension EventReading {
  fileprivate func news(
    since known: EventHub.Known, _ own: [ChangeLog.Run], _ commits: Int, wantsPositions: Bool,
    limit: Int
  ) throws(FieldpackError) -> EventHub.News {
    var news = EventHub.News(known: known)
    news.events = try events(after: &news.known.place, upTo: nil, limit: limit)
    news.known.isBehind = try !news.known.place.isAtLeast(end())
    let positions = wantsPositions ? try positions(since: known.runs) : []
    news.known.runs = try runs()
    news.known.prints = try prints()
    var unlogged = try unlogged(own, among: Set(news.known.prints.keys))
    if commits != known.commits {
      let layers = news.known.prints.keys.sorted { $0.rawValue < $1.rawValue }
      let changed = layers.filter { news.known.prints[$0] != known.prints[$0] }
      let isExplained =
        !news.events.isEmpty || news.known.runs != known.runs || !changed.isEmpty
      unlogged += (isExplained ? changed : layers).map { Self.changed($0) }
    }
    news.events += unlogged + positions
    news.known.commits = commits
    return news
  }
}
