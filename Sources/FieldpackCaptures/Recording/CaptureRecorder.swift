public import FieldpackCore
public import FieldpackField
public import FieldpackLocation

/// Records captures into a folder: the part of a camera app that has no screen.
///
///     let recorder = try CaptureRecorder(folder: "captures", making: making)
///     let media = try await recorder.begin(.video, fixes: source, title: "Along the ditch")
///     …                                          // the camera writes to the path `media`
///     let capture = try await recorder.finish()  // and the recorder is ready for the next
///
/// - Each fix and each heading of the source becomes a point of the capture; an image has one, the
///   latest. A heading repeats the position before it; what comes before the first fix is no point.
///   A point that ``states`` tell of is on the disk.
/// - The capture is made under a hidden name in the folder and appears there with one rename, as a
///   whole. Killed at any step, it is completed by the next recorder of the folder, or thrown away
///   where it has no point or no media: see ``completeLeft()``. Recorders of several programs may work
///   in one folder; none takes what another one is making.
/// - An error of the source ends its points, not the recording: ``finish()`` makes the capture of what
///   there is.
/// - A recorder records one capture at a time. A second start aborts the first, with the failure
///   ``FieldpackLocation/LocationFailure/aborted``; what was recorded is completed or thrown away as if it had been killed.
public final class CaptureRecorder: Sendable {
  private let work: RecordingWork
  private let hub: RecorderStateHub

  /// - Parameters:
  ///   - folder: of captures, created with the first recording where it is missing.
  ///   - destination: the GeoPackage that captures are imported into; `nil` for none.
  ///   - clock: the time of points and captures.
  /// - Throws: `.unavailable` where the system has no thread left.
  public convenience init(
    folder: String, making: CaptureMaking, into destination: CaptureDestination? = nil,
    clock: FieldClock = .system
  ) throws(FieldpackError) {
    try self.init(folder: folder, making: making, into: destination, clock: clock, atStep: { _ in })
  }

  /// - Parameter atStep: called when a step is on the disk.
  package init(
    folder: String, making: CaptureMaking, into destination: CaptureDestination? = nil,
    clock: FieldClock = .system, atStep: @escaping @Sendable (RecordingStep) -> Void
  ) throws(FieldpackError) {
    hub = RecorderStateHub()
    work = try RecordingWork(
      RecordingSettings(
        root: folder, making: making, destination: destination, clock: clock, atStep: atStep), hub)
  }

  deinit {
    // What is recorded is left to the next recorder.
    hub.finish()
  }

  /// The states of the recorder, beginning with the present one. Each call gives a sequence of its
  /// own, which keeps the last 256 states for a slow reader and ends with the recorder.
  public var states: CaptureRecorderStates { hub.subscribe() }

  /// Begins a capture. Its points come from `source` until the source ends or the capture is
  /// finished.
  ///
  /// The first call also completes recordings that were left in the folder.
  /// - Parameters:
  ///   - media: a file to copy as the capture's media; with `nil` the caller writes the media. The
  ///     file must be complete, except for a video with ``CaptureTiming/clock``, which may still
  ///     grow.
  ///   - timing: what the times of points are taken from.
  /// - Returns: where the media are to be written: `output.jpg` or `output.mov` in a hidden folder.
  /// - Throws: the failures of `LocationFailure`; what ``CaptureMaking/check()`` throws; what is
  ///   wrong with the folder or with `media`. Nothing is begun then, and what was recorded goes on.
  @discardableResult
  public func begin(
    _ kind: CaptureInfo.MediaKind, fixes source: any LocationSource,
    title: String = CaptureInfo.untitled, media: String? = nil, timing: CaptureTiming = .clock
  ) async throws(FieldpackError) -> String {
    try await work.begin(
      RecordingPlan(kind: kind, source: source, title: title, media: media, timing: timing))
  }

