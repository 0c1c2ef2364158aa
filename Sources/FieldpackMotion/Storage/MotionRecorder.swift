public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage

/// Keeps every sample of a device in a GeoPackage as a session of its own, whether it reaches a
/// server or not.
///
///     let recorder = MotionRecorder(store, device: device)
///     options.keep = { (samples) throws(FieldpackError) in try await recorder.keep(samples) }
///     …
///     try await recorder.finish()
///
/// Samples wait for at most ``groupSeconds``; then all that wait are stored in one transaction, as one
/// batch, while sampling goes on. What ``stored`` counts outlives the process, however it ends. While
/// another program writes to the file, samples wait for it.
public actor MotionRecorder {
  /// How many seconds samples are gathered before they are stored together.
  public static let groupSeconds = 0.5
  /// How many samples may wait while the file cannot be written. Then ``keep(_:)`` waits.
  public static let waitingLimit = 100_000

  /// The id of the session.
  public nonisolated let session: String
  /// How many samples are in the file.
  public private(set) var stored = 0
  private let store: GeoPackageStore
  private let device: MotionDevice
  private let rate: Double
  private let clock: FieldClock
  private let onStored: (@Sendable (Int) -> Void)?
  private var waiting: [MotionSample] = []
  private var isStarted = false
  private var writing: Task<Void, Never>?
  private var pause: Task<Void, Never>?
  private var failure: FieldpackError?

  /// - Parameters:
  ///   - rate: samples a second, as stated in the session.
  ///   - session: the id of the session. The file must not have it yet.
  ///   - onStored: called with the number of samples in the file, after each transaction.
  public init(
    _ store: GeoPackageStore, device: MotionDevice, rate: Double = MotionSession.standardRate,
    session: String = RandomID.make(), clock: FieldClock = .system,
    onStored: (@Sendable (Int) -> Void)? = nil
  ) {
    self.store = store
    self.device = device
    self.rate = rate
    self.session = session
    self.clock = clock
    self.onStored = onStored
  }

  /// Takes samples to be stored soon.
  ///
  /// - Throws: the error of storing earlier samples. Then no more samples are accepted.
  public func keep(_ samples: [MotionSample]) async throws(FieldpackError) {
    if let failure { throw failure }
    waiting += samples
    startWriting()
    while waiting.count > Self.waitingLimit, failure == nil {
      pause?.cancel()
      await writing?.value
      startWriting()
    }
  }

  /// Stores the samples that wait, even when the task is cancelled.
  ///
  /// - Throws: what storing threw.
  public func finish() async throws(FieldpackError) {
    while !waiting.isEmpty || writing != nil, failure == nil {
      startWriting()
      pause?.cancel()
      await writing?.value
    }
    if let failure { throw failure }
  }

  private func startWriting() {
    guard writing == nil, !waiting.isEmpty, failure == nil else { return }
    let pause = clock.groupPause()
    self.pause = pause
    // A task of its own, which nothing cancels: what was taken is stored.
    writing = Task {
      await pause.value
      await self.write()
    }
  }

  private func write() async {
    let samples = waiting
    waiting = []
    do throws(FieldpackError) {
      try await store(samples)
      stored += samples.count
      onStored?(stored)
    } catch {
      waiting = samples + waiting
      if error.code != .busy || waiting.count > Self.waitingLimit { failure = error }
    }
    writing = nil
    startWriting()
  }

  private func store(_ samples: [MotionSample]) async throws(FieldpackError) {
    guard let first = samples.first, let last = samples.last else { return }
    let start = MotionSession(id: session, device: device, startedAt: first.time, rate: rate)
    let batch = MotionBatch(
      session: session, sentAt: last.time, receivedAt: clock.unixSeconds,
      sections: samples.reduce([]) { $0.union($1.reading.sections) }, samples: samples)
    let isStarted = isStarted
    try await store.write { (writer) throws(FieldpackError) in
      try MotionLayers.received.prepare(in: writer)
      let tables = MotionTables(writer: writer)
      if !isStarted { try tables.store(.started(start)) }
      try tables.store(.received(batch))
    }
    self.isStarted = true
  }
}
