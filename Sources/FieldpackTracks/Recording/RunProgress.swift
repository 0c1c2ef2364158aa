import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// How far a run has come: its row, its monitor, its tracks.
struct RunProgress: Sendable {
  private(set) var run: StoredRun?
  /// `nil` while somebody else has it.
  var monitor: (any FixMonitor)?
  private let plan: RunPlan
  private var taken: TakenFixes?
  /// Fixes of the last batch that the next transaction takes.
  private var left: ArraySlice<Fix> = []
  private var sequence = 1
  private var devices = DeviceTable<RunDevice>()
  /// Transactions of this start.
  private var transactions = 0

  init(_ plan: RunPlan) {
    self.plan = plan
    monitor = plan.monitor
  }

  mutating func takeMonitor() -> (any FixMonitor)? {
    defer { monitor = nil }
    return monitor
  }

  mutating func takeLeft() -> ArraySlice<Fix> {
    defer { left = [] }
    return left
  }

  /// The fixes of a batch that the run has not taken yet; `nil` where the source is not as it was, and
  /// has to be read again.
  ///
  /// - Throws: `.invalidArgument` where a replay does not give what the run took.
  mutating func fresh(_ updates: [LocationUpdate]) throws(FieldpackError) -> [Fix]? {
    var fixes: [Fix] = []
    fixes.reserveCapacity(updates.count)
    for case .fix(let fix) in updates {
      switch try taken?.verdict(on: fix) ?? .new {
      case .new: fixes.append(fix)
      case .taken: continue
      case .again: return nil
      }
    }
    return fixes
  }

  /// Whether the source ended after all that the run took; else it has to be read again.
  ///
  /// - Throws: `.invalidArgument` where what it gave does not tell what the run took.
  mutating func isWhole() throws(FieldpackError) -> Bool {
    guard try taken?.verdictAtEnd() == .again else { return true }
    if let state = taken?.stateByTime { monitor?.resume(state) }
    return false
  }

  /// Tells the log that the source is not as it was, once it is read on by the times of its fixes.
  ///
  /// - Returns: what it was told.
  func noteChange(
    in sql: TransactionStatements, at now: Instant
  ) throws(FieldpackError) -> String? {
    guard let run, let taken, taken.isByTime, let change = taken.change else { return nil }
    let ahead = taken.stateByTime.devices.filter { $0.time ?? now > now }.map { state in
      "; \(state.device.isEmpty ? "its" : "of '\(state.device)' the") last one, of "
        + "\(state.time ?? now), lies in the future, and none before that is new"
    }
    let message =
      "the source was changed: \(change); goes on after the last fix of each device, and passes over "
      + "what was added before" + ahead.joined()
    try RunTables(sql: sql).log(run, .warning, message, at: now)
    return message
  }

  // MARK: Begin

  mutating func begin(in sql: TransactionStatements, at now: Instant) throws(FieldpackError) {
    let run = try RunTables(sql: sql).begin(
      plan.name, plan.kind, parameters: plan.parameters, source: plan.sourceName,
      isReplay: plan.isReplay, at: now)
    let stored = try StateTables(sql: sql, run: run.id).read()
    let state = MonitorState(devices: stored.map(\.state))
    if run.isResumed { self.monitor?.resume(state) }
    for row in stored {
      var device = RunDevice(row: row.id, time: row.state.time)
      if let track = row.track {
        device.track = try TrackTables(sql: sql).open(track, device: row.state.device)
      }
      devices.append(row.state.device, device)
    }
    sequence = try DetectionTable(sql: sql, run: run.id).nextSequence()
    if plan.isReplay { taken = TakenFixes(of: run, state) }
    self.run = run
  }

  // MARK: Fixes

  /// How long fixes are watched in one transaction: nobody else can write meanwhile.
  private static let patience = Duration.milliseconds(250)

  /// Takes the fixes of one transaction; those beyond its limits are left for the next.
  mutating func take(
    _ fixes: ArraySlice<Fix>, in sql: TransactionStatements, at now: Instant
  ) throws(FieldpackError) -> RecordedStep {
    guard var run, var monitor = takeMonitor() else {
      throw FieldpackError(.unavailable, "the run has not begun")
    }
    defer { self.monitor = monitor }
    let start = run
    // Before anything else: another start of the run may have stored the same points.
    try RunTables(sql: sql).advance(start, by: EmptyCollection<Fix>())
    var step = RecordedStep(fixes: 0, detections: [], points: [])
    var moved: [MovedDevice] = []
    transactions += 1
    let end = ContinuousClock.now + Self.patience
    for fix in fixes {
      guard step.detections.count < Detections.limit else { break }
      let count = run.fixes - start.fixes
      if count > 0, count % 64 == 0, ContinuousClock.now >= end { break }
      let place = place(of: fix.device, in: &moved, monitor)
      let seen = step.detections.count
      let isTaken = monitor.take(fix, number: run.fixes, into: &step.detections)
      if step.detections.count > seen, let method = plan.method {
        try add(fix, of: place, method, run, to: &step, in: sql, at: now)
      }
      try note(fix, of: place, isTaken, run, in: sql, at: now)
      run.fixes += 1
    }
    step.fixes = run.fixes
    let count = run.fixes - start.fixes
    run.digest = try RunTables(sql: sql).advance(start, by: fixes.prefix(count)).digest
    left = fixes.dropFirst(count)
    if plan.method == nil {
      let first = fixes.startIndex - start.fixes
      let fixAt = { (detection: Detection) in fixes[first + detection.fix].position }
      try DetectionTable(sql: sql, run: run.id).store(
        step.detections, from: sequence, at: fixAt)
      sequence += step.detections.count
    }
    try store(moved, monitor, run, in: sql)
    self.run = run
    return step
  }

