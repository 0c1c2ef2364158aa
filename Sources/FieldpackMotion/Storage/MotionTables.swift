package import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSQLite

/// `daco_device`, `daco_session`, `daco_batch` and `daco_sample`, in one transaction.
struct MotionTables {
  let writer: GeoPackageWriter

  static let channels = MotionChannel.allCases.map(\.rawValue).joined(separator: ", ")

  func store(_ record: MotionRecord) throws(FieldpackError) {
    switch record {
    case .started(let session): try create(session)
    case .received(let batch): try insert(batch)
    case .revoked(let session, let moment):
      try writer.execute(
        "UPDATE daco_session SET revoked_at_unix = ? WHERE uuid = ?",
        [.real(moment), .text(session)])
      try writer.changed(MotionLayers.session)
    }
  }

  // MARK: Sessions

  private func create(_ session: MotionSession) throws(FieldpackError) {
    let device = try device(session.device, at: session.startedAt)
    try writer.execute(
      "INSERT INTO daco_session (uuid, device_id, started_at_unix, revoked_at_unix, "
        + "sample_rate_hz) VALUES (?, ?, ?, ?, ?)",
      [
        .text(session.id), .integer(device), .real(session.startedAt),
        session.revokedAt.map(SQLiteValue.real) ?? .null, .real(session.rate),
      ])
    try writer.changed(MotionLayers.session)
  }

  /// The row of a device: the one with its identifier, whose names become these, else a new one.
  private func device(
    _ device: MotionDevice, at moment: Double
  ) throws(FieldpackError) -> Int64 {
    try writer.changed(MotionLayers.device)
    let names: [SQLiteValue] = [
      .text(device.name), .text(device.model), .text(device.localizedModel),
      .text(device.systemName), .text(device.systemVersion),
    ]
    if let identifier = device.identifierForVendor {
      let known = try writer.rows(
        "SELECT id FROM daco_device WHERE identifier_for_vendor = ?", [.text(identifier)])
      if case .integer(let id)? = known.first?.first {
        try writer.execute(
          "UPDATE daco_device SET name = ?, model = ?, localized_model = ?, system_name = ?, "
            + "system_version = ? WHERE id = ?", names + [.integer(id)])
        return id
      }
    }
    try writer.execute(
      "INSERT INTO daco_device (name, model, localized_model, system_name, system_version, "
        + "identifier_for_vendor, first_seen) VALUES (?, ?, ?, ?, ?, ?, ?)",
      names + [
        device.identifierForVendor.map(SQLiteValue.text) ?? .null,
        .text(Instant(nearestTo: moment).description),
      ])
    return writer.connection.lastInsertRowID
  }

  // MARK: Samples

  private func insert(_ batch: MotionBatch) throws(FieldpackError) {
    try writer.execute(
      "INSERT INTO daco_batch (session_id, sent_at_unix, received_at_unix, sample_count, sections) "
        + "VALUES ((SELECT id FROM daco_session WHERE uuid = ?), ?, ?, ?, ?)",
      [
        .text(batch.session), .real(batch.sentAt), .real(batch.receivedAt),
        .integer(Int64(batch.samples.count)), .integer(batch.sections.rawValue),
      ])
    try writer.changed(MotionLayers.batch)
    let id = writer.connection.lastInsertRowID
    guard !batch.samples.isEmpty else { return }
    var rows = try RowWriter(Self.sampleSQL, in: MotionLayers.sample, writer)
    for (index, sample) in batch.samples.enumerated() {
      try rows.add(id)
      try rows.add(index)
      try rows.add(sample.time)
      for channel in MotionChannel.allCases { try rows.add(sample.reading[channel]) }
      try rows.run()
    }
    try writer.changed(MotionLayers.sample)
  }

  private static let sampleSQL = RowWriter.insertion(
    into: MotionLayers.sample, ["batch_id", "i", "t_unix"] + MotionChannel.allCases.map(\.rawValue))

  // MARK: What is known

  /// Whether a batch is there already, the same in its time and all its numbers.
  func hasBatch(_ batch: MotionBatch) throws(FieldpackError) -> Bool {
    let known = try writer.rows(
      "SELECT id FROM daco_batch WHERE session_id = (SELECT id FROM daco_session WHERE uuid = ?) "
        + "AND sent_at_unix = ? AND sample_count = ? AND sections = ?",
      [
        .text(batch.session), .real(batch.sentAt), .integer(Int64(batch.samples.count)),
        .integer(batch.sections.rawValue),
      ])
    for row in known {
      let values = try writer.rows(
        "SELECT \(Self.channels) FROM daco_sample WHERE batch_id = ? ORDER BY i", [row[0]])
      let numbers = batch.samples.map { sample in
        MotionChannel.allCases.map { sample.reading[$0] }
      }
      if values.map({ $0.map(\.double) }) == numbers { return true }
    }
    return false
  }

  /// The ingest that knows those of the sessions that the file has.
  func ingest(
    for requests: [MotionRequest], rate: Double, newSession: @escaping @Sendable () -> String
  ) throws(FieldpackError) -> MotionIngest {
    var ingest = MotionIngest(rate: rate, newSession: newSession)
    guard try writer.hasTable(MotionLayers.session.rawValue) else { return ingest }
    for request in requests {
      guard case .data(let data) = request, !ingest.knows(data.session) else { continue }
      if let session = try session(data.session) { _ = ingest.add(session) }
    }
    return ingest
  }

  func session(_ id: String) throws(FieldpackError) -> MotionSession? {
    let rows = try writer.rows(
      "SELECT started_at_unix, revoked_at_unix, sample_rate_hz FROM daco_session WHERE uuid = ?",
      [.text(id)])
    guard let row = rows.first else { return nil }
    return MotionSession(
      id: id, device: .unknown, startedAt: row[0].double ?? 0, revokedAt: row[1].double,
      rate: row[2].rate)
  }
}

extension MotionDevice {
  /// Of a session whose start is not known.
  static let unknown = MotionDevice(systemName: "", systemVersion: "", name: "", model: "")
}

extension SQLiteValue {
  /// Samples a second; the standard where it is nothing that samples can come at.
  var rate: Double {
    guard let double, double >= 0.001, double.isFinite else { return MotionSession.standardRate }
    return double
  }
}

extension Instant {
  /// The millisecond that a time in seconds since 1970 is nearest to, within the years 1 to 9999.
  package init(nearestTo seconds: Double) {
    let limits = Self.unixSeconds
    let bounded = seconds.isNaN ? 0 : min(max(seconds, limits.lowerBound), limits.upperBound - 1)
    self.init(milliseconds: Int64((bounded * 1000).rounded()))
  }
}
