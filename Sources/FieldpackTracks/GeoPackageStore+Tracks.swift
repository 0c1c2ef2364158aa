public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
public import FieldpackMonitoring
import FieldpackSQLite

/// What recordings and monitors left in a GeoPackage, of this version of the layers and those before.
extension GeoPackageStore {
  /// The tracks of the file in the order they were begun; none where it has no such layer.
  public func tracks() async throws(FieldpackError) -> [RecordedTrack] {
    try await read { (snapshot) throws(FieldpackError) in
      guard let columns = try TrackColumns(FieldData.track, in: snapshot) else { return [] }
      return try snapshot.rows(
        "SELECT fid, ordinal, \(columns["name"]), \(columns["device"]), monitor, threshold_m, "
          + "started_at, stopped_at, length_m, "
          + "(SELECT count(*) FROM track_point WHERE track_fid = t.fid) FROM track t ORDER BY fid"
      ).map { row in
        RecordedTrack(
          id: Int64(row[0].int ?? 0), ordinal: row[1].int ?? 0, name: row[2].string,
          device: row[3].string, monitor: row[4].string.flatMap { .init(rawValue: $0) },
          threshold: row[5].double ?? 0, startedAt: row[6].string.flatMap { Instant($0) },
          stoppedAt: row[7].string.flatMap { Instant($0) }, length: row[8].double ?? 0,
          pointCount: row[9].int ?? 0)
      }
    }
  }

  /// The points of one track in its order.
  public func points(ofTrack track: Int64) async throws(FieldpackError) -> [TrackPoint] {
    try await points("WHERE track_fid = ? ORDER BY seq", [.integer(track)])
  }

  /// The points of all tracks, the last one first.
  public func feed(limit: Int? = nil) async throws(FieldpackError) -> [TrackPoint] {
    try await points(
      "ORDER BY time_unix DESC, fid DESC LIMIT ?", [.integer(Int64(limit ?? -1))])
  }

  private func points(
    _ clause: String, _ values: [SQLiteValue]
  ) async throws(FieldpackError) -> [TrackPoint] {
    try await read { (snapshot) throws(FieldpackError) in
      guard let columns = try TrackColumns(FieldData.trackPoint, in: snapshot) else { return [] }
      let newer = ["accuracy_m", "course_deg", "speed_mps", "fix"].map { columns[$0] }
      var points: [TrackPoint] = []
      try snapshot.each(
        "SELECT fid, track_fid, seq, ST_MinX(geom), ST_MinY(geom), ele_m, time, id_md5, "
          + "photo_state, \(newer.joined(separator: ", ")) FROM track_point \(clause)", values
      ) { (row) throws(FieldpackError) in points.append(TrackPoint(row: row)) }
      return points
    }
  }

  /// What happened in the runs of the file, in the order it was noted.
  ///
  /// - Parameter id: the entries after the one of this id only.
  public func trackLog(
    after id: Int64 = 0
  ) async throws(FieldpackError) -> [TrackLogEntry] {
    try await read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasTable(FieldData.log.rawValue) else { return [] }
      return try snapshot.rows(
        "SELECT l.id, r.name, l.time, l.level, l.message, l.fix, l.device FROM track_log l "
          + "JOIN monitor_run r ON r.id = l.run_id WHERE l.id > ? ORDER BY l.id", [.integer(id)]
      ).map { row in
        TrackLogEntry(
          id: Int64(row[0].int ?? 0), run: row[1].string ?? "",
          time: row[2].string.flatMap { Instant($0) },
          level: row[3].string.flatMap { .init(rawValue: $0) }, message: row[4].string ?? "",
          fix: row[5].int, device: row[6].string)
      }
    }
  }

  /// The names of the file's recording and monitoring runs, in the order they were begun.
  public func runNames() async throws(FieldpackError) -> [String] {
    try await read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasTable(FieldData.run.rawValue) else { return [] }
      return try snapshot.rows("SELECT name FROM monitor_run ORDER BY id").compactMap {
        $0[0].string
      }
    }
  }

  /// The detections of a run in its order; none where there is no such run.
  public func detections(ofRun name: String) async throws(FieldpackError) -> [Detection] {
    try await read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasTable(FieldData.detection.rawValue) else { return [] }
      var detections: [Detection] = []
      try snapshot.each(
        "SELECT fix, kind, device, region, region_text, time, distance_m FROM detection "
          + "WHERE run_id = (SELECT id FROM monitor_run WHERE name = ?) ORDER BY seq",
        [.text(name)]
      ) { (row) throws(FieldpackError) in
        guard let kind = row.string(1).flatMap({ Detection.Kind(rawValue: $0) }) else { return }
        detections.append(
          Detection(
            fix: Int(row.integer(0)), kind: kind, device: row.string(2) ?? "",
            region: FeatureID(row.value(3), row.value(4)),
            time: row.string(5).flatMap { Instant($0) }, distance: row.value(6).double))
      }
      return detections
    }
  }
}

/// Which columns a layer has that older versions lack.
private struct TrackColumns {
  private let names: Set<String>

  /// `nil` where the layer is not there.
  init?(_ layer: LayerID, in snapshot: GeoPackageSnapshot) throws(FieldpackError) {
    guard let schema = try snapshot.schema(of: layer) else { return nil }
    names = Set(schema.columns.map(\.name))
  }

  subscript(name: String) -> String { names.contains(name) ? name : "NULL" }
}

extension TrackPoint {
  fileprivate init(row: Statement) {
    id = row.integer(0)
    track = row.integer(1)
    sequence = Int(row.integer(2))
    longitude = row.real(3)
    latitude = row.real(4)
    elevation = row.value(5).double
    time = row.string(6).flatMap { Instant($0) }
    placeID = row.string(7) ?? ""
    photoState = row.string(8) ?? ""
    accuracy = row.value(9).double
    course = row.value(10).double
    speed = row.value(11).double
    fix = row.value(12).int
  }
}