  /// The place of a device, which is among those that moved from now on.
  private mutating func place(
    of device: String, in moved: inout [MovedDevice], _ monitor: any FixMonitor
  ) -> Int {
    let place = devices.find(device) ?? devices.append(device, RunDevice())
    if devices.entries[place].transaction != transactions {
      devices.entries[place].transaction = transactions
      moved.append(MovedDevice(place: place, before: monitor.state(of: device)))
    }
    return place
  }

  private mutating func add(
    _ fix: Fix, of place: Int, _ method: RecordingMethod, _ run: StoredRun,
    to step: inout RecordedStep, in sql: TransactionStatements, at now: Instant
  ) throws(FieldpackError) {
    let tables = TrackTables(sql: sql)
    var track: OpenTrack
    if let known = devices.entries[place].track.take() {
      track = known
    } else {
      track = try tables.create(
        method, name: plan.name, device: fix.device, at: fix.time ?? now)
    }
    defer { devices.entries[place].track = track }
    if let point = try tables.add(fix, number: run.fixes, to: &track, at: now) {
      step.points.append(point)
      track.isStanding = false
      try plan.afterPoint?(point, sql)
    } else if !track.isStanding {
      track.isStanding = true
      try RunTables(sql: sql).log(
        run, .info, "dropped: at the place of the point before", fix: run.fixes,
        device: fix.device, at: now)
    }
  }

  /// Tells the log of the first fix of a device that is passed over, and where its time goes back.
  private mutating func note(
    _ fix: Fix, of place: Int, _ isTaken: Bool, _ run: StoredRun, in sql: TransactionStatements,
    at now: Instant
  ) throws(FieldpackError) {
    var message: String?
    if !isTaken {
      if !devices.entries[place].isPassing {
        message = "passed over: late, not on Earth, or not accurate enough"
      }
    } else {
      let last = devices.entries[place].time
      if let last, let time = fix.time, time < last {
        message = "three late fixes in order: goes on from their time, which is before \(last)"
      }
      devices.entries[place].time = fix.time ?? last
    }
    devices.entries[place].isPassing = !isTaken
    guard let message else { return }
    try RunTables(sql: sql).log(
      run, .warning, message, fix: run.fixes, device: fix.device, at: now)
  }

  /// Stores the tracks, and what is known, of the devices whose fixes were taken.
  private mutating func store(
    _ moved: [MovedDevice], _ monitor: any FixMonitor, _ run: StoredRun,
    in sql: TransactionStatements
  ) throws(FieldpackError) {
    var rows: [StateRow] = []
    var places: [Int] = []
    rows.reserveCapacity(moved.count)
    for device in moved {
      let place = device.place
      if var track = devices.entries[place].track.take() {
        defer { devices.entries[place].track = track }
        try TrackTables(sql: sql).finish(&track)
      }
      guard let state = monitor.state(of: devices.names[place]), state != device.before else {
        continue
      }
      rows.append(
        StateRow(
          id: devices.entries[place].row, state: state, track: devices.entries[place].track?.id,
          hasOtherStays: state.stays != device.before?.stays ?? []))
      places.append(place)
    }
    try StateTables(sql: sql, run: run.id).store(&rows)
    for (place, row) in zip(places, rows) { devices.entries[place].row = row.id }
    try sql.changed(FieldData.state)
  }
}

/// What a run knows of a device, beside what its monitor does.
private struct RunDevice: Sendable {
  /// Of `monitor_state`; `nil` before there is one.
  var row: Int64?
  /// Where it has one.
  var track: OpenTrack?
  /// Of its last fix that was taken and had one.
  var time: Instant?
  /// Whether its last fixes were passed over, of which the log was told then.
  var isPassing = false
  /// The last one that took a fix of it.
  var transaction = 0
}

/// A device in a transaction that takes fixes of it.
private struct MovedDevice {
  let place: Int
  /// What was known of it before the first of these.
  let before: DeviceState?
}
