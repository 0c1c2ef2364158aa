import FieldpackCore
import FieldpackField
import FieldpackLocation

/// What a recorder works with.
struct RecordingSettings: Sendable {
  var root: String
  var making: CaptureMaking
  var destination: CaptureDestination?
  var clock: FieldClock
  var atStep: @Sendable (RecordingStep) -> Void
}

/// The work of a recorder, on a thread of its own: each point waits for the disk.
actor RecordingWork {
  private let executor: ThreadExecutor
  private let settings: RecordingSettings
  private let hub: RecorderStateHub
  private var current: Current?
  private var number = 0
  private var hasLooked = false
  /// Beginnings and ends wait for one another.
  private var isBusy = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  private struct Current {
    var recording: Recording
    let number: Int
    /// When it began, by the clock's uptime.
    let start: Duration
    /// Of the file that was copied as its media.
    var mediaPath: String?
    var reading: SourceReading?
  }

  init(_ settings: RecordingSettings, _ hub: RecorderStateHub) throws(FieldpackError) {
    executor = try .started()
    self.settings = settings
    self.hub = hub
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  var pointCount: Int { current?.recording.count ?? 0 }

  /// Of the source of what is recorded.
  var reading: SourceReading? { current?.reading }

  private func takeTurn() async {
    guard isBusy else {
      isBusy = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func giveTurn() {
    if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
  }

  // MARK: Begin

  func begin(_ plan: RecordingPlan) async throws(FieldpackError) -> String {
    await takeTurn()
    defer { giveTurn() }
    do throws(FieldpackError) {
      try settings.making.check()
      try await plan.source.checkUse()
      // Where positions come as they are made the film may be in the making, too.
      let media = try plan.media.map { (path) throws(FieldpackError) in
        try checkedMedia(at: path, plan.kind, isWhole: plan.timing == .fixes)
      }
      if !hasLooked { try await lookForLeft() }
      // What was aborted lives until the next one is sure to begin.
      let recording = try make(plan, media)
      await abort()
      start(recording, plan)
      return recording.media
    } catch {
      hub.publish(.failed(error))
      throw error
    }
  }

  /// A file that can be the media of a capture.
  private func checkedMedia(
    at path: String, _ kind: CaptureInfo.MediaKind, isWhole: Bool
  ) throws(FieldpackError) -> FileToCopy {
    let file = try FileToCopy(path)
    let found = try file.media(isWhole: isWhole)
    guard found.kind == kind else {
      let (other, own) = (found.kind.rawValue, kind.rawValue)
      throw FieldpackError(
        .invalidArgument, "\(path) is of the kind \(other), and what is recorded is of \(own)")
    }
    try settings.making.check(found)
    return file
  }

  /// Nothing is left of one that cannot begin.
  private func make(
    _ plan: RecordingPlan, _ media: FileToCopy?
  ) throws(FieldpackError) -> Recording {
    let folder = try RecordingFolder.make(in: settings.root)
    do throws(FieldpackError) {
      settings.atStep(.folderMade)
      let recording = try Recording(
        plan, in: folder, createdAt: settings.clock.unixSeconds,
        destination: settings.destination?.path)
      settings.atStep(.begun)
      if let media {
        try recording.takeMedia(media)
        settings.atStep(.mediaCopied)
      }
      return recording
    } catch {
      try? folder.removeAll()
      throw error
    }
  }

  private func start(_ recording: Recording, _ plan: RecordingPlan) {
    number += 1
    current = Current(
      recording: recording, number: number, start: settings.clock.uptime,
      mediaPath: plan.media)
    let number = number
    let updates = plan.source.updates()
    hub.publish(.recording(count: 0, new: []))
    let reading = Task.detached { () async -> Result<Void, FieldpackError> in
      do throws(FieldpackError) {
        for try await some in updates {
          guard try await self.take(some, of: number) else { break }
        }
        await self.end(number, nil)
        return .success(())
      } catch {
        await self.end(number, error)
        return .failure(error)
      }
    }
    current?.reading = reading
    hub.note(reading)
  }

  /// What was recorded before another start is settled as if it had been killed.
  private func abort() async {
    guard let old = current else { return }
    current = nil
    old.reading?.cancel()
    hub.publish(
      .failed(FieldpackError(.aborted, "another recording has taken the place of this one")))
    await settleLeft(old.recording.folder)
  }

  // MARK: Points

  /// - Returns: whether the recording goes on.
  private func take(
    _ updates: [LocationUpdate], of number: Int
  ) throws(FieldpackError) -> Bool {
    guard let start = current?.start, current?.number == number,
      current?.recording.isBroken == false
    else { return false }
    let seconds = (settings.clock.uptime - start).inSeconds
    // In its place: a copy of it would be written back over what comes meanwhile.
    guard let points = try current?.recording.take(updates, after: seconds), !points.isEmpty else {
      return true
    }
    settings.atStep(.pointAppended)
    hub.publish(.recording(count: current?.recording.count ?? 0, new: points))
    return true
  }

  /// Tells that the source has ended; that it was cancelled is no failure.
  private func end(_ number: Int, _ error: FieldpackError?) {
    guard current?.number == number else { return }
    if let error, error.code != .interrupted { hub.publish(.failed(error)) }
    hub.publish(.sourceEnded)
  }

  func takeMedia(copying path: String) async throws(FieldpackError) {
    await takeTurn()
    defer { giveTurn() }
    guard let recording = current?.recording else { throw Self.nothingIsRecorded }
    let file = try checkedMedia(at: path, recording.notes.kind, isWhole: true)
    guard try !recording.hasOwnFiles else {
      throw FieldpackError(
        .invalidArgument,
        "\(recording.folder.path) has become a capture already, which keeps its media. "
          + "Try: finish it")
    }
    try recording.takeMedia(file)
    self.current?.mediaPath = path
  }

  // MARK: End

  func finish() async throws(FieldpackError) -> RecordedCapture {
    await takeTurn()
    defer { giveTurn() }
    do throws(FieldpackError) {
      guard let ending = current else { throw Self.nothingIsRecorded }
      try check(ending.recording)
      ending.reading?.cancel()
      _ = await ending.reading?.value
      let recorded = try await settle(ending)
      current = nil
      hub.publish(.finished(recorded))
      hub.publish(.ready)
      return recorded
    } catch {
      // What was imported not is whole, and no longer recorded.
      if let ending = current, !ending.recording.folder.isThere { current = nil }
      hub.publish(.failed(error))
      if current == nil { hub.publish(.ready) }
      throw error
    }
  }

  private func check(_ recording: Recording) throws(FieldpackError) {
    guard recording.count > 0 else {
      throw FieldpackError(
        .unavailable, "no position has come yet, and a capture has one. Try: wait, or discard it")
    }
    guard try recording.hasMedia else {
      throw FieldpackError(
        .notFound, "there are no media at \(recording.media), and a capture has some")
    }
  }

  private func settle(_ ending: Current) async throws(FieldpackError) -> RecordedCapture {
    let hub = hub
    let folder = ending.recording.folder
    let settlement = Settlement(
      settings: settings, folder: folder, mediaPath: ending.mediaPath
    ) { token in
      hub.publish(.finishing(token: token))
    }
    if let recorded = try await settlement.settle(try settlement.content()) { return recorded }
    throw FieldpackError(.notFound, "what was recorded in \(folder.path) is gone")
  }

  func discard() async throws(FieldpackError) {
    await takeTurn()
    defer { giveTurn() }
    guard let old = current else { throw Self.nothingIsRecorded }
    current = nil
    old.reading?.cancel()
    _ = await old.reading?.value
    try old.recording.folder.removeAll()
    hub.publish(.discarded)
    hub.publish(.ready)
  }

  private static let nothingIsRecorded = FieldpackError(
    .invalidArgument, "nothing is recorded. Try: begin first")

  // MARK: What was left

  func completeLeft() async throws(FieldpackError) -> [LeftRecording] {
    await takeTurn()
    defer { giveTurn() }
    return try await lookForLeft()
  }

  @discardableResult
  private func lookForLeft() async throws(FieldpackError) -> [LeftRecording] {
    var found: [LeftRecording] = []
    for name in try RecordingFolder.names(in: settings.root) {
      do throws(FieldpackError) {
        guard let folder = try RecordingFolder.open(name, in: settings.root) else { continue }
        if let left = await settleLeft(folder) { found.append(left) }
      } catch {
        found.append(tell(LeftRecording(name: name, points: 0, outcome: .kept(error))))
      }
    }
    hasLooked = true
    return found
  }

  /// - Returns: `nil` for what was only to be cleared away.
  @discardableResult
  private func settleLeft(_ folder: RecordingFolder) async -> LeftRecording? {
    var left = LeftRecording(name: folder.name, points: 0, outcome: .discarded)
    do throws(FieldpackError) {
      let wrong = Locked<FieldpackError?>(nil)
      var settlement = Settlement(settings: settings, folder: folder)
      settlement.mediaAreUnread = { error in wrong.withLock { $0 = error } }
      let content = try settlement.content()
      if case .imported = content {
        _ = try await settlement.settle(content)
        return nil
      }
      left.points = content.points
      left.awaited = content.destination.flatMap { path in
        path == settings.destination?.path ? nil : path
      }
      if let recorded = try await settlement.settle(content) {
        left.outcome = .completed(recorded)
        left.mediaError = wrong.withLock { $0 }
      }
    } catch {
      left.outcome = .kept(error)
    }
    return tell(left)
  }

  private func tell(_ left: LeftRecording) -> LeftRecording {
    hub.publish(.left(left))
    return left
  }
}

extension Settlement.Content {
  fileprivate var points: Int {
    switch self {
    case .recording(_, let points): points.count
    case .capture(_, let found): found.points
    case .nothing(let points): points
    case .imported: 0
    }
  }

  fileprivate var destination: String? {
    switch self {
    case .recording(let notes, _): notes.destination
    case .capture(let notes, _): notes?.destination
    case .nothing, .imported: nil
    }
  }
}
