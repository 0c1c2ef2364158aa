import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// How far a run has come: its row, its monitor, its tracks.
struct RunProgress: Sendable {
  private(set) var run: StoredRun?
  /// `nil` while somebody else has it.
  var monitor: (any FixMonitor)?
  private let plan: RunPlan
  private var skipped = 0
  private var sequence = 1
  private var tracks: [String: OpenTrack] = [:]
  /// Whether the last fixes were passed over.
  private var isPassing = false

  init(_ plan: RunPlan) {
    self.plan = plan
    monitor = plan.monitor
  }

  mutating func takeMonitor() -> (any FixMonitor)? {
    defer { monitor = nil }
    return monitor
  }

  /// The fixes of a batch that the run has not taken yet.
  mutating func fresh(_ updates: [LocationUpdate]) -> [Fix] {
    var fixes: [Fix] = []
    fixes.reserveCapacity(updates.count)
    for case .fix(let fix) in updates {
      if skipped > 0 { skipped -= 1 } else { fixes.append(fix) }
    }
    return fixes
  }

  // MARK: Begin

  mutating func begin(in sql: TransactionStatements, at now: Instant) throws(FieldpackError) {
    guard let monitor else { return }
    let run = try RunTables(sql: sql).begin(
      plan.name, plan.kind, parameters: monitor.parameters, source: plan.sourceName, at: now)
    let stored = try StateTables(sql: sql, run: run.id).read()
    if run.isResumed { self.monitor?.resume(stored.state) }
    for (device, id) in stored.tracks {
      tracks[device] = try TrackTables(sql: sql).open(id, device: device)
    }
    sequence = try DetectionTable(sql: sql, run: run.id).nextSequence()
    skipped = plan.isReplay ? run.fixes : 0
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
    let first = run.fixes
    // Before anything else: another start of the run may have stored the same points.
    try RunTables(sql: sql).advance(run, by: fixes.count)
    var before = KnownDevices()
    var step = RecordedStep(fixes: 0, detections: [], points: [])
    for fix in fixes {
      before.note(fix.device, of: monitor)
      let seen = step.detections.count
      monitor.take(fix, number: run.fixes, into: &step.detections)
      if step.detections.count > seen, let method = plan.method {
        try add(fix, method, run, to: &step, in: sql, at: now)
      }
      let isPassedOver = monitor.state(of: fix.device)?.fix != run.fixes
      if isPassedOver, !isPassing {
        try RunTables(sql: sql).log(
          run, .warning, "passed over: late, not on Earth, or not accurate enough",
          fix: run.fixes, device: fix.device, at: now)
      }
      isPassing = isPassedOver
      run.fixes += 1
    }
    step.fixes = run.fixes
    if plan.method == nil {
      let fixAt = { (detection: Detection) in fixes[detection.fix - first].position }
      try DetectionTable(sql: sql, run: run.id).store(
        step.detections, from: sequence, at: fixAt)
      sequence += step.detections.count
    }
    try finishTracks(in: sql)
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

  private mutating func finishTracks(in sql: TransactionStatements) throws(FieldpackError) {
    for device in tracks.keys {
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
