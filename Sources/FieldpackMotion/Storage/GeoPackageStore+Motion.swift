public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

/// A session as a file has it.
public struct StoredMotionSession: Hashable, Sendable {
  /// Its feature id in `daco_session`.
  public var row: Int64
  public var session: MotionSession
  public var batchCount: Int
  public var sampleCount: Int
  /// The times of its first and last sample in seconds since 1970; `nil` without samples.
  public var first: Double?
  public var last: Double?

  public init(
    row: Int64, session: MotionSession, batchCount: Int, sampleCount: Int, first: Double?,
    last: Double?
  ) {
    self.row = row
    self.session = session
    self.batchCount = batchCount
    self.sampleCount = sampleCount
    self.first = first
    self.last = last
  }
}

extension GeoPackageStore {
  /// The sessions of the file in the order they were stored; none where it has no motion.
  public func motionSessions() async throws(FieldpackError) -> [StoredMotionSession] {
    try await read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasTable(MotionLayers.sample.rawValue) else { return [] }
      return try snapshot.rows(
        "SELECT e.id, e.uuid, e.started_at_unix, e.revoked_at_unix, e.sample_rate_hz, "
          + "d.identifier_for_vendor, d.name, d.model, d.localized_model, d.system_name, "
          + "d.system_version, (SELECT count(*) FROM daco_batch WHERE session_id = e.id), "
          + "(SELECT count(*) \(Self.samples)), (SELECT min(s.t_unix) \(Self.samples)), "
          + "(SELECT max(s.t_unix) \(Self.samples)) "
          + "FROM daco_session e JOIN daco_device d ON d.id = e.device_id ORDER BY e.id"
      ).map { row in
        let device = MotionDevice(
          systemName: row[9].string ?? "", systemVersion: row[10].string ?? "",
          name: row[6].string ?? "", identifierForVendor: row[5].string,
          model: row[7].string ?? "", localizedModel: row[8].string)
        let session = MotionSession(
          id: row[1].string ?? "", device: device, startedAt: row[2].double ?? 0,
          revokedAt: row[3].double, rate: row[4].rate)
        return StoredMotionSession(
          row: Int64(row[0].int ?? 0), session: session,
          batchCount: row[11].int ?? 0, sampleCount: row[12].int ?? 0,
          first: row[13].double, last: row[14].double)
      }
    }
  }

  private static var samples: String {
    "FROM daco_batch b JOIN daco_sample s ON s.batch_id = b.id WHERE b.session_id = e.id"
  }

  /// The samples of a session by time.
  ///
  /// - Parameter seconds: only those of so many seconds before the last; `nil` for all.
  public func motionSamples(
    ofSession id: String, last seconds: Double? = nil
  ) async throws(FieldpackError) -> [MotionSample] {
    try await read { (snapshot) throws(FieldpackError) in
      var samples: [MotionSample] = []
      guard try snapshot.hasTable(MotionLayers.sample.rawValue) else { return samples }
      try snapshot.each(
        "SELECT s.id, s.t_unix, \(MotionTables.channels) FROM daco_batch b "
          + "JOIN daco_sample s ON s.batch_id = b.id "
          + "WHERE b.session_id = (SELECT id FROM daco_session WHERE uuid = ?1) "
          + "AND (?2 IS NULL OR s.t_unix > (SELECT max(sent_at_unix) FROM daco_batch "
          + "WHERE session_id = b.session_id) - ?2) ORDER BY s.t_unix, s.id",
        [.text(id), seconds.map { .real($0) } ?? .null]
      ) { (row) throws(FieldpackError) in
        var reading = MotionReading()
        for (index, section) in MotionSection.allCases.enumerated() {
          let column = 2 + index * 3
          guard !row.isNull(column), !row.isNull(column + 1), !row.isNull(column + 2) else {
            continue
          }
          reading.set(section, row.real(column), row.real(column + 1), row.real(column + 2))
        }
        samples.append(MotionSample(time: row.real(1), reading: reading))
      }
      return samples
    }
  }
}
