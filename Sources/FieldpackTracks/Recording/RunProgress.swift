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
  private var left: [Fix] = []
  private var sequence = 1
  private var tracks: [String: OpenTrack] = [:]
  private var notes: [String: DeviceNote] = [:]

  /// What the log has been told of a device.
  private struct DeviceNote {
    /// Whether its last fixes were passed over.
    var isPassing = false
    /// Of its last fix that was taken and had one.
    var time: Instant?
  }

  init(_ plan: RunPlan) {
    self.plan = plan
    monitor = plan.monitor
  }

  mutating func takeMonitor() -> (any FixMonitor)? {
    defer { monitor = nil }
    return monitor
  }

  mutating func takeLeft() -> [Fix] {
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
    if run.isResumed { self.monitor?.resume(stored.state) }
    for (device, id) in stored.tracks {
      tracks[device] = try TrackTables(sql: sql).open(id, device: device)
    }
    sequence = try DetectionTable(sql: sql, run: run.id).nextSequence()
    for device in stored.state.devices {
      notes[device.device] = DeviceNote(time: device.time)
    }
    if plan.isReplay { taken = TakenFixes(of: run, stored.state) }
    self.run = run
  }

  // MARK: Fixes

  /// Takes the fixes of one transaction.
  mutating func take(
    _ fixes: [Fix], in sql: TransactionStatements, at now: Instant
  ) throws(FieldpackError) -> RecordedStep {
    guard var run, var monitor = takeMonitor() else {
      throw FieldpackError(.unavailable, "the run has not begun")
    }
    defer { self.monitor = monitor }
    let start = run
    // Before anything else: another start of the run may have stored the same points.
    var advanced = try RunTables(sql: sql).advance(start, by: fixes)
    var before = KnownDevices()
    var step = RecordedStep(fixes: 0, detections: [], points: [])
    for fix in fixes where step.detections.count < Detections.limit {
      before.note(fix.device, of: monitor)
      let seen = step.detections.count
      monitor.take(fix, number: run.fixes, into: &step.detections)
      if step.detections.count > seen, let method = plan.method {
        try add(fix, method, run, to: &step, in: sql, at: now)
      }
      try note(fix, monitor.state(of: fix.device), run, in: sql, at: now)
      run.fixes += 1
    }
    step.fixes = run.fixes
    let count = run.fixes - start.fixes
    if count < fixes.count {
      advanced = try RunTables(sql: sql).advance(start, by: fixes[..<count])
      left = Array(fixes[count...])
    }
    run.digest = advanced.digest
    if plan.method == nil {
      let fixAt = { (detection: Detection) in fixes[detection.fix - start.fixes].position }
      try DetectionTable(sql: sql, run: run.id).store(
        step.detections, from: sequence, at: fixAt)
      sequence += step.detections.count
    }
    try finishTracks(of: before, in: sql)
    try store(monitor, before, run, in: sql)
    self.run = run
    return step
  }

  private mutating func add(
    _ fix: Fix, _ method: RecordingMethod, _ run: StoredRun, to step: inout RecordedStep,
    in sql: TransactionStatements, at now: Instant
  ) throws(FieldpackError) {
    let tables = TrackTables(sql: sql)
    var track: OpenTrack
    if let known = tracks.removeValue(forKey: fix.device) {
      track = known
    } else {
      track = try tables.create(
        method, name: plan.name, device: fix.device, at: fix.time ?? now)
    }
    defer { tracks[fix.device] = track }
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
    _ fix: Fix, _ state: DeviceState?, _ run: StoredRun, in sql: TransactionStatements,
    at now: Instant
  ) throws(FieldpackError) {
    var note = notes[fix.device] ?? DeviceNote()
    let isPassedOver = state?.fix != run.fixes
    var message: String?
    if isPassedOver {
      if !note.isPassing { message = "passed over: late, not on Earth, or not accurate enough" }
    } else {
      if let last = note.time, let time = fix.time, time < last {
        message = "three late fixes in order: goes on from their time, which is before \(last)"
      }
      note.time = fix.time ?? note.time
    }
    note.isPassing = isPassedOver
    notes[fix.device] = note
    guard let message else { return }
    try RunTables(sql: sql).log(
      run, .warning, message, fix: run.fixes, device: fix.device, at: now)
  }

  private mutating func finishTracks(
    of seen: KnownDevices, in sql: TransactionStatements
  ) throws(FieldpackError) {
    for (device, _) in seen.devices {
      guard var track = tracks.removeValue(forKey: device) else { continue }
      defer { tracks[device] = track }
      try TrackTables(sql: sql).finish(&track)
    }
  }

  /// Stores what is known of the devices whose fixes were taken.
  private func store(
    _ monitor: any FixMonitor, _ before: KnownDevices, _ run: StoredRun,
    in sql: TransactionStatements
  ) throws(FieldpackError) {
    let tables = StateTables(sql: sql, run: run.id)
    for (device, old) in before.devices {
      guard let state = monitor.state(of: device), state != old else { continue }
      try tables.store(
        state, stays: state.stays != old?.stays ?? [], track: tracks[device]?.id)
    }
    try sql.changed(FieldData.state)
  }
}

/// What was known of devices before the first of their fixes in a batch, in the order of these.
private struct KnownDevices {
  private(set) var devices: [(device: String, state: DeviceState?)] = []
  private var seen: Set<String> = []

  mutating func note(_ device: String, of monitor: any FixMonitor) {
    guard seen.insert(device).inserted else { return }
    devices.append((device, monitor.state(of: device)))
  }
}
