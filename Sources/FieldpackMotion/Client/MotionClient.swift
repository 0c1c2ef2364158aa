public import FieldpackCore
public import FieldpackField
public import FieldpackHTTP

/// Samples a source and posts its readings to a server, as a DaCo device does.
///
///     let client = try MotionClient(server, device: device)
///     for await isActive in client.serverActiveChanges() { … }
///     let report = try await client.run(source)
///
/// A start request gives the session; then every five readings are posted as one batch. A failed
/// request is repeated after ``Options/backOff``; status 401 leads to exactly one new start.
/// Sampling goes on whatever becomes of the requests. While a live source's batches cannot be sent,
/// ``Options/unsentLimit`` of them wait and the oldest are lost to the server; ``Options/keep``
/// gets them all. Other sources wait.
public actor MotionClient {
  public struct Options: Sendable {
    /// Seconds between two readings, `dataUpdateInterval`.
    public var interval = 1 / MotionSession.standardRate
    /// Whether samples of a ``TimedMotionSource`` keep their own times. With `false` the source is
    /// read at ``interval``, and a sample has the time at which it was read.
    ///
    /// A batch then ends early where a sample is off by more than the interval that is measured,
    /// because the server computes times from the rate. A server assumes 50 Hz unless it knows the
    /// rate.
    public var keepsTimes = true
    /// Readings of a batch.
    public var batchSize = 5
    /// The sections that are sent, as far as the source has them. A batch ends where they change; a
    /// reading without any of them is dropped.
    public var sections = MotionSections.all
    /// How many batches of a live source wait while none can be sent. Beyond them the oldest is
    /// dropped.
    public var unsentLimit = 0
    /// The number of failures in a row after which `run` throws; `nil` tries for ever.
    public var attempts: Int?
    /// The pause before a failed request is repeated: 0.5 s, doubled up to 30 s, less a random part
    /// of up to half.
    public var backOff = BackOff(first: .milliseconds(500), limit: .seconds(30), jitter: 0.5)
    /// Gets every sample as it is read, sent or not, for example to give it to a
    /// ``MotionRecorder``. An error that it throws ends the run.
    public var keep: (@Sendable ([MotionSample]) async throws(FieldpackError) -> Void)?
    /// Called with each event, in order.
    public var onEvent: (@Sendable (Event) -> Void)?

    public init() {}
  }

  /// What happens while a client runs.
  public enum Event: Hashable, Sendable {
    /// A session was started.
    case started(session: String)
    /// ``MotionClient/serverActive`` changed.
    case active(Bool)
    /// ``MotionClient/serverData`` changed.
    case serverData([UInt8])
    /// A request failed, for this reason.
    case failed(String)
    /// The client waits so many seconds before the next request.
    case waiting(Double)
  }

  /// What a run did.
  public struct Report: Hashable, Sendable {
    public var readings = 0
    /// How many requests with readings were sent, repeated ones included.
    public var posts = 0
    /// How many batches the server accepted.
    public var sent = 0
    /// How many batches the server refused or never got.
    public var lost = 0
    /// How many sessions the server gave.
    public var starts = 0

    public init() {}
  }

  struct Batch: Hashable {
    var time: Double
    var readings: [MotionReading]
  }

  /// Batches that wait while one is being sent.
  static let queueLimit = 50

  let options: Options
  let device: MotionDevice
  let clock: FieldClock
  let http: HTTPClient
  var server: MotionServer
  /// Which server that is: answers of one before are nothing any more.
  var generation = 0
  var session: String?
  var queue: [Batch] = []
  var isEnded = false
  var isLive = false
  /// Whether the last post failed, so that the next waits.
  var isFailing = false
  var pause: Task<Void, Never>?
  /// Of the run: a task that is cancelled ends the stream that it waits for.
  var wake = Signal()
  var room = Signal()
  private let changes = Broadcast<Bool>(capacity: 256)
  private var onChange: (@Sendable (Bool) -> Void)?
  private var isRunning = false

  /// Whether batches are posted. While it is `false` sampling and starts go on, and new readings
  /// are lost to the server. Batches that wait keep waiting, of a live source up to
  /// ``Options/unsentLimit``.
  public var shouldPostData = true { didSet { wake.give() } }
  /// Whether the server answered the last request with 200.
  public private(set) var serverActive = false
  /// The body of the last answer to readings; empty after a failure.
  public internal(set) var serverData: [UInt8] = [] {
    didSet { if serverData != oldValue { options.onEvent?(.serverData(serverData)) } }
  }
  /// What the present or last run has done so far.
  public internal(set) var report = Report()
  /// The readings of the last whole batch.
  public internal(set) var latest: [MotionReading] = []

  /// - Throws: `.invalidArgument` for a server that gives no address.
  public init(
    _ server: MotionServer, device: MotionDevice, options: Options = Options(),
    http: HTTPClient? = nil, clock: FieldClock = .system
  ) throws(FieldpackError) {
    try server.check()
    guard options.interval > 0, options.interval.isFinite, options.batchSize > 0,
      options.batchSize <= MotionRequest.maximumReadings
    else {
      throw FieldpackError(
        .invalidArgument, "interval and size of the batches are more than 0")
    }
    self.server = server
    self.device = device
    self.options = options
    self.clock = clock
    self.http = if let http { http } else { try Self.http() }
  }

  /// A client that follows no redirect: it would make a POST a GET, whose 200 takes no readings.
  private static func http() throws(FieldpackError) -> HTTPClient {
    var configuration = HTTPConfiguration()
    configuration.maximumRedirects = 0
    return try HTTPClient(configuration)
  }

  // MARK: The last batch

  public var attitude: [MotionReading.Attitude] { latest.compactMap(\.attitude) }
  public var acceleration: [MotionReading.Vector] { latest.compactMap(\.acceleration) }
  public var magneticField: [MotionReading.Vector] { latest.compactMap(\.magneticField) }
  public var rotation: [MotionReading.Vector] { latest.compactMap(\.rotation) }

  // MARK: The server

  public func setShouldPostData(_ value: Bool) { shouldPostData = value }

  /// Changes to another server, or begins anew with the same one, with a start request.
  ///
  /// - Throws: `.invalidArgument` for a server that gives no address; then all stays as it was.
  public func updateServer(_ server: MotionServer) throws(FieldpackError) {
    try server.check()
    self.server = server
    generation += 1
    session = nil
    isFailing = false
    setActive(false)
    pause?.cancel()
    wake.give()
  }

  /// Sets what is called with each change of ``serverActive``, which is `false` at first; `nil`
  /// removes it.
  public func setOnServerActiveChange(_ body: (@Sendable (Bool) -> Void)?) { onChange = body }

  /// The changes of ``serverActive`` from now on, of which the last 256 are kept for each call; it
  /// ends with the client.
  public nonisolated func serverActiveChanges() -> AsyncStream<Bool> { changes.subscribe().stream }

  func setActive(_ isActive: Bool) {
    guard isActive != serverActive else { return }
    serverActive = isActive
    onChange?(isActive)
    options.onEvent?(.active(isActive))
    changes.send(isActive)
  }

  // MARK: Running

  /// Samples the source until its end, or until the task is cancelled, and posts the samples.
  ///
  /// - Throws: `.interrupted` when cancelled, `.unavailable` after ``Options/attempts`` failures,
  ///   what the source and ``Options/keep`` throw.
  public func run(_ source: any MotionSource) async throws(FieldpackError) -> Report {
    guard !isRunning else {
      throw FieldpackError(.busy, "the client runs already. Try: another client")
    }
    isRunning = true
    defer { isRunning = false }
    (report, queue, isEnded, isLive, isFailing) = (Report(), [], false, source.isLive, false)
    (wake, room) = (Signal(), Signal())
    let failure = await withTaskGroup(of: FieldpackError?.self) { group in
      group.addTask { await self.sample(source) }
      group.addTask { await self.post() }
      var failure: FieldpackError?
      for await error in group where failure == nil && error != nil {
        failure = error
        group.cancelAll()
      }
      return failure
    }
    report.lost += queue.count
    if let failure { throw failure }
    return report
  }
}

extension MotionClient.Report: CustomStringConvertible {
  /// `120 readings, 3 batches sent`, and how many were lost.
  public var description: String {
    readings.counting("reading") + ", " + sent.counting("batch", "batches") + " sent"
      + (lost == 0 ? "" : "; \(lost) lost")
  }
}
