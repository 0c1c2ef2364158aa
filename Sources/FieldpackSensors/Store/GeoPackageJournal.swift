package import FieldpackCore
package import FieldpackField
package import FieldpackGeoPackage
package import FieldpackMedia
import FieldpackSQLite

/// The journal of links in the GeoPackage that has the persons and items.
///
/// A capture's row is there before its download, and is stored or lost in the end, once. Only what a capture
/// would be lost without waits for the disk: its id, and what was downloaded of it. What else a power cut
/// takes, the sensor is asked for again.
package struct GeoPackageJournal: SensorJournal {
  private let store: GeoPackageStore
  private let clock: FieldClock
  private let thumbnails: ItemThumbnail

  package init(
    _ store: GeoPackageStore, clock: FieldClock = .system, ffmpeg: FFmpeg = .standard
  ) {
    self.store = store
    self.clock = clock
    thumbnails = ItemThumbnail(ffmpeg: ffmpeg)
  }

  // MARK: Work

  package func operation(_ entry: SensorLogEntry) async throws(FieldpackError) {
    try await store.edit(waitsForDisk: false) { (writer) throws(FieldpackError) in
      try SensorLayers.prepare(writer)
      var row = try RowWriter(Self.operationSQL, in: SensorLayers.log, writer)
      try row.add(entry.device.uri)
      try row.add(entry.session)
      try row.add(entry.item?.number)
      try row.add(entry.operation.name)
      try row.add(entry.sequence?.name)
      try row.add(entry.httpStatus)
      try row.add(entry.status)
      try row.add(entry.message)
      try row.add(entry.badFields.isEmpty ? nil : JSONValue(entry.badFields).text)
      try row.add(entry.startedAt)
      try row.add(entry.elapsed.inSeconds)
      try row.run()
      try writer.changed(SensorLayers.log)
    }
  }

  private static let operationSQL = RowWriter.insertion(
    into: SensorLayers.log,
    [
      "device_uri", "session_id", "item_fid", "operation", "sequence", "http_status", "status",
      "message", "bad_fields_json", "started_at_unix", "elapsed_s",
    ])

  package func session(_ session: SensorSession) async throws(FieldpackError) {
    let now = SQLiteValue.text(clock.now.description)
    let device = Self.values(session.device)
    let id = session.id.map(SQLiteValue.text) ?? .null
    try await store.edit(waitsForDisk: false) { (writer) throws(FieldpackError) in
      try SensorLayers.prepare(writer)
      if session.id == nil, !session.holdsLock {
        try writer.execute(
          "DELETE FROM bio_session WHERE device_uri = ? AND device_name = ?", device)
      } else {
        try writer.execute(
          "INSERT INTO bio_session (device_uri, device_name, session_id, holds_lock, updated_at) "
            + "VALUES (?, ?, ?, ?, ?) ON CONFLICT (device_uri, device_name) DO UPDATE SET "
            + "session_id = excluded.session_id, holds_lock = excluded.holds_lock, "
            + "updated_at = excluded.updated_at",
          device + [id, .integer(session.holdsLock ? 1 : 0), now])
      }
      try writer.changed(SensorLayers.session)
      guard session.id != nil else { return }
      try writer.ready(SensorLayers.device)
      try writer.execute(
        "UPDATE bio_device SET most_recent_session_id = ?1 WHERE uri = ?2 AND "
          + "ifnull(name, '') = ?3 AND most_recent_session_id IS NOT ?1", [id] + device)
      try writer.changed(SensorLayers.device)
    }
  }

  package func forget(_ session: SensorSession) async throws(FieldpackError) {
    guard let id = session.id else { return }
    let values = Self.values(session.device) + [.text(id)]
    try await store.edit(waitsForDisk: false) { (writer) throws(FieldpackError) in
      try SensorLayers.prepare(writer)
      try writer.execute(
        "DELETE FROM bio_session WHERE device_uri = ? AND device_name = ? AND session_id = ?",
        values)
      try writer.changed(SensorLayers.session)
    }
  }

  // MARK: Captures

  package func captured(
    _ ids: [String], by device: SensorAddress, for item: KeyTuple?
  ) async throws(FieldpackError) {
    guard !ids.isEmpty else { return }
    let now = clock.now
    try await store.edit { (writer) throws(FieldpackError) in
      try SensorLayers.prepare(writer)
      let captures = CaptureRows(writer, at: now)
      let batch = try captures.nextBatch()
      for id in ids { try captures.note(id, by: device, item: item?.number, batch: batch) }
      try writer.changed(SensorLayers.capture)
    }
  }

  package func post(_ download: SensorDownload) async throws(FieldpackError) -> KeyTuple? {
    let thumbnail = try await thumbnails.png(of: download.content)
    let (now, id) = (clock.now, store.id)
    return try await store.edit { (writer) throws(FieldpackError) in
      let rows = try PersonRows(writer, at: now)
      guard let item = try CaptureRows(writer, at: now).store(download, thumbnail, rows)
      else { return nil }
      return KeyTuple(store: id, layer: SensorLayers.item, feature: item)
    }
  }

  package func lost(
    _ captureId: String, by device: SensorAddress, because error: FieldpackError
  ) async throws(FieldpackError) {
    // The message may tell what a sensor said of a person: the log of the link has it, if anybody.
    let start: [SQLiteValue] = [
      .text(error.code.name), .text(clock.now.description), .text(captureId),
    ]
    let values = start + Self.values(device)
    try await store.edit(waitsForDisk: false) { (writer) throws(FieldpackError) in
      try SensorLayers.prepare(writer)
      try writer.execute(
        "UPDATE bio_capture SET state = 'lost', reason = ?, settled_at = ? "
          + "WHERE capture_id = ? AND device_uri = ? AND device_name = ? AND state = 'pending'",
        values)
      try writer.changed(SensorLayers.capture)
    }
  }

  package func unfinished() async throws(FieldpackError) -> UnfinishedWork {
    let store = store.id
    return try await self.store.read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasTable(SensorLayers.capture.rawValue),
        try snapshot.hasTable(SensorLayers.session.rawValue)
      else { return UnfinishedWork() }
      func address(_ row: [SQLiteValue]) -> SensorAddress {
        SensorAddress(uri: row[0].string ?? "", name: row[1].string ?? "")
      }
      let sessions = try snapshot.rows(
        "SELECT device_uri, device_name, session_id, holds_lock FROM bio_session ORDER BY id"
      ).map { row in
        SensorSession(device: address(row), id: row[2].string, holdsLock: row[3].int == 1)
      }
      let captures = try snapshot.rows(
        "SELECT device_uri, device_name, capture_id, item_fid FROM bio_capture "
          + "WHERE state = 'pending' ORDER BY id"
      ).map { row in
        let item = row[3].int.map {
          KeyTuple(store: store, layer: SensorLayers.item, feature: .integer(Int64($0)))
        }
        return PendingCapture(id: row[2].string ?? "", device: address(row), item: item)
      }
      return UnfinishedWork(sessions: sessions, captures: captures)
    }
  }

  static func values(_ device: SensorAddress) -> [SQLiteValue] {
    [.text(device.uri), .text(device.name)]
  }
}

extension KeyTuple {
  /// The id of an item.
  fileprivate var number: Int64? {
    guard layer == SensorLayers.item, case .integer(let number) = feature else { return nil }
    return number
  }
}
