import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring

/// The half of a run that stores what ``RunWatch`` saw: its row, its detections, its tracks.
struct RunRecord: Sendable {
  /// As it is stored.
  private(set) var run: StoredRun
  private let plan: RunPlan
  /// Of the next detection.
  private var sequence: Int
  /// The rows of `monitor_state` of the devices, by their index in ``RunWatch``; `nil` where there is
  /// none yet.
  private var rows: [DeviceRow?] = []
  /// By the index of their device, as the rows.
  private var tracks: [Int: OpenTrack] = [:]

  /// Begins the run in the file, or goes on with it.
  ///
  /// - Returns: what the file knows of the devices, too.
  static func begin(
    _ plan: RunPlan, in writer: GeoPackageWriter, at now: Instant
  ) throws(FieldpackError) -> (RunRecord, known: [DeviceState]) {
    let run = try RunTables(writer: writer).begin(
      plan.name, plan.kind, parameters: plan.parameters, source: plan.sourceName,
      isReplay: plan.isReplay, at: now)
    let known = try StateTables(writer: writer, run: run.id).read()
    var record = RunRecord(
      run: run, plan: plan,
      sequence: try DetectionTable(writer: writer, run: run.id).nextSequence())
    for (device, row) in known.enumerated() {
      record.rows.append(row.id.map { DeviceRow(id: $0, track: row.track) })
      guard let track = row.track else { continue }
      record.tracks[device] = try TrackTables(writer: writer).open(track, device: row.state.device)
    }
    return (record, known.map(\.state))
  }

  /// Stores what was seen in the fixes of one transaction.
  ///
  /// - Throws: the failure ``FieldpackLocation/LocationFailure/aborted`` where another start took the run over.
  mutating func store(
    _ watched: WatchedFixes, in writer: GeoPackageWriter, at now: Instant
  ) throws(FieldpackError) -> RecordedStep {
    var after = run
    after.fixes = watched.first + watched.count
    after.digest = watched.digest
    // Before anything else: another start of the run may have stored the same points.
    try RunTables(writer: writer).advance(to: after)
    var step = RecordedStep(fixes: after.fixes, detections: watched.detections, points: [])
    if let sampling = plan.sampling {
      try storePoints(watched, sampling, to: &step, in: writer, at: now)
    } else {
      try log(watched.notes[...], in: writer, at: now)
      try DetectionTable(writer: writer, run: run.id).store(
        watched.detections, from: sequence, at: watched.positions)
      sequence += watched.detections.count
    }
    try store(watched.moved, in: writer)
    run = after
    return step
  }

  // MARK: Points

  /// Makes points of the fixes that were detected; the log is told of all fixes in their order.
  private mutating func storePoints(
    _ watched: WatchedFixes, _ sampling: Sampling, to step: inout RecordedStep,
    in writer: GeoPackageWriter, at now: Instant
  ) throws(FieldpackError) {
    var notes = watched.notes[...]
    for seen in watched.seen {
      let earlier = notes.prefix { $0.number < seen.number }
      try log(earlier, in: writer, at: now)
      notes = notes.dropFirst(earlier.count)
      try add(seen, sampling, to: &step, in: writer, at: now)
    }
    try log(notes, in: writer, at: now)
    for seen in watched.seen {
      guard var track = tracks.removeValue(forKey: seen.device) else { continue }
      defer { tracks[seen.device] = track }
      try TrackTables(writer: writer).finish(&track)
    }
  }

  private mutating func add(
    _ seen: WatchedFixes.Seen, _ sampling: Sampling, to step: inout RecordedStep,
    in writer: GeoPackageWriter, at now: Instant
  ) throws(FieldpackError) {
    let (tables, fix) = (TrackTables(writer: writer), seen.fix)
    var track: OpenTrack
    if let known = tracks.removeValue(forKey: seen.device) {
      track = known
    } else {
      track = try tables.create(
        sampling, name: plan.name, device: fix.device, at: fix.time ?? now)
    }
    defer { tracks[seen.device] = track }
    if let point = try tables.add(fix, number: seen.number, to: &track, at: now) {
      step.points.append(point)
      track.isStanding = false
      try plan.afterPoint?(point, writer)
    } else if !track.isStanding {
      track.isStanding = true
      try RunTables(writer: writer).log(
        run, .info, "dropped: at the place of the point before", fix: seen.number,
        device: fix.device, at: now)
    }
  }

  private func log(
    _ notes: ArraySlice<WatchedFixes.Note>, in writer: GeoPackageWriter, at now: Instant
  ) throws(FieldpackError) {
    for note in notes {
      try RunTables(writer: writer).log(
        run, .warning, note.message, fix: note.number, device: note.device,
        at: now)
    }
  }

  // MARK: Devices

  /// Stores what is known of the devices.
  private mutating func store(
    _ moved: [WatchedFixes.Moved], in writer: GeoPackageWriter
  ) throws(FieldpackError) {
    if let last = moved.map(\.device).max(), last >= rows.count {
      rows += Array(repeating: nil, count: last + 1 - rows.count)
    }
    var states = moved.map { change in
      let (row, track) = (rows[change.device], tracks[change.device]?.id)
      return StateRow(
        id: row?.track == track ? row?.id : nil, state: change.state, track: track,
        hasOtherStays: change.hasOtherStays)
    }
    try StateTables(writer: writer, run: run.id).store(&states)
    for (change, state) in zip(moved, states) {
      rows[change.device] = state.id.map { DeviceRow(id: $0, track: state.track) }
    }
    try writer.changed(FieldData.state)
  }
}

/// What the file has of a device.
private struct DeviceRow: Sendable {
  let id: Int64
  let track: Int64?
}
