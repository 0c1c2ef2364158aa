public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage

/// Searches pictures in a task of its own while points are recorded.
///
/// The recording tells it which points were stored and never waits for it. Only points of these
/// tracks are searched, so that no position of another walk goes to the provider. A provider that
/// cannot be reached is tried ever more rarely. ``finish()`` tries the remaining points once more;
/// after that a ``PhotoFetch`` can.
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
  ///   - refused: called in the task when anything but cancelling ends the search.
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

  /// Starts the search for points of these tracks, and returns at once.
  public func pointsAreStored(of tracks: some Sequence<Int64>) {
    wanted.withLock { $0.tracks.formUnion(tracks) }
    signal.give()
  }

  /// Tries the remaining points and ends, or ends at the first request that is not answered.
  ///
  /// - Returns: the number of points by their new state.
  /// - Throws: the error that ended the search. The points after it wait for a later search.
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
        next =
          pass.isUnavailable
          ? clock.uptime + settings.backOff.pause(after: failures, asked: pass.asked) : nil
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
