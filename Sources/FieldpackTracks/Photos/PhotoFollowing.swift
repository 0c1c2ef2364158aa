public import FieldpackCore
public import FieldpackGeoPackage

/// Looks for pictures while points are recorded, in a task of its own.
///
/// The recording says when it has stored points and never waits for an answer. What is not found when
/// it ends is looked for once more by ``finish()``, and otherwise by a later run.
///
///     let following = PhotoFollowing(store: store, provider: provider)
///     for try await step in recording { following.pointsAreStored() }
///     let outcomes = try await following.finish()
public final class PhotoFollowing: Sendable {
  private let signal: AsyncStream<Void>.Continuation
  private let task: Task<Result<[PhotoState: Int], FieldpackError>, Never>

  /// - Parameter report: called after each point, in the task.
  public init(
    store: GeoPackageStore, provider: any PhotoProvider, settings: PhotoFetch.Settings = .init(),
    report: @escaping @Sendable (PhotoFetch.Outcome) -> Void = { _ in }
  ) {
    // One signal is as good as many: a run takes all points that are due.
    let (signals, signal) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.signal = signal
    task = Task.detached {
      await Self.follow(signals, store, provider, settings, report)
    }
  }

  deinit {
    signal.finish()
    task.cancel()
  }

  /// Wakes the search; returns at once.
  public func pointsAreStored() { signal.yield() }

  /// Looks for what is left, and ends.
  ///
  /// - Returns: how many points came to each state.
  /// - Throws: what ended the search; the points that it did not come to wait for a later one.
  @discardableResult
  public func finish() async throws(FieldpackError) -> [PhotoState: Int] {
    signal.yield()
    signal.finish()
    return try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }

  private static func follow(
    _ signals: AsyncStream<Void>, _ store: GeoPackageStore, _ provider: any PhotoProvider,
    _ settings: PhotoFetch.Settings, _ report: @escaping @Sendable (PhotoFetch.Outcome) -> Void
  ) async -> Result<[PhotoState: Int], FieldpackError> {
    var counts: [PhotoState: Int] = [:]
    var fetch: PhotoFetch?
    var known: PhotoKnowledge?
    do throws(FieldpackError) {
      for await _ in signals {
        if Task.isCancelled { throw FieldpackError(.interrupted, "the search was cancelled") }
        if fetch == nil { fetch = try await begin(store, provider, settings) }
        try await fetch?.run(track: nil, &known) { outcome in
          counts[outcome.state, default: 0] += 1
          report(outcome)
        }
      }
      return .success(counts)
    } catch {
      return .failure(error)
    }
  }

  /// `nil` as long as nothing is recorded.
  private static func begin(
    _ store: GeoPackageStore, _ provider: any PhotoProvider, _ settings: PhotoFetch.Settings
  ) async throws(FieldpackError) -> PhotoFetch? {
    let layers = try await store.schemas().map(\.layer)
    guard layers.contains(PhotoLayers.point) else { return nil }
    return try await PhotoFetch(store: store, provider: provider, settings: settings)
  }
}
