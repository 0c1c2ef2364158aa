import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackProjection
import FieldpackSQLite

/// A track that points are added to.
struct OpenTrack: Sendable {
  var id: Int64
  var device: String
  /// How many points the file has, and the number of the last.
  var pointCount: Int
  var sequence: Int
  var length: Double
  /// The last point; `nil` before the first.
  var position: Position?
  var placeID: String?
  /// Points that the line does not have yet.
  var pending: [Position] = []
  /// Where the points are that were added since the row was brought up to date.
  var grown = Envelope.empty
  /// Whether the last fixes were dropped because they are where the last point is.
  var isStanding = false
}

/// `track` and `track_point`, in one transaction.
struct TrackTables {
  let writer: GeoPackageWriter

  // MARK: Tracks

  func create(
    _ sampling: Sampling, name: String, device: String, at start: Instant
  ) throws(FieldpackError) -> OpenTrack {
    try writer.execute(
      "INSERT INTO track (ordinal, monitor, threshold_m, started_at, name, device) VALUES "
        + "((SELECT coalesce(max(ordinal), 0) + 1 FROM track), ?, ?, ?, ?, ?)",
      [
        .text(sampling.monitor.rawValue), .real(sampling.threshold), .text(start.description),
        .text(name), device.isEmpty ? .null : .text(device),
      ])
    try writer.changed(FieldData.track)
    return OpenTrack(
      id: writer.connection.lastInsertRowID, device: device, pointCount: 0, sequence: 0, length: 0)
  }

  /// The track as the file has it; `nil` where it is gone.
  func open(_ id: Int64, device: String) throws(FieldpackError) -> OpenTrack? {
    guard
      let row = try writer.rows("SELECT length_m FROM track WHERE fid = ?", [.integer(id)]).first
    else { return nil }
    try writer.execute("UPDATE track SET stopped_at = NULL WHERE fid = ?", [.integer(id)])
    try completeLine(of: id)
    try writer.changed(FieldData.track)
    var track = OpenTrack(
      id: id, device: device, pointCount: 0, sequence: 0, length: row[0].double ?? 0)
    track.pointCount =
      try writer.rows("SELECT count(*) FROM track_point WHERE track_fid = ?", [.integer(id)])
      .first?[0].int ?? 0
    let last = try writer.rows(
      "SELECT seq, id_md5, ST_MinX(geom), ST_MinY(geom) FROM track_point WHERE track_fid = ? "
        + "ORDER BY seq DESC LIMIT 1", [.integer(id)])
    guard let last = last.first else { return track }
    track.sequence = last[0].int ?? 0
    guard track.sequence < .max else {
      throw FieldpackError(
        .invalidData,
        "a point of track \(id) has the number \(track.sequence), after which there is none. Try: "
          + "give it the number after the point before",
        location: .init(layer: FieldData.trackPoint))
    }
    track.placeID = last[1].string
    if let x = last[2].double, let y = last[3].double { track.position = Position(x: x, y: y) }
    return track
  }

  // MARK: Points

  /// Adds a point; `nil` where the one before has the same id.
  ///
  /// The line and the length follow in ``finish(_:)``.
  func add(
    _ fix: Fix, number: Int, to track: inout OpenTrack, at now: Instant
  ) throws(FieldpackError) -> TrackPoint? {
    let placeID = PlaceID.md5(latitude: fix.latitude, longitude: fix.longitude)
    guard placeID != track.placeID else { return nil }
    track.sequence += 1
    track.pointCount += 1
    var point = TrackPoint(
      id: 0, track: track.id, sequence: track.sequence, longitude: fix.longitude,
      latitude: fix.latitude, elevation: fix.elevation, time: fix.time ?? now, placeID: placeID,
      accuracy: fix.accuracy, course: fix.course, speed: fix.speed, fix: number,
      photoState: "pending")
    do throws(FieldpackError) {
      point.id = try insert(point)
    } catch {
      guard error.code == .constraint, try isGone(track.id) else { throw error }
      throw .deletedTrack(track.id, cause: error)
    }
    if let last = track.position {
      track.length += Geodesic.wgs84.distance(from: last, to: fix.position)
    }
    track.placeID = placeID
    track.position = fix.position
    track.pending.append(fix.position)
    track.grown.formUnion(Envelope(of: fix.position))
    return point
  }

  private func isGone(_ track: Int64) throws(FieldpackError) -> Bool {
    try writer.rows("SELECT 1 FROM track WHERE fid = ?", [.integer(track)]).isEmpty
  }