  /// Copies a file as the media of the present capture, in place of any before.
  ///
  /// Waits for a ``begin(_:fixes:title:media:timing:)`` or ``finish()`` that is under way.
  /// - Throws: `.invalidArgument` where nothing is recorded, the file is none, or an end that failed has
  ///   made the capture's files already; `.invalidData` for what is cut short; `.unsupported` where it
  ///   is longer than half a gigabyte; `.unavailable` for a picture that has to be turned, without
  ///   ffmpeg.
  public func takeMedia(copying path: String) async throws(FieldpackError) {
    try await work.takeMedia(copying: path)
  }

  /// How many points the present capture has.
  public var pointCount: Int { get async { await work.pointCount } }

  /// Waits until the source has ended.
  ///
  /// - Throws: its error, `.interrupted` when the task is cancelled. The capture can be finished then.
  public func untilSourceEnds() async throws(FieldpackError) {
    guard let reading = await work.reading else { return }
    let result = await withTaskCancellationHandler {
      await reading.value
    } onCancel: {
      reading.cancel()
    }
    try result.get()
  }

  /// Completes the capture with the points so far and gives it its name. Cancelling the task does
  /// not stop this.
  ///
  /// - Throws: `.invalidArgument` where nothing is recorded; `.unavailable` where no position has come
  ///   yet, and `.notFound` where there are no media: the recording goes on. What
  ///   ``CaptureMaking/complete(_:token:media:in:)`` throws: nothing is lost, and this can be called
  ///   again. What the import throws, with where the whole capture lies.
  @discardableResult
  public func finish() async throws(FieldpackError) -> RecordedCapture {
    let work = work
    return try await Task.detached { () async -> Result<RecordedCapture, FieldpackError> in
      do throws(FieldpackError) { return .success(try await work.finish()) } catch {
        return .failure(error)
      }
    }.value.get()
  }

  /// Deletes the present recording with its media.
  public func discard() async throws(FieldpackError) { try await work.discard() }

  /// Completes or deletes recordings of this folder that were killed or aborted, and returns what
  /// became of each. Recordings that another program is making are left alone.
  ///
  /// A recording with a point and media is completed, even where its media are cut short, and so is
  /// one that was being finished. One that cannot be completed yet, for lack of `ffmpeg` or of
  /// room, is kept for the next start. All others are deleted.
  @discardableResult
  public func completeLeft() async throws(FieldpackError) -> [LeftRecording] {
    try await work.completeLeft()
  }
}

/// A GeoPackage that recorded captures are imported into.
public struct CaptureDestination: Hashable, Sendable {
  /// Of the file, which is created where it is missing.
  public var path: String
  /// The id of the store in key tuples.
  public var store: StoreID
  /// Whether captures also stay as folders. With `false` the folder is empty again after the
  /// import.
  public var keepsFolders: Bool

  public init(path: String, store: StoreID, keepsFolders: Bool = true) {
    self.path = path
    self.store = store
    self.keepsFolders = keepsFolders
  }
}

/// A capture that was recorded.
public struct RecordedCapture: Hashable, Sendable {
  public var info: CaptureInfo
  /// How many points it has.
  public var points: Int
  /// The path of the capture's folder; `nil` where the capture was imported and is not kept as one.
  public var folder: String?
  /// The key tuple of the imported feature; `nil` where the capture was not imported.
  public var key: KeyTuple?
}

/// What became of a recording that was killed or aborted.
public struct LeftRecording: Sendable {
  public enum Outcome: Sendable {
    case completed(RecordedCapture)
    /// It had no point or no media.
    case discarded
    /// It could not be completed, and is kept.
    case kept(FieldpackError)
  }

  /// The name of the hidden folder that held the recording.
  public var name: String
  /// How many points it had.
  public var points: Int
  public var outcome: Outcome
  /// Why the media cannot be read, for example because the camera was killed. The capture holds
  /// them as they are and has no thumbnail.
  public var mediaError: FieldpackError?
  /// The GeoPackage that the recording was meant for. It was not imported, because this recorder
  /// has another destination.
  public var awaited: String?
}

/// The clock by which the points of a capture are timed.
public enum CaptureTiming: Hashable, Sendable {
  /// The monotonic clock, since the recording began.
  case clock
  /// The times of the fixes, since the first, for those of a file; the clock where they have none.
  /// The capture is then dated by the first, an image by its own.
  case fixes
}
