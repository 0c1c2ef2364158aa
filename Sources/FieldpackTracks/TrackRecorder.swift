public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackLocation

/// Records the fixes of a source as tracks of a GeoPackage.
///
///     let recorder = TrackRecorder(store)
///     for try await step in recorder.record(source, as: "walk", .region(80)) {
///       for point in step.points { … }
///     }
///
/// What the monitor chooses of the fixes become points of the track of their device; a point with the
/// same ``PlaceID`` as the one before is dropped. The points and the length of a track are true after
/// each transaction; ``RecordedSteps`` tells when one ends. Its line may trail them by a tenth of the
/// points until the recording stops or goes on. Killed at any step, the recording goes on under its name:
/// no point is lost that was given, and none is there twice.
///
/// A recorder records one source at a time: starting again aborts the recording before, which throws
/// the failure ``LocationFailure/aborted``, as does another program that goes on with its run.
public final class TrackRecorder: Sendable {
  private let store: GeoPackageStore
  private let now: @Sendable () -> Instant
  private let slot = RunSlot()
  private let afterPoint: PointAction?

  /// - Parameter now: the clock, for points whose fix has no time and for the log.
  public convenience init(
    _ store: GeoPackageStore, now: @escaping @Sendable () -> Instant = Instant.now
  ) {
    self.init(store, now: now, afterPoint: nil)
  }

  /// - Parameter afterPoint: what is done in the transaction that stores a point.
  package init(
    _ store: GeoPackageStore, now: @escaping @Sendable () -> Instant = Instant.now,
    afterPoint: PointAction?
  ) {
    self.store = store
    self.now = now
    self.afterPoint = afterPoint
  }

  /// A recording of what `source` gives, which begins when it is iterated.
  ///
  /// - Parameters:
  ///   - name: of the recording and its tracks; where the file has one of that name, it goes on.
  ///   - origin: where the fixes come from, in words for the file.
  ///   - isReplay: whether the source begins with the first fix again, as a file does, so that those
  ///     that the recording took before are skipped, as ``RecordedMonitor/watch(_:origin:isReplay:note:words:)``
  ///     does it.
  ///   - note: told of what was changed in a replay, as the log is.
  ///   - words: how the error that ends the recording is told in the file's log.
  /// - Throws: as it is iterated, the failures of ``LocationFailure``; `.invalidArgument` where the
  ///   recording of that name was made by another sampling; `.unsupported` where the file's layers are
  ///   of a newer version; what the source throws.
  public func record(
    _ source: any LocationSource, as name: String, _ sampling: Sampling,
    origin: String? = nil, isReplay: Bool = false,
    note: @escaping @Sendable (String) -> Void = { _ in },
    words: @escaping @Sendable (FieldpackError) -> String = { $0.message }
  ) throws(FieldpackError) -> RecordedSteps {
    let plan = RunPlan(
      store: store, name: name, kind: .track, monitor: try sampling.makeMonitor(),
      sampling: sampling,
      source: source, sourceName: origin, isReplay: isReplay, note: note,
      words: words, afterPoint: afterPoint, now: now, slot: slot)
    return RecordedSteps { RunLoop(plan) }
  }
}

/// What is done in the transaction that stores a track point.
package typealias PointAction =
  @Sendable (TrackPoint, GeoPackageWriter) throws(FieldpackError) -> Void
