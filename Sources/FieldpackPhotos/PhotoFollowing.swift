public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage

/// Looks for pictures while points are recorded, in a task of its own.
///
/// The recording says when it has stored points and never waits for an answer. Only tracks that it
/// named are looked for, so that no position of another walk goes to the provider. While the provider
/// cannot be asked, it is asked ever more rarely. What is not found when the recording ends is looked
/// for once more by ``finish()``, and otherwise by ``PhotoFetch``.
///
///     let following = PhotoFollowing(store: store, provider: provider)
///     for try await step in recording {
///       following.pointsAreStored(of: step.points.map(\.track))
///     }
///     let outcomes = try await following.finish()
public final class PhotoFollowing: Sendable {
  private struct Wanted {
    var tracks: Set<Int64> = []
    var isFinishing = false
  }

  /// One is as good as many: a run takes all points that are due.
  private let signal: Signal
  private let wanted: Locked<Wanted>
  private let task: Task<Result<[PhotoState: Int], FieldpackError>, Never>

  /// - Parameters:
  ///   - report: called after each point, in the task.
  ///   - refused: called once something other than its cancelling ends the search, in the task.
  public init(
    store: GeoPackageStore, provider: any PhotoProvider, settings: PhotoFetch.Settings = .init(),
    clock: FieldClock = .system,
    report: @escaping @Sendable (PhotoFetch.Outcome) -> Void = { _ in },
    refused: @escaping @Sendable (FieldpackError) -> Void = { _ in }
  ) {
    let (signal, wanted) = (Signal(), Locked(Wanted()))
    (self.signal, self.wanted) = (signal, wanted)
    task = Task.detached {
      let result = await Self.follow(signal.stream, wanted, settings, clock, report) {
        () async throws(FieldpackError) in
        try await Self.begin(store, provider, settings, clock)
      }
      if case .failure(let error) = result, error.code != .interrupted { refused(error) }
      return result
    }
  }

  deinit {
    signal.finish()
    task.cancel()
  }

  /// Wakes the search for points of these tracks; returns at once.
  public func pointsAreStored(of tracks: some Sequence<Int64>) {
    wanted.withLock { $0.tracks.formUnion(tracks) }
    signal.give()
  }

  /// Looks for what is left, and ends; at the first request that is not answered, too.
  ///
  /// - Returns: how many points came to each state.
  /// - Throws: what ended the search; the points that it did not come to wait for a later one.
  @discardableResult
  public func finish() async throws(FieldpackError) -> [PhotoState: Int] {
    wanted.withLock { $0.isFinishing = true }
    signal.give()
    signal.finish()
    return try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }

  private static func follow(
    _ signals: AsyncStream<Void>, _ wanted: Locked<Wanted>,
    _ settings: PhotoFetch.Settings, _ clock: FieldClock,
    _ report: @escaping @Sendable (PhotoFetch.Outcome) -> Void,
    begin: () async throws(FieldpackError) -> PhotoFetch?
  ) async -> Result<[PhotoState: Int], FieldpackError> {
    var counts: [PhotoState: Int] = [:]
    var fetch: PhotoFetch?
    var pass = PhotoPass()
    pass.isHurried = { wanted.withLock { $0.isFinishing } }
    var failures = 0
    // The uptime before which the provider is not asked.
    var next: Duration?
    do throws(FieldpackError) {
      for await _ in signals {
        if Task.isCancelled { throw FieldpackError(.interrupted, "the search was cancelled") }
        let (tracks, isLast) = wanted.withLock { ($0.tracks, $0.isFinishing) }
        guard isLast || next.map({ clock.uptime >= $0 }) ?? true, !tracks.isEmpty else { continue }
        if fetch == nil { fetch = try await begin() }
        try await fetch?.run(tracks: tracks, &pass) { outcome in
          counts[outcome.state, default: 0] += 1
          report(outcome)
        }
        failures = pass.isUnavailable ? failures + 1 : 0
        // Who waits for the end waits for one answer that does not come, not for two.
        if pass.isUnavailable, pass.isHurried() { break }
        next = pass.isUnavailable ? clock.uptime + settings.backOff.pause(after: failures) : nil
      }
      return .success(counts)
    } catch {
      return .failure(error)
    }
  }

  /// `nil` as long as nothing is recorded.
  private static func begin(
    _ store: GeoPackageStore, _ provider: any PhotoProvider, _ settings: PhotoFetch.Settings,
    _ clock: FieldClock
  ) async throws(FieldpackError) -> PhotoFetch? {
    let layers = try await store.schemas().map(\.layer)
    guard layers.contains(PhotoLayers.point) else { return nil }
    return try await PhotoFetch(
      store: store, provider: provider, settings: settings, clock: clock)
  }
}
