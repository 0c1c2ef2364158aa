import FieldpackCore
import FieldpackMonitoring
import FieldpackServices

/// Follows a database by the change logs of its layers. Layers without a log are not followed: nothing tells
/// of their changes.
final class FollowedDatabase: FollowedStore {
  private let database: any ServedDatabase
  /// How often the database has told of a commit.
  private let told = Locked(0)
  private let listening = Locked<Task<Void, Never>?>(nil)
  private let logger: Logger

  /// Until the next try, when the database has refused to be listened to.
  private static let pause = Duration.seconds(30)

  init(_ database: any ServedDatabase, logger: Logger) {
    self.database = database
    self.logger = logger
  }

  func begin() {
    let (database, told, logger) = (database, told, logger)
    listening.withLock { task in
      guard task == nil else { return }
      task = Task {
        while !Task.isCancelled {
          do throws(FieldpackError) {
            return try await database.listenForCommits { told.withLock { $0 += 1 } }
          } catch {
            logger.error("the database is not followed now", ["reason": .text("\(error)")])
          }
          try? await Task.sleep(for: Self.pause)
        }
      }
    }
  }

  func rest() {
    listening.withLock { task in
      task?.cancel()
      task = nil
    }
  }

  func end() { rest() }

  var comesBack: Bool { true }
  var hasOwnNews: Bool { false }

  func commits() async throws(FieldpackError) -> Int { told.withLock { $0 } }

  // MARK: Reading

  private func place(_ logs: [ServedLog]) -> EventPlace {
    var place = EventPlace()
    for log in logs { place.logs[log.name] = log.head }
    return place
  }

  func present(_ commits: Int) async throws(FieldpackError) -> EventHub.Known {
    EventHub.Known(
      place: place(try await database.changeLogs()), prints: [:], runs: [:], commits: commits)
  }

  func news(
    since known: EventHub.Known, _ commits: Int, wantsPositions: Bool, limit: Int
  ) async throws(FieldpackError) -> EventHub.News {
    let end = place(try await database.changeLogs())
    var news = EventHub.News(known: known)
    (news.events, news.known.place) = try await missed(after: known.place, upTo: end, limit: limit)
    news.known.isBehind = !news.known.place.isAtLeast(end)
    news.known.commits = commits
    return news
  }

  func missed(
    after place: EventPlace, upTo end: EventPlace, limit: Int
  ) async throws(FieldpackError) -> (events: [LiveEvent], place: EventPlace) {
    var (events, place, left) = ([LiveEvent](), place, limit)
    for log in try await database.changeLogs() where left > 0 {
      let (before, last) = (place.logs[log.name] ?? 0, end.logs[log.name] ?? 0)
      guard before < last else { continue }
      let layer = log.schema.layer
      let changes = try await database.changes(of: layer, after: before, limit: left)
      let isAll = changes.count < left
      for change in changes {
        guard change.position <= last else { break }
        place.logs[log.name] = change.position
        left -= 1
        events.append(event(of: change, log, at: place))
      }
      // Rows that somebody has removed from the log are not waited for.
      if isAll { place.logs[log.name] = last }
    }
    return (events, place)
  }

  private func event(of change: ServedChange, _ log: ServedLog, at place: EventPlace) -> LiveEvent {
    let layer = log.schema.layer
    return LiveEvent(
      kind: .init(change.kind), id: change.id, layer: layer,
      key: KeyTuple(store: database.id, layer: layer, feature: change.feature),
      time: change.time, feature: change.state, before: change.before,
      schema: log.schema.inDegrees, place: place)
  }

  func place(since time: Instant) async throws(FieldpackError) -> EventPlace {
    var place = EventPlace()
    for log in try await database.changeLogs() {
      place.logs[log.name] = try await database.position(before: time, of: log.schema.layer)
    }
    return place
  }

  func positions(
    since runs: [Int64: Int64]
  ) async throws(FieldpackError) -> (positions: [LiveEvent], runs: [Int64: Int64]) { ([], [:]) }

  func unlogged(_ known: EventHub.Known) async throws(FieldpackError) -> Set<LayerID> {
    let logged = Set(try await database.changeLogs().map(\.schema.layer))
    let layers = try await database.describedLayers()
    return Set(layers.map(\.layer.id).filter { !logged.contains($0) })
  }

  func regions(of layer: LayerID) -> RegionLayer {
    let database = database
    return RegionLayer(layer, of: database.layers) { () async throws(FieldpackError) in
      try await database.counter(of: [layer])
    }
  }
}

extension ServedLog {
  fileprivate var name: String { EventPlace.name(of: schema.layer, origin) }
}