  private func insert(_ point: TrackPoint) throws(FieldpackError) -> Int64 {
    var points = try RowWriter(Self.pointSQL, in: FieldData.trackPoint, writer)
    try points.add(PointBlob.bytes(point.longitude, point.latitude))
    try points.add(point.track)
    try points.add(point.sequence)
    try points.add(point.time?.description)
    try points.add(point.time?.unixSeconds)
    try points.add(point.placeID)
    try points.add(point.elevation)
    try points.add(point.accuracy)
    try points.add(point.course)
    try points.add(point.speed)
    try points.add(point.fix)
    return try points.insert()
  }

  private static let pointSQL = RowWriter.insertion(
    into: FieldData.trackPoint,
    [
      "geom", "track_fid", "seq", "time", "time_unix", "id_md5", "ele_m", "accuracy_m",
      "course_deg", "speed_mps", "fix",
    ])

  // MARK: Lines

  /// A line is written anew once so many of it would be new: one in ten.
  private static let share = 10

  /// Gives the track's row the length that its points make, and the line once they have grown by a
  /// tenth: written at each of n transactions it would take n² / 2 vertices, so it takes 11 n.
  func finish(_ track: inout OpenTrack) throws(FieldpackError) {
    guard !track.grown.isEmpty else { return }
    var lengths = try RowWriter(
      "UPDATE track SET length_m = ? WHERE fid = ?", in: FieldData.track, writer)
    try lengths.add(track.length)
    try lengths.add(track.id)
    try lengths.run()
    if track.pending.count * Self.share >= track.pointCount - track.pending.count,
      let line = try line(of: track)
    {
      try write(line, of: track.id)
      track.pending = []
    }
    try writer.changed(FieldData.track)
    try writer.changed(FieldData.trackPoint, growing: track.grown)
    track.grown = .empty
  }

  /// Gives the track's row the line through all of its points, where it has another.
  func completeLine(of id: Int64) throws(FieldpackError) {
    let count = try writer.rows(
      "SELECT count(*) FROM track_point WHERE track_fid = ?", [.integer(id)])
    let stored = try writer.rows("SELECT geom FROM track WHERE fid = ?", [.integer(id)])
    if case .blob(let blob)? = stored.first?[0],
      TrackLine(blob: blob, count: count.first?[0].int ?? 0) != nil
    {
      return
    }
    if let line = try line(throughPointsOf: id) { try write(line, of: id) }
  }

  private func write(_ line: TrackLine, of id: Int64) throws(FieldpackError) {
    var lines = try RowWriter(
      "UPDATE track SET geom = ? WHERE fid = ?", in: FieldData.track, writer)
    try lines.add(line.blob)
    try lines.add(id)
    try lines.run()
    try writer.changed(FieldData.track, growing: line.envelope)
  }

  /// `nil` before there are two points.
  private func line(of track: OpenTrack) throws(FieldpackError) -> TrackLine? {
    guard track.pointCount >= 2 else { return nil }
    if track.pending.count == track.pointCount { return TrackLine(track.pending, srsID: 4326) }
    let stored = try writer.rows("SELECT geom FROM track WHERE fid = ?", [.integer(track.id)])
    if case .blob(let blob)? = stored.first?[0],
      var line = TrackLine(blob: blob, count: track.pointCount - track.pending.count)
    {
      line.append(track.pending)
      return line
    }
    // One point so far, or somebody else changed the line.
    return try line(throughPointsOf: track.id)
  }

  /// `nil` for less than two points.
  private func line(throughPointsOf id: Int64) throws(FieldpackError) -> TrackLine? {
    let points = try writer.rows(
      "SELECT ST_MinX(geom), ST_MinY(geom) FROM track_point WHERE track_fid = ? ORDER BY seq",
      [.integer(id)])
    let positions = points.compactMap { row in
      row[0].double.flatMap { x in row[1].double.map { Position(x: x, y: $0) } }
    }
    return positions.count < 2 ? nil : TrackLine(positions, srsID: 4326)
  }
}

extension FieldpackError {
  /// - Parameter cause: what SQLite says of a row that names the track.
  fileprivate static func deletedTrack(_ id: Int64, cause: FieldpackError) -> FieldpackError {
    FieldpackError(
      .notFound,
      "track \(id) was deleted while it was recorded. Try: start the recording again, which begins a "
        + "new track",
      location: .init(layer: FieldData.track, feature: .integer(id)), underlying: cause)
  }
}
