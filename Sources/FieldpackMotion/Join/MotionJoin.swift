public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// The result of joining sessions to a path, session by session.
public struct MotionJoinReport: Hashable, Sendable {
  public struct Session: Hashable, Sendable {
    /// The session's id.
    public var id: String
    public var samples: Int
    /// How many of them have a position now.
    public var placed: Int

    public init(id: String, samples: Int, placed: Int) {
      self.id = id
      self.samples = samples
      self.placed = placed
    }
  }

  public var sessions: [Session]

  public init(sessions: [Session] = []) { self.sessions = sessions }
}

extension MotionJoinReport: CustomStringConvertible {
  /// `110 of 120 samples placed in 1 session`.
  public var description: String {
    let samples = sessions.reduce(0) { $0 + $1.samples }
    let placed = sessions.reduce(0) { $0 + $1.placed }
    return "\(placed) of \(samples.counting("sample")) placed in "
      + sessions.count.counting("session")
  }
}

extension GeoPackageStore {
  /// Makes features of samples by placing each on the path at its time.
  ///
  /// `motion_point` gets a point with the twelve channels for each sample that has a position, its
  /// M the time, and `motion_track` a line through the points of a session where there are two or
  /// more. Other samples stay rows of `daco_sample`. Features of an earlier join of a session are
  /// replaced; all is one transaction.
  /// - Parameters:
  ///   - sessions: ids; all sessions of the file where there are none.
  ///   - gap: a sample gets no position between points of the path that are more seconds apart than
  ///     this; 0 or more.
  /// - Throws: `.notFound` for a session that is not there.
  public func joinMotion(
    to path: TimedPath, sessions: [String] = [], maximumGap gap: Double = 10
  ) async throws(FieldpackError) -> MotionJoinReport {
    guard gap >= 0 else {
      throw FieldpackError(.invalidArgument, "the greatest gap is 0 seconds or more")
    }
    let known = try await motionSessions()
    let chosen = try sessions.isEmpty ? known : Self.named(sessions, among: known)
    return try await write { (writer) throws(FieldpackError) in
      try MotionLayers.received.prepare(in: writer)
      try MotionLayers.joined.prepare(in: writer)
      var report = MotionJoinReport()
      for session in chosen {
        try MotionJoin.remove(session, writer)
        var join = MotionJoin(writer: writer, path: path, gap: gap, session: session)
        report.sessions.append(try join.run())
      }
      return report
    }
  }

  private static func named(
    _ ids: [String], among known: [StoredMotionSession]
  ) throws(FieldpackError) -> [StoredMotionSession] {
    var found: [StoredMotionSession] = []
    for id in ids {
      guard let session = known.first(where: { $0.session.id == id }) else {
        let names = known.map(\.session.id).joined(separator: ", ")
        throw FieldpackError(
          .notFound, "there is no session '\(id)' (there are: \(names))",
          location: .init(layer: MotionLayers.session))
      }
      if !found.contains(session) { found.append(session) }
    }
    return found
  }
}

/// The join of one session.
private struct MotionJoin {
  /// After so many samples it is asked whether to go on.
  private static let cancellationStep = 4096

  let writer: GeoPackageWriter
  let path: TimedPath
  let gap: Double
  let session: StoredMotionSession
  private var line: [Position] = []
  private var envelope = Envelope.empty
  private var samples = 0

  init(writer: GeoPackageWriter, path: TimedPath, gap: Double, session: StoredMotionSession) {
    self.writer = writer
    self.path = path
    self.gap = gap
    self.session = session
  }

  /// Takes away what an earlier join made, row by row so that the extents get smaller.
  static func remove(
    _ session: StoredMotionSession, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    for layer in [MotionLayers.point, MotionLayers.track] {
      let rows = try writer.rows(
        "SELECT fid FROM \(layer) WHERE session_id = ?", [.integer(session.row)])
      for row in rows {
        guard let id = row[0].int else { continue }
        try writer.delete(.integer(Int64(id)), in: layer)
      }
    }
  }

  mutating func run() throws(FieldpackError) -> MotionJoinReport.Session {
    for sample in try sortedSamples() {
      if samples % Self.cancellationStep == 0, Task.isCancelled {
        throw FieldpackError(.interrupted, "interrupted")
      }
      samples += 1
      try place(sample.id, at: sample.time)
    }
    if !line.isEmpty { try writer.changed(MotionLayers.point, growing: envelope) }
    if line.count > 1 { try insertLine() }
    return .init(id: session.session.id, samples: samples, placed: line.count)
  }

  /// The samples by time, sorted once: by pages that would cost the square of their number.
  private func sortedSamples() throws(FieldpackError) -> [(time: Double, id: Int64)] {
    let statement = try writer.prepare(
      "SELECT s.t_unix, s.id FROM daco_batch b JOIN daco_sample s ON s.batch_id = b.id "
        + "WHERE b.session_id = ? ORDER BY s.t_unix, s.id")
    defer { statement.reset() }
    try statement.bind(session.row, at: 1)
    var samples: [(time: Double, id: Int64)] = []
    while try statement.step() {
      guard let time = statement.row.value(0).double else { continue }
      samples.append((time, statement.row.integer(1)))
    }
    return samples
  }

  private mutating func place(_ sample: Int64, at time: Double) throws(FieldpackError) {
    guard let position = path.position(at: time, maximumGap: gap) else { return }
    var blob: [UInt8] = []
    GeoPackageBinary.append(
      .point(position, .xym), srsID: 4326, to: &blob)
    try writer.execute(
      Self.pointSQL,
      [
        .blob(blob), .integer(session.row), .text(Instant(nearestTo: time).description),
        .integer(sample),
      ])
    line.append(position)
    envelope.extend(x: position.x, y: position.y)
  }

  private static let pointSQL =
    "INSERT INTO motion_point "
    + "(geom, session_id, sample_id, time, t_unix, \(MotionTables.channels)) "
    + "SELECT ?1, ?2, id, ?3, t_unix, \(MotionTables.channels) FROM daco_sample WHERE id = ?4"

  private func insertLine() throws(FieldpackError) {
    var blob: [UInt8] = []
    GeoPackageBinary.append(
      .lineString(CoordinateSequence(line, dimensions: .xym)), srsID: 4326, to: &blob)
    let name = session.session.device.name
    try writer.execute(
      "INSERT INTO motion_track (geom, session_id, name, started_at, stopped_at, point_count) "
        + "VALUES (?, ?, ?, ?, ?, ?)",
      [
        .blob(blob), .integer(session.row), .text(name.isEmpty ? session.session.id : name),
        .text(moment(line.first)), .text(moment(line.last)), .integer(Int64(line.count)),
      ])
    try writer.changed(MotionLayers.track, growing: envelope)
  }

  private func moment(_ position: Position?) -> String {
    Instant(nearestTo: position?.m ?? 0).description
  }
}
