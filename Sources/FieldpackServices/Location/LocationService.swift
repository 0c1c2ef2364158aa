public import FieldpackCore
public import FieldpackField
import FieldpackGeometry
public import FieldpackLocation
import FieldpackProjection

/// How exact positions are to be, and how much power they may take. The numbers are those that bridges
/// exchange.
public enum LocationAccuracy: Int, Hashable, Sendable, CaseIterable {
  case high = 0
  case navigation = 1
  case low = 3
}

/// Keeps the last known position of the device, as long as tracking is enabled.
///
///     let service = try await LocationService.open(folder: folder) { _ in receiver }
///     try await service.enable()
///     await service.start()
///     for await fix in service.lastKnown { … }
///
/// Whether tracking is enabled is kept in the folder, and is not until somebody enables it. Each last
/// known position becomes a row of the ``LocationStore``.
public actor LocationService {
  public struct Settings: Hashable, Sendable {
    /// What a source of positions is asked for.
    public var accuracy: LocationAccuracy
    /// How far from the last known position a fix has to be, in metres, to take its place.
    public var distance: Double
    /// How often the newest fix becomes the last known position; `nil` takes every fix.
    ///
    /// Of a source that is complete, such as a track, it is the time between the fixes, not that of the
    /// clock.
    public var interval: Duration?

    public init(
      accuracy: LocationAccuracy = .high, distance: Double = 0, interval: Duration? = .seconds(5)
    ) {
      self.accuracy = accuracy
      self.distance = distance
      self.interval = interval
    }
  }

  public typealias MakeSource = @Sendable (LocationAccuracy) -> any LocationSource

  public nonisolated let store: LocationStore
  public private(set) var settings: Settings
  /// Whether positions are followed while the service runs.
  public private(set) var isEnabled: Bool
  /// Why positions are no longer followed.
  public private(set) var failure: FieldpackError?
  private let flag: KeptFlag
  private let clock: FieldClock
  private let makeSource: MakeSource
  private var isStarted = false
  private var task: Task<Void, Never>?
  /// The task that was cancelled last, which may still be at its end.
  private var ending: Task<Void, Never>?
  /// How often positions were followed.
  private var run = 0
  /// The newest fix that is not yet the last known position.
  private var newest: Fix?
  private var last: Fix?
  private nonisolated let tracking = Broadcast<Bool>(capacity: 1, present: false)
  private nonisolated let known = Broadcast<Fix?>(capacity: 256, present: .some(nil))

  private init(
    _ store: LocationStore, _ flag: KeptFlag, isEnabled: Bool, _ settings: Settings,
    _ clock: FieldClock, _ source: @escaping MakeSource
  ) {
    self.store = store
    self.flag = flag
    self.isEnabled = isEnabled
    self.settings = settings
    self.clock = clock
    makeSource = source
  }

  /// Opens the location store of a folder, without following positions yet.
  ///
  /// - Parameter source: gives what positions come from, for an accuracy that is asked for.
  public static func open(
    folder: String, settings: Settings = Settings(), clock: FieldClock = .system,
    usesWAL: Bool = true,
    source: @escaping MakeSource
  ) async throws(FieldpackError) -> LocationService {
    let store = try await LocationStore.open(folder: folder, usesWAL: usesWAL)
    let flag = KeptFlag("service.sensor.gps.enabled", in: folder)
    return LocationService(
      store, flag, isEnabled: try await flag.read(), settings, clock, source)
  }

  // MARK: What is told

  /// The last known position: the present one at once, where there is one, and then each new one.
  public nonisolated var lastKnown: some AsyncSequence<Fix, Never> & Sendable {
    known.subscribe().stream.compactMap { $0 }
  }

  /// Whether positions are followed: now at once, and then whenever it changes.
  public nonisolated var isTracking: some AsyncSequence<Bool, Never> & Sendable {
    Changes(tracking.subscribe().stream) { $0 }
  }

  /// Whether positions are followed.
  package var isReading: Bool { task != nil }

  /// When the newest fix was read that is not yet the last known position.
  package var newestTime: Instant? { newest?.time }

  // MARK: Starting and stopping

  /// Follows positions, if tracking is enabled.
  public func start() {
    isStarted = true
    follow()
  }

  /// Follows positions no longer; the store stays open.
  public func stop() async {
    isStarted = false
    await unfollow()
  }

  /// Stops, and closes the store.
  public func close() async {
    await stop()
    tracking.finish()
    known.finish()
    await store.close()
  }

  /// Lets positions be followed, from now on and after the next start of the program.
  public func enable() async throws(FieldpackError) {
    try await flag.write(true)
    isEnabled = true
    if isStarted { follow() }
  }

  /// Follows no positions until they are enabled again.
  public func disable() async throws(FieldpackError) {
    isEnabled = false
    await unfollow()
    try await flag.write(false)
  }

  /// Changes the settings; the source is asked anew.
  public func set(_ settings: Settings) async {
    self.settings = settings
    guard task != nil else { return }
    await unfollow()
    if isStarted { follow() }
  }

  private func follow() {
    guard isEnabled, task == nil else { return }
    failure = nil
    run += 1
    let (source, run, before) = (makeSource(settings.accuracy), run, ending)
    tracking.send(true)
    task = Task {
      // Two do not read from one receiver.
      await before?.value
      await self.read(source, run)
    }
  }

  private func unfollow() async {
    guard let task else { return }
    self.task = nil
    ending = task
    task.cancel()
    tracking.send(false)
    await task.value
  }

  // MARK: Fixes

  private func read(_ source: any LocationSource, _ run: Int) async {
    newest = nil
    do throws(FieldpackError) {
      try await source.checkUse()
      if let interval = settings.interval, !source.isComplete {
        try await sample(source, each: interval)
      } else {
        try await takeAll(source, apart: settings.interval)
      }
    } catch {
      if run == self.run, !Task.isCancelled { failure = error }
    }
    guard run == self.run, task != nil else { return }
    task = nil
    tracking.send(false)
  }

  /// Takes the fixes of a source as they come; of those that are nearer in time than `interval` to the
  /// one before none.
  private func takeAll(
    _ source: any LocationSource, apart interval: Duration?
  ) async throws(FieldpackError) {
    var before: Instant?
    for try await updates in source.updates() {
      var fixes: [Fix] = []
      for case .fix(let fix) in updates {
        if let interval, let before, let time = fix.time, time < before.advanced(by: interval) {
          continue
        }
        before = fix.time ?? before
        fixes.append(fix)
      }
      try await keep(fixes)
    }
  }

  /// Takes the newest fix at once, and then whenever `interval` has passed.
  private func sample(
    _ source: any LocationSource, each interval: Duration
  ) async throws(FieldpackError) {
    let start = clock.uptime
    let (clock, reader) = (clock, task)
    let ticker = Task { () async -> FieldpackError? in
      var next = start + interval
      while true {
        do throws(CancellationError) { try await clock.sleep(until: next) } catch { return nil }
        do throws(FieldpackError) { try await self.takeNewest() } catch {
          // What cannot be kept ends the reading, and is told.
          self.fail(error, reader)
          return error
        }
        next = max(next, clock.uptime) + interval
      }
    }
    defer { ticker.cancel() }
    var isFirst = true
    for try await updates in source.updates() {
      for case .fix(let fix) in updates { newest = fix }
      if isFirst, newest != nil {
        isFirst = false
        try await takeNewest()
      }
    }
    ticker.cancel()
    if let error = await ticker.value { throw error }
    try await takeNewest()
  }

  private func fail(_ error: FieldpackError, _ reader: Task<Void, Never>?) {
    failure = error
    reader?.cancel()
  }

  private func takeNewest() async throws(FieldpackError) {
    guard let fix = newest else { return }
    newest = nil
    try await keep([fix])
  }

  /// Makes fixes the last known position, one after the other, as far as each is far enough from the
  /// one before.
  private func keep(_ fixes: [Fix]) async throws(FieldpackError) {
    var kept: [Fix] = []
    for fix in fixes where fix.isOnEarth {
      if let last, settings.distance > 0,
        Geodesic.wgs84.distance(from: last.position, to: fix.position) < settings.distance
      {
        continue
      }
      last = fix
      kept.append(fix)
    }
    guard !kept.isEmpty else { return }
    try await store.add(kept, at: clock.now)
    for fix in kept { known.send(fix) }
  }
}
