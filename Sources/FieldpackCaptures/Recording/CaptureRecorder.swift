public import FieldpackCore
public import FieldpackField
public import FieldpackLocation

/// Records captures into a folder: what a camera's screen does, without the screen.
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
///   ``LocationFailure/aborted``; what was recorded is completed or thrown away as if it had been killed.
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

  /// What becomes of the recorder, from its present state on: for each subscriber a sequence of its
  /// own, that keeps the last 256 states for one who is slow. It ends with the recorder.
  public var states: CaptureRecorderStates { hub.subscribe() }

  /// Begins a capture; its points come from `source` until that ends or the capture is finished.
  ///
  /// The first start of a recorder completes what was left in the folder before.
  /// - Parameters:
  ///   - media: a file to copy as the capture's media; without one the caller writes it. It is whole,
  ///     unless it is a film and the timing that of the clock: that may be in the making.
  ///   - timing: what the times of points are taken from.
  /// - Returns: where the media are to be written: `output.jpg` or `output.mov` in a hidden folder.
  /// - Throws: the failures of ``LocationFailure``; what ``CaptureMaking/check()`` throws; what is
  ///   wrong with the folder or with `media`. Nothing is begun then, and what was recorded goes on.
  @discardableResult
  public func begin(
    _ kind: CaptureInfo.MediaKind, fixes source: any LocationSource,
    title: String = CaptureInfo.untitled, media: String? = nil, timing: CaptureTiming = .clock
  ) async throws(FieldpackError) -> String {
    try await work.begin(
      RecordingPlan(kind: kind, source: source, title: title, media: media, timing: timing))
  }

  /// Copies a file as the media of the capture that is recorded, in place of those before.
  ///
  /// It waits for a beginning or an end that is under way.
  /// - Throws: `.invalidArgument` where nothing is recorded, the file is none, or an end that failed has
  ///   made the capture's files already; `.invalidData` for what is cut short; `.unsupported` where it
  ///   is longer than half a gigabyte; `.unavailable` for a picture that has to be turned, without
  ///   ffmpeg.
  public func takeMedia(copying path: String) async throws(FieldpackError) {
    try await work.takeMedia(copying: path)
  }

  /// How many points what is recorded has.
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

  /// Ends the capture with what there is and gives it its name; cancelling does not stop it.
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

  /// Throws away what is recorded, media and all.
  public func discard() async throws(FieldpackError) { try await work.discard() }

  /// Completes recordings of this folder that were killed or aborted, or throws them away, and says
  /// what became of each; those that are under way elsewhere are left alone.
  ///
  /// One that has a point and media, or was being finished, is completed, also where its media are cut
  /// short. One that cannot be, for lack of `ffmpeg` or of room, is kept for the next start.
  @discardableResult
  public func completeLeft() async throws(FieldpackError) -> [LeftRecording] {
    try await work.completeLeft()
  }
}

/// A GeoPackage that recorded captures are imported into.
public struct CaptureDestination: Hashable, Sendable {
  /// Of the file, which is created where it is missing.
  public var path: String
  /// What the key tuples call it.
  public var store: StoreID
  /// Whether captures stay in their folder, too; else it is only where they are made.
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
  /// Where it lies; `nil` where it was imported and is not kept as a folder.
  public var folder: String?
  /// Of the feature that it was imported as.
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

  /// What its hidden folder was called.
  public var name: String
  /// How many points it had.
  public var points: Int
  public var outcome: Outcome
  /// What is wrong with media that nobody can read, as a camera that was killed leaves them: they are
  /// in the capture as they are, without a thumbnail.
  public var mediaError: FieldpackError?
  /// The GeoPackage that it was to be imported into and was not, since this recorder has another.
  public var awaited: String?
}

/// What the times of points are taken from.
public enum CaptureTiming: Hashable, Sendable {
  /// The monotonic clock, since the recording began.
  case clock
  /// The times of the fixes, since the first, for those of a file; the clock where they have none.
  /// The capture is then dated by the first, an image by its own.
  case fixes
}
