import FieldpackCore
import FieldpackField
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring

/// The half of a run that watches its fixes. It needs no file, so that it may be a transaction ahead of
/// the half that stores, ``RunRecord``.
struct RunWatch: Sendable {
  var monitor: any FixMonitor
  /// With the fixes that were watched.
  private var run: StoredRun
  /// Whether fixes are kept that were detected.
  private let keepsFixes: Bool
  private let clock: FieldClock
  private var devices = DeviceNames()
  /// By the index of the device in ``devices``.
  private var watchedDevices: [WatchedDevice] = []
  private var transactions = 0

  /// - Parameter known: the devices that the file knows, in the order of the ``RunRecord``'s rows.
  init(_ run: StoredRun, _ known: [DeviceState], _ plan: RunPlan) {
    self.run = run
    monitor = plan.monitor
    keepsFixes = plan.sampling != nil
    clock = plan.clock
    if run.isResumed { monitor.resume(MonitorState(devices: known)) }
    for device in known { add(device.device, WatchedDevice(time: device.time)) }
  }

  /// - Returns: the index of the device.
  @discardableResult
  private mutating func add(_ name: String, _ device: WatchedDevice) -> Int {
    watchedDevices.append(device)
    return devices.append(name)
  }

  // MARK: Watching

  /// Begins with the fixes of a transaction.
  mutating func begin() -> WatchedFixes {
    transactions += 1
    return WatchedFixes(first: run.fixes)
  }

  /// Watches fixes for a transaction until it is full or, some fixes beyond, until `end`.
  ///
  /// - Returns: those that are left for the next transaction.
  mutating func watch(
    _ fixes: ArraySlice<Fix>, until end: Duration, into watched: inout WatchedFixes
  ) -> ArraySlice<Fix> {
    let count = fixes.withUnsafeBufferPointer { fixes in
      for index in fixes.indices {
        guard !watched.isFull else { return index }
        if watched.count > 0, watched.count % 64 == 0, clock.uptime >= end { return index }
        watch(fixes[index], into: &watched)
      }
      return fixes.count
    }
    return fixes.dropFirst(count)
  }

  private mutating func watch(_ fix: Fix, into watched: inout WatchedFixes) {
    let device = devices.find(fix.device) ?? add(fix.device, WatchedDevice())
    if watchedDevices[device].transaction != transactions {
      watchedDevices[device].transaction = transactions
      watched.before.append((device, monitor.state(of: fix.device)))
    }
    let seen = watched.detections.count
    let isTaken = monitor.take(fix, number: run.fixes, into: &watched.detections)
    if watched.detections.count > seen {
      if keepsFixes {
        watched.seen.append(.init(number: run.fixes, fix: fix, device: device))
      } else {
        for _ in seen..<watched.detections.count { watched.positions.append(fix.position) }
      }
    }
    if let message = watchedDevices[device].message(on: fix, isTaken) {
      watched.notes.append(.init(number: run.fixes, device: fix.device, message: message))
    }
    run.digest?.add(fix)
    run.fixes += 1
    watched.count += 1
  }

  /// Adds what is known after the fixes.
  func end(_ watched: inout WatchedFixes) {
    watched.digest = run.digest
    watched.moved = watched.before.compactMap { device, before in
      guard let state = monitor.state(of: devices.names[device]), state != before else {
        return nil
      }
      return .init(
        device: device, state: state, hasOtherStays: state.stays != before?.stays ?? [])
    }
    watched.before = []
  }
}

/// What the watching half of a run knows of a device, beside what its monitor does.
private struct WatchedDevice: Sendable {
  /// Of its last fix that was taken and had one.
  var time: Instant?
  /// Whether its last fixes were passed over, of which the log was told then.
  var isPassing = false
  /// The last one that watched a fix of it.
  var transaction = 0

  /// What the log is to be told of the first fix that is passed over, and where the time goes back.
  mutating func message(on fix: Fix, _ isTaken: Bool) -> String? {
    defer { isPassing = !isTaken }
    guard isTaken else {
      return isPassing ? nil : "passed over: late, not on Earth, or not accurate enough"
    }
    guard let time = fix.time else { return nil }
    defer { self.time = time }
    guard let last = self.time, time < last else { return nil }
    return "three late fixes in order: goes on from their time, which is before \(last)"
  }
}

/// What a run saw in the fixes of one transaction, and what it knows after them.
struct WatchedFixes: Sendable {
  /// A fix that was detected.
  struct Seen: Sendable {
    let number: Int
    let fix: Fix
    /// Index of the device in `devices`.
    let device: Int
  }

  /// A fix of which the log is to be told.
  struct Note: Sendable {
    let number: Int
    let device: String
    let message: String
  }

  /// A device of which another state is known.
  struct Moved: Sendable {
    /// Index of the device in `devices`.
    let device: Int
    let state: DeviceState
    let hasOtherStays: Bool
  }

  /// The number of the first fix.
  let first: Int
  /// How many fixes there are.
  var count = 0
  /// Of all fixes of the run up to these.
  var digest: FixesDigest?
  var detections: [Detection] = []
  /// Where the fixes of the detections were, of a run that keeps these.
  var positions: [Position] = []
  /// Of a run that keeps the fixes themselves.
  var seen: [Seen] = []
  var notes: [Note] = []
  var moved: [Moved] = []
  /// The devices of the fixes, with what was known of them before.
  fileprivate var before: [(device: Int, state: DeviceState?)] = []

  init(first: Int) { self.first = first }

  /// Whether there is as much to store as one transaction should: nobody else can write meanwhile.
  var isFull: Bool {
    detections.count >= Detections.limit || seen.count >= 2500 || notes.count >= 2500
      || before.count >= 65_536
  }
}
