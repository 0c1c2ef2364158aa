package import FieldpackCore
package import FieldpackField

/// The link to one sensor: it holds the session, and runs one sequence of operations at a time.
///
///     let link = SensorLink(address, service: client, journal: store, events: events)
///     await link.run(.connect)
///     await link.capture(configuration, for: item)
///
/// Each operation is in the journal. The session is kept there before its lock is used, and the ids of
/// captures before the first is downloaded.
package actor SensorLink {
  package struct Options: Sendable {
    /// The longer side of what is downloaded, in pixels. Where the picture is smaller the whole of it
    /// is downloaded.
    package var maximumSize = 1024
    /// Whether a download that is not ready or fails on its way is tried again: after 0.5 s, and each
    /// time after twice as long and half a second more, six times in all.
    package var retriesDownloads = true

    package init() {}
  }

  /// How a sequence ended.
  package enum Outcome: Hashable, Sendable {
    /// The captures that were stored, which are all that were made.
    case completed(captures: [String])
    case canceled
    case failed(FieldpackError.Code, message: String)

    package var isCompleted: Bool { if case .completed = self { true } else { false } }
  }

  /// What runs now.
  struct Work {
    var sequence: SensorSequence
    var configuration: SensorDictionary?
    var item: KeyTuple?
    var done: [SensorOperation] = []
    var captures: [String] = []
    var stored: [String] = []
    var hasRecovered = false
    var isCanceled = false
    /// Whether an operation of the sensor waits for its answer.
    var isAtSensor = false
    /// Tells it from the work before and after it.
    var number = 0
  }

  package nonisolated let address: SensorAddress
  nonisolated let service: any BiometricSensor
  nonisolated let journal: any SensorJournal
  nonisolated let events: Broadcast<SensorEvent>
  nonisolated let clock: FieldClock
  nonisolated let options: Options

  /// Given by the sensor; a hint, because the sensor may forget it.
  package internal(set) var session: String?
  /// Also while it is not known whether the sensor took a request for the lock.
  package internal(set) var holdsLock = false
  package internal(set) var isInitialized = false
  /// What the sensor has told of itself; `nil` where it was not asked yet.
  var information: SensorDictionary?
  var work: Work?
  private var workCount = 0
  /// What downloads the captures of the present work.
  var downloads: Task<FieldpackError?, Never>?
  private(set) var isClosing = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var wasReady = false
  var preview: SensorPreview?

  package init(
    _ address: SensorAddress, service: any BiometricSensor, journal: any SensorJournal,
    events: Broadcast<SensorEvent>, options: Options = Options(), clock: FieldClock = .system
  ) {
    self.address = address
    self.service = service
    self.journal = journal
    self.events = events
    self.options = options
    self.clock = clock
  }

  /// Whether the sensor has registered us and is initialized, as far as is known.
  package var isReady: Bool { session != nil && isInitialized }

  // MARK: Sequences

  /// Runs a sequence to its end, when those before it have ended.
  @discardableResult
  package func run(
    _ sequence: SensorSequence, _ configuration: SensorDictionary? = nil, for item: KeyTuple? = nil
  ) async -> Outcome {
    while work != nil { await untilEnd() }
    if isClosing, sequence != .disconnect { return .canceled }
    return await perform(sequence, configuration, item)
  }

  /// Sets the sensor up, and connects before where that is needed.
  @discardableResult
  package func configure(
    _ configuration: SensorDictionary, for item: KeyTuple?
  ) async -> Outcome {
    while work != nil { await untilEnd() }
    if Task.isCancelled || isClosing { return .canceled }
    return await perform(isReady ? .configure : .connectConfigure, configuration, item)
  }

  /// Captures and downloads, and connects before where that is needed.
  @discardableResult
  package func capture(
    _ configuration: SensorDictionary, for item: KeyTuple?
  ) async -> Outcome {
    while work != nil { await untilEnd() }
    if Task.isCancelled || isClosing { return .canceled }
    return await perform(isReady ? .configCaptureDownload : .full, configuration, item)
  }

  /// Ends the running sequence: what the sensor is at, and what comes after that. Captures that are made
  /// are downloaded all the same.
  ///
  /// - Parameter item: the sequence of another item runs on; `nil` ends any.
  package func cancel(_ item: KeyTuple? = nil) async {
    guard let present = work, item == nil || present.item == item else { return }
    await cancel(number: present.number)
  }

  private func cancel(number: Int) async {
    guard work?.number == number, work?.isCanceled == false else { return }
    work?.isCanceled = true
    guard work?.isAtSensor == true, let session else { return }
    _ = try? await ask(SensorRequest(.cancel, session: session))
  }

  /// Ends what runs, and gives the session back. What is not downloaded yet stays in the journal.
  package func close() async {
    isClosing = true
    downloads?.cancel()
    await cancel()
    await untilIdle()
    if session != nil { await run(.disconnect) }
  }

  /// Waits until nothing runs.
  package func untilIdle() async { while work != nil { await untilEnd() } }

  private func untilEnd() async {
    await withCheckedContinuation { waiting.append($0) }
  }

  private func perform(
    _ sequence: SensorSequence, _ configuration: SensorDictionary?, _ item: KeyTuple?
  ) async -> Outcome {
    var configuration = configuration
    // Where a sensor shows its preview is nothing to set it to.
    configuration?["stream"] = nil
    workCount += 1
    let number = workCount
    work = Work(
      sequence: sequence, configuration: configuration, item: item, number: number)
    // The lock is given back even where the caller is cancelled.
    let outcome = await Task { await self.steps() }
      .cancellable { await self.cancel(number: number) }
    work = nil
    tell(outcome, of: sequence, item)
    for continuation in waiting { continuation.resume() }
    waiting = []
    return outcome
  }

  private func tell(_ outcome: Outcome, of sequence: SensorSequence, _ item: KeyTuple?) {
    var event = SensorEvent(sequence.completed, device: address, item: item, sequence: sequence)
    switch outcome {
    case .completed: event.status = SensorStatus.success.rawValue
    case .canceled: event.name = .operationCanceled
    case .failed(_, let message):
      event.name = .sequenceFailed
      event.message = message
      event.operation = .recoverySequence
    }
    events.send(event)
  }

  /// Sends an event where the sensor has become ready, or is not ready any more.
  func tellReady() {
    guard isReady != wasReady else { return }
    wasReady = isReady
    var event = SensorEvent(.connectedStatusChanged, device: address, item: work?.item)
    event.isReady = isReady
    events.send(event)
  }
}

extension Task where Failure == Never {
  /// The value, with `cancel` called where the task that waits is cancelled.
  fileprivate func cancellable(
    onCancel cancel: @escaping @Sendable () async -> Void
  ) async -> Success {
    await withTaskCancellationHandler {
      await value
    } onCancel: {
      _Concurrency.Task<Void, Never> { await cancel() }
    }
  }
}
