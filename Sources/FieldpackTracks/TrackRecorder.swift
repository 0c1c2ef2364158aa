public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
public import FieldpackLocation

/// Records the fixes of a source as tracks of a GeoPackage.
///
///     let recorder = TrackRecorder(store)
///     for try await step in try recorder.record(source, as: "walk", .region(80)) {
///       count += step.points.count
///     }
///
/// Each device gets a track of its own, to which the chosen fixes are added as points; a point with
/// the same ``PlaceID`` as the one before is dropped. The points and the length of a track are up
/// to date after each transaction; ``RecordedSteps`` says when one ends. The track's line may lag
/// behind by a tenth of the points until the recording stops or continues. A recording that was
/// killed continues under its name: no point that was given is lost, and none is stored twice.
///
/// A recorder records one source at a time. Starting again aborts the present recording, which
/// throws the failure ``FieldpackLocation/LocationFailure/aborted``; so does another program that continues the same
/// run.
public final class TrackRecorder: Sendable {
  private let store: GeoPackageStore
  private let clock: FieldClock
  private let slot = RunSlot()
  private let afterPoint: PointAction?

  /// - Parameter clock: for the log, and for points whose fix has no time.
  public convenience init(
    _ store: GeoPackageStore, clock: FieldClock = .system
  ) {
    self.init(store, clock: clock, afterPoint: nil)
  }

  /// - Parameter afterPoint: what is done in the transaction that stores a point.
  package init(
    _ store: GeoPackageStore, clock: FieldClock = .system,
    afterPoint: PointAction?
  ) {
    self.store = store
    self.clock = clock
    self.afterPoint = afterPoint
  }

  /// A recording of the fixes of `source`, which begins when it is iterated.
  ///
  /// - Parameters:
  ///   - name: the name of the recording and its tracks. Where the file has a recording of that
  ///     name, it continues.
  ///   - origin: the origin of the fixes, as text for the file.
  ///   - isReplay: whether the source begins with the first fix again, as a file does, so that those
  ///     that the recording took before are skipped, as ``RecordedMonitor/watch(_:origin:isReplay:note:words:)``
  ///     does it.
  ///   - note: told of what was changed in a replay, as the log is.
  ///   - words: makes the text for the file's log of the error that ends the recording.
  /// - Throws: as it is iterated, the failures of ``FieldpackLocation/LocationFailure``; `.invalidArgument` where the
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
      words: words, afterPoint: afterPoint, clock: clock, slot: slot)
    return RecordedSteps { RunLoop(plan) }
  }
}

/// What is done in the transaction that stores a track point.
package typealias PointAction =
  @Sendable (TrackPoint, GeoPackageWriter) throws(FieldpackError) -> Void
