import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackSQLite

/// One recording or monitoring run as the file has it.
struct StoredRun: Sendable {
  enum Kind: String, Sendable { case track, monitor }
  enum State: String, Sendable { case running, ended, interrupted, aborted, failed }

  var id: Int64
  var name: String
  /// How many fixes of the source were taken, over all times it was read.
  var fixes: Int
  /// Of these; `nil` where the run began in a file of an older version.
  var digest: FixesDigest?
  /// Which start of the run this is: a later one takes the run over.
  var generation: Int64
  /// Whether there was such a run before.
  var isResumed: Bool
}

/// `monitor_run` and `track_log`, in one transaction.
struct RunTables {
  let writer: GeoPackageWriter

  /// Begins a run, or goes on with the one of that name.
  ///
  /// - Parameter isReplay: whether the fixes that the run took before come again.
  /// - Throws: `.invalidArgument` where the run of that name does something else, or took other fixes
  ///   than those that come again.
  func begin(
    _ name: String, _ kind: StoredRun.Kind, parameters: String, source: String?, isReplay: Bool,
    at now: Instant
  ) throws(FieldpackError) -> StoredRun {
    let found = try writer.rows(
      "SELECT id, kind, parameters, fixes, generation, state, source, fixes_digest "
        + "FROM monitor_run WHERE name = ?",
      [.text(name)]
    ).first
    guard let found else {
      return try create(name, kind, parameters: parameters, source: source, at: now)
    }
    guard case .integer(let id) = found[0], case .integer(let fixes) = found[3],
      case .integer(let generation) = found[4], fixes >= 0, generation < .max
    else { throw damaged(name) }
    guard found[1] == .text(kind.rawValue) else {
      throw FieldpackError(
        .invalidArgument,
        "'\(name)' is a run of another kind in this file. Try: another name",
        location: .init(layer: FieldData.run))
    }
    guard found[2] == .text(parameters) else { throw other(name, found[2], parameters) }
    if isReplay, fixes > 0, let source, case .text(let before) = found[6], before != source {
      throw FieldpackError(
        .invalidArgument,
        "the run '\(name)' took \(fixes) fixes from '\(before)' and cannot skip as many of "
          + "'\(source)'. Try: '\(before)', or another name",
        location: .init(layer: FieldData.run))
    }
    try writer.execute(
      "UPDATE monitor_run SET generation = ?, state = 'running', stopped_at = NULL, "
        + "source = coalesce(?, source) WHERE id = ?",
      [.integer(generation + 1), source.map(SQLiteValue.text) ?? .null, .integer(id)])
    let digest: FixesDigest? =
      if case .integer(let bits) = found[7] {
        FixesDigest(bits: UInt64(bitPattern: bits))
      } else {
        fixes == 0 ? FixesDigest() : nil
      }
    let run = StoredRun(
      id: id, name: name, fixes: Int(fixes), digest: digest, generation: generation + 1,
      isResumed: true)
    let wasRunning = found[5] == .text(StoredRun.State.running.rawValue)
    try log(
      run, .info,
      "resumed after \(fixes) fixes" + (wasRunning ? "; the start before had not ended" : ""),
      at: now)
    return run
  }

  private func create(
    _ name: String, _ kind: StoredRun.Kind, parameters: String, source: String?, at now: Instant
  ) throws(FieldpackError) -> StoredRun {
    try writer.execute(
      "INSERT INTO monitor_run (name, kind, parameters, source, state, started_at) "
        + "VALUES (?, ?, ?, ?, 'running', ?)",
      [
        .text(name), .text(kind.rawValue), .text(parameters),
        source.map(SQLiteValue.text) ?? .null, .text(now.description),
      ])
    let run = StoredRun(
      id: writer.connection.lastInsertRowID, name: name, fixes: 0, digest: FixesDigest(),
      generation: 0, isResumed: false)
    try log(run, .info, "started: \(parameters)", at: now)
    return run
  }

  private func other(
    _ name: String, _ stored: SQLiteValue, _ wanted: String
  ) -> FieldpackError {
    let text = if case .text(let text) = stored { text } else { "nothing that can be read" }
    return FieldpackError(
      .invalidArgument,
      "the run '\(name)' was recorded with '\(text)' and cannot go on with '\(wanted)'. Try: the same "
        + "parameters, or another name", location: .init(layer: FieldData.run))
  }

  private func damaged(_ name: String) -> FieldpackError {
    FieldpackError(
      .invalidData, "the row of the run '\(name)' has values of the wrong type",
      location: .init(layer: FieldData.run))
  }

  /// Stores how many fixes a run has taken, and their digest.
  ///
  /// - Throws: the failure ``FieldpackLocation/LocationFailure/aborted`` where another start took the run over.
  func advance(to run: StoredRun) throws(FieldpackError) {
    let statement = try writer.prepare(
      "UPDATE monitor_run SET fixes = ?1, fixes_digest = ?4 WHERE id = ?2 AND generation = ?3",
      in: FieldData.run)
    try statement.bind(run.fixes, at: 1)
    try statement.bind(run.id, at: 2)
    try statement.bind(run.generation, at: 3)
    try statement.bind(run.digest.map { Int64(bitPattern: $0.bits) }, at: 4)
    try statement.run()
    guard writer.connection.changes == 1 else { throw .takenOver(run.name) }
    try writer.changed(FieldData.run)
  }

  /// Ends a run, and completes the lines of its tracks; one that another start took over stays as it is.
  func end(
    _ run: StoredRun, as state: StoredRun.State, _ message: String, at now: Instant
  ) throws(FieldpackError) {
    try writer.execute(
      "UPDATE monitor_run SET state = ?, stopped_at = ? WHERE id = ? AND generation = ?",
      [
        .text(state.rawValue), .text(now.description), .integer(run.id), .integer(run.generation),
      ])
    guard writer.connection.changes == 1 else { return }
    try stopTracks(of: run, at: now)
    try writer.changed(FieldData.run)
    try writer.changed(FieldData.track)
    try log(run, state == .failed ? .error : .info, message, at: now)
  }

  /// Completes the lines of the run's tracks; a track stops at the time of its device's last fix, and now only where none had one.
  private func stopTracks(of run: StoredRun, at now: Instant) throws(FieldpackError) {
    let tracks = try writer.rows(
      "SELECT track_fid, time_ms FROM monitor_state WHERE run_id = ? AND track_fid IS NOT NULL",
      [.integer(run.id)])
    for row in tracks {
      guard case .integer(let track) = row[0] else { continue }
      try TrackTables(writer: writer).completeLine(of: track)
      try writer.execute(
        "UPDATE track SET stopped_at = ? WHERE fid = ?",
        [.text((row[1].instant ?? now).description), .integer(track)])
    }
  }

  func log(
    _ run: StoredRun, _ level: TrackLogEntry.Level, _ message: String, fix: Int? = nil,
    device: String? = nil, at now: Instant
  ) throws(FieldpackError) {
    try writer.execute(
      "INSERT INTO track_log (run_id, time, level, message, fix, device) VALUES (?, ?, ?, ?, ?, ?)",
      [
        .integer(run.id), .text(now.description), .text(level.rawValue), .text(message),
        fix.map { .integer(Int64($0)) } ?? .null, device.map(SQLiteValue.text) ?? .null,
      ])
    try writer.changed(FieldData.log)
  }
}

extension FieldpackError {
  static func takenOver(_ run: String) -> FieldpackError {
    FieldpackError(.aborted, "another recording goes on with the run '\(run)'")
  }
}
