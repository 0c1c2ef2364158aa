import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackMonitoring

/// Reads what happens in the file, once for all who follow it.
///
/// As long as somebody follows, the hub looks 20 times a second whether anybody has committed, which
/// reads no table. Only after a commit does the hub read what is new.
actor EventHub {
  private nonisolated let store: any FollowedStore
  private let logger: Logger
  private let clock: FieldClock
  private var channels: [EventQuery: EventChannel] = [:]
  /// What is known of the file; `nil` while nobody follows.
  private var known: Known?
  private var beginning: Task<Result<Known, FieldpackError>, Never>?
  private var lastBeat = Duration.zero
  /// Why events could not be read the last time.
  private var failure: String?
  private var isClosed = false

  struct Known: Sendable {
    var place: EventPlace
    var prints: [LayerID: EventReading.Print]
    var runs: [Int64: Int64]
    /// How many commits of others were found.
    var commits: Int
    /// Whether there was more than was read at a time.
    var isBehind = false
  }

  private static let pause = Duration.milliseconds(50)
  private static let beatPause = Duration.seconds(15)
  /// How many different queries are followed at a time. The bytes of each are kept for slow clients.
  private static let mostChannels = 500
  /// How many edits are read at a time.
  private static let batch = 500

  init(of store: GeoPackageStore, logger: Logger = .silent, clock: FieldClock = .system) {
    self.init(following: FollowedGeoPackage(store), logger: logger, clock: clock)
  }

  init(
    following store: any FollowedStore, logger: Logger = .silent, clock: FieldClock = .system
  ) {
    self.store = store
    self.logger = logger
    self.clock = clock
  }

  /// Whether all streams are at their end.
  var isOver: Bool { isClosed }

  // MARK: Following

  /// The channel of a query, with the number of a new client in it.
  ///
  /// - Throws: `.unavailable` once the hub is closed.
  func follow(
    _ query: EventQuery
  ) async throws(FieldpackError) -> (channel: EventChannel, client: Int) {
    if known == nil {
      let begun = try await begin()
      if known == nil {
        known = begun
        beginning = nil
        look()
      }
    }
    guard !isClosed, let known else {
      throw FieldpackError(.unavailable, "the server is closing")
    }
    if let channel = channels[query] { return (channel, channel.join()) }
    guard channels.count < Self.mostChannels else {
      throw FieldpackError(.busy, "too many clients follow with conditions of their own")
    }
    let regions = query.regions.map { store.regions(of: $0) }
    let channel = EventChannel(EventTest(query, regions: regions), at: known.place)
    channels[query] = channel
    return (channel, channel.join())
  }

  private func begin() async throws(FieldpackError) -> Known {
    // Begun before the store is read, so that no commit is missed in between.
    store.begin()
    let store = store
    let task =
      beginning
      ?? Task {
        do throws(FieldpackError) {
          return .success(try await store.present(try await store.commits()))
        } catch { return .failure(error) }
      }
    beginning = task
    let begun = await task.value
    if case .failure = begun {
      beginning = nil
      if known == nil { store.rest() }
    }
    return try begun.get()
  }

  /// Ends all streams.
  func close() {
    isClosed = true
    for channel in channels.values { channel.end() }
    channels = [:]
    known = nil
    store.end()
  }

  // MARK: Looking

  private func look() {
    lastBeat = clock.uptime
    Task { [weak self, clock] in
      while true {
        do throws(CancellationError) { try await clock.sleep(for: Self.pause) } catch { return }
        guard await self?.turn() == true else { return }
      }
    }
  }

  /// Looks once.
  ///
  /// - Returns: false where nobody follows any more.
  private func turn() async -> Bool {
    channels = channels.filter { $0.value.isFollowed }
    guard !channels.isEmpty, known != nil else {
      rest()
      return false
    }
    do throws(FieldpackError) {
      while try await readNews() {}
      failure = nil
    } catch {
      guard error.code != .unavailable || store.comesBack else {
        logger.error("events cannot be read any more", ["reason": .text("\(error)")])
        for channel in channels.values { channel.end() }
        channels = [:]
        rest()
        return false
      }
      if error.code != .busy, error.message != failure {
        failure = error.message
        logger.warning("events could not be read", ["reason": .text("\(error)")])
      }
    }
    if clock.uptime - lastBeat >= Self.beatPause {
      lastBeat = clock.uptime
      for channel in channels.values { channel.beat() }
    }
    return true
  }

  /// Drops what is known of the file, because nobody follows any more.
  private func rest() {
    known = nil
    store.rest()
  }

  /// The events that one look found, and what is known of the file after it.
  struct News: Sendable {
    var events: [LiveEvent] = []
    var known: Known
  }

  /// Reads what is new, where anybody has committed, and hands the events out.
  ///
  /// - Returns: whether there is more.
  private func readNews() async throws(FieldpackError) -> Bool {
    guard let known else { return false }
    let commits = try await store.commits()
    guard commits != known.commits || store.hasOwnNews || known.isBehind else { return false }
    // Only a look at the state of every device tells which of them have moved.
    let wantsPositions = somebodyWantsPositions
    let news = try await store.news(
      since: known, commits, wantsPositions: wantsPositions, limit: Self.batch)
    await handOut(news, wantsPositions)
    return self.known?.isBehind ?? false
  }

  private var somebodyWantsPositions: Bool {
    channels.keys.contains { $0.kinds.contains(.position) }
  }

  private func handOut(_ news: News, _ hasPositions: Bool) async {
    var pieces: [EventQuery: [UInt8]] = [:]
    // A channel that comes meanwhile begins before these events.
    while let channel = channels.values.first(where: { pieces[$0.test.query] == nil }) {
      let query = channel.test.query
      do throws(FieldpackError) {
        pieces[query] = try await Self.bytes(of: news.events, for: channel)
      } catch {
        // For example, the layer of the query's regions was deleted.
        logger.warning("a client's events ended", ["reason": .text("\(error)")])
        channel.end()
        channels[query] = nil
      }
    }
    guard let before = known else { return }
    known = news.known
    if !hasPositions, somebodyWantsPositions {
      // A client that wants positions came meanwhile: the next look gives it those of this one.
      known?.runs = before.runs
      known?.isBehind = true
    }
    for channel in channels.values {
      channel.append(pieces[channel.test.query] ?? [], upTo: news.known.place)
    }
  }

  private static func bytes(
    of events: [LiveEvent], for channel: EventChannel
  ) async throws(FieldpackError) -> [UInt8] {
    var bytes: [UInt8] = []
    for event in try await channel.test.chosen(events) { bytes += event.lines() }
    return bytes
  }

  // MARK: What was missed

  /// The next events behind `place` that meet the query of the channel, up to where the hub is.
  ///
  /// Reads one batch, so that no state of the file is held while a client takes it.
  nonisolated func missed(
    after place: EventPlace, in channel: EventChannel
  ) async throws(FieldpackError) -> (events: [LiveEvent], place: EventPlace, next: Int?) {
    let position = channel.position
    let (read, reached) = try await store.missed(
      after: place, upTo: position.place, limit: Self.batch)
    let events = try await channel.test.chosen(read)
    // Where nothing could be read, the place is beyond the file, or of a log that is gone.
    guard reached.isAtLeast(position.place) || reached == place else {
      return (events, reached, nil)
    }
    return (events, position.place, position.next)
  }

  /// The missed events as the bytes of an answer; `nil` where the file cannot be read.
  nonisolated func missedBytes(
    after place: EventPlace, in channel: EventChannel
  ) async -> MissedEvents? {
    do throws(FieldpackError) {
      let missed = try await missed(after: place, in: channel)
      var bytes: [UInt8] = []
      for event in missed.events { bytes += event.lines() }
      // A client that goes away now does not read the same again.
      bytes += "id: \(missed.place.text)\n\n".utf8
      return MissedEvents(bytes: bytes, place: missed.place, next: missed.next)
    } catch {
      logger.warning("missed events could not be read", ["reason": .text("\(error)")])
      return nil
    }
  }

  /// The place before the first event of that time or later.
  nonisolated func place(since time: Instant) async throws(FieldpackError) -> EventPlace {
    try await store.place(since: time)
  }

  /// The devices that have moved since the runs had taken as many fixes as `runs` says, as far as they meet
  /// the query of the channel, and how many fixes the runs have taken now.
  nonisolated func positions(
    since runs: [Int64: Int64], in channel: EventChannel
  ) async throws(FieldpackError) -> (positions: [LiveEvent], runs: [Int64: Int64]) {
    let (all, known) = try await store.positions(since: runs)
    return (try await channel.test.chosen(all), known)
  }

  /// The layers without a log; none where nobody follows. A GeoPackage is not read for them: each client asks,
  /// and of 1,000 clients that come at once each would wait for all others.
  func unlogged() async throws(FieldpackError) -> Set<LayerID> {
    guard let known else { return [] }
    return try await store.unlogged(known)
  }
}

extension EventPlace {
  /// Whether nothing of `other` is behind this place.
  func isAtLeast(_ other: EventPlace) -> Bool {
    detection >= other.detection && other.logs.allSatisfy { logs[$0.key] ?? 0 >= $0.value }
  }
}
