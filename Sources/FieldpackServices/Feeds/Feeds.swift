public import Fieldpack
public import FieldpackCore
import FieldpackField
import FieldpackHTTP

/// The downloaded stores that are fetched again and again.
actor Feeds {
  private struct Feed {
    let number: Int
    let download: StoreDownload
    let interval: Duration
    var failures = 0
    /// How long the server asked to wait.
    var asked: Duration?
    var loop: Task<Void, Never>?
    var poll: Task<Result<FeedChanges?, FieldpackError>, Never>?
  }

  private let workspace: Workspace
  private let registry: StoreRegistry
  private let context: StoreContext
  private let clock: FieldClock
  private let log: EventLog<StoreEvent>
  private var feeds: [StoreID: Feed] = [:]
  private var lastNumber = 0

  init(
    of workspace: Workspace, _ registry: StoreRegistry, _ context: StoreContext,
    _ clock: FieldClock, _ log: EventLog<StoreEvent>
  ) {
    self.workspace = workspace
    self.registry = registry
    self.context = context
    self.clock = clock
    self.log = log
  }

  deinit { for feed in feeds.values { feed.loop?.cancel() } }

  /// Polls a store that runs, where its config wants that.
  func begin(_ id: StoreID) {
    guard feeds[id] == nil, let config = (try? workspace.member(id))?.config,
      let interval = try? config.polling(),
      var download = try? StoreDownload(config, registry: registry, in: context)
    else { return }
    download.clock = clock
    download.version.withLock { $0 = download.knownVersion }
    lastNumber += 1
    var feed = Feed(number: lastNumber, download: download, interval: interval)
    feed.loop = Task { [weak self, clock, number = lastNumber] in
      while let pause = await self?.pause(id, number) {
        guard (try? await clock.sleep(for: pause)) != nil else { return }
        _ = try? await self?.poll(id)
      }
    }
    feeds[id] = feed
  }

  /// Polls a store no more. When it comes back nothing changes the store's file any longer.
  func end(_ id: StoreID) async {
    guard let feed = feeds.removeValue(forKey: id) else { return }
    feed.loop?.cancel()
    feed.poll?.cancel()
    _ = await feed.poll?.value
  }

  /// How long to wait until the next poll; `nil` for a feed that has ended.
  private func pause(_ id: StoreID, _ number: Int) -> Duration? {
    guard let feed = feeds[id], feed.number == number else { return nil }
    let limit = max(Self.longestPause, feed.interval)
    return BackOff(first: feed.interval, limit: limit)
      .pause(after: feed.failures + 1, asked: feed.asked)
  }

  private static let longestPause = Duration.seconds(600)

  /// Fetches a store now.
  ///
  /// - Returns: `nil` where nothing changed, or the store is paused.
  func poll(_ id: StoreID) async throws(FieldpackError) -> FeedChanges? {
    let member = try workspace.member(id)
    guard let feed = feeds[id] else {
      throw FieldpackError(
        .invalidArgument, "store '\(id)' is no feed, or does not run", location: .init(store: id))
    }
    if let poll = feed.poll { return try await poll.value.get() }
    guard member.store != nil else { return nil }
    let task = Task { () -> Result<FeedChanges?, FieldpackError> in
      do throws(FieldpackError) {
        let changes = try await refresh(id, feed)
        ended(id, feed, nil)
        return .success(changes)
      } catch {
        ended(id, feed, error)
        return .failure(error)
      }
    }
    feeds[id]?.poll = task
    return try await task.value.get()
  }

  private func refresh(
    _ id: StoreID, _ feed: Feed
  ) async throws(FieldpackError) -> FeedChanges? {
    guard let (new, version) = try await feed.download.refresh() else { return nil }
    // The store may be paused by now; the next poll brings the file again.
    guard let store = (try? workspace.member(id))?.store as? FileStore,
      let file = new as? FileStore
    else { return nil }
    let changes = try await store.takeOver(file)
    feed.download.version.withLock { $0 = version }
    guard !changes.isEmpty else { return nil }
    workspace.tell(changes)
    var event = StoreEvent(.changed, id, status: .running)
    event.changes = changes
    log.send(event)
    return changes
  }

  private func ended(_ id: StoreID, _ feed: Feed, _ error: FieldpackError?) {
    guard feeds[id]?.number == feed.number else { return }
    feeds[id]?.poll = nil
    feeds[id]?.failures = error == nil ? 0 : feed.failures + 1
    feeds[id]?.asked = error?.askedPause
    guard let error, error.code != .interrupted else { return }
    context.logger.warning(
      "poll failed", ["store": .text("\(id)"), "reason": .text(error.message)])
    let status = (try? workspace.member(id))?.state.status
    var event = StoreEvent(.pollFailed, id, status: status)
    event.reason = error.message
    log.send(event)
  }
}

extension DataService {
  /// Fetches a feed now, instead of at its next turn. A feed is a remote store of the type `geojson` or
  /// `wfs` with the option `polling`, the seconds from one look at the server to the next.
  ///
  /// - Returns: what changed; `nil` where nothing did, or the store is paused.
  /// - Throws: why the poll failed: the store goes on with what it has. `.notFound` where there is no
  ///   such store, `.invalidArgument` where it is no feed or does not run.
  @discardableResult
  public func poll(_ id: StoreID) async throws(FieldpackError) -> FeedChanges? {
    try await feeds.poll(id)
  }
}
