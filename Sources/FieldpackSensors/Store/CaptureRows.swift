import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackSQLite

/// The rows of `bio_capture`, in a writer's transaction.
struct CaptureRows {
  let writer: GeoPackageWriter
  let now: Instant

  init(_ writer: GeoPackageWriter, at now: Instant) { (self.writer, self.now) = (writer, now) }

  private struct Row {
    var id: Int64
    var item: Int64?
    var batch: Int64
    var isStored: Bool
  }

  // MARK: Before the download

  func nextBatch() throws(FieldpackError) -> Int64 {
    let row = try writer.rows("SELECT ifnull(max(batch), 0) + 1 FROM bio_capture").first
    return Int64(row?[0].int ?? 1)
  }

  /// Keeps the id of a capture; one that is pending stays as it is.
  ///
  /// A sensor that begins its ids anew gives one again that is settled: that row is kept by another
  /// name, so that the new capture is not taken for it.
  func note(
    _ capture: String, by device: SensorAddress, item: Int64?, batch: Int64
  ) throws(FieldpackError) {
    try writer.execute(
      "UPDATE bio_capture SET capture_id = capture_id || '#' || id WHERE capture_id = ? "
        + "AND device_uri = ? AND device_name = ? AND state <> 'pending'",
      [.text(capture)] + GeoPackageJournal.values(device))
    try writer.execute(
      "INSERT INTO bio_capture (capture_id, device_uri, device_name, item_fid, batch, noted_at) "
        + "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (capture_id, device_uri, device_name) DO NOTHING",
      [.text(capture)] + GeoPackageJournal.values(device) + [
        item.map { .integer($0) } ?? .null, .integer(batch), .text(now.description),
      ])
  }

  private func row(
    _ capture: String, _ device: SensorAddress
  ) throws(FieldpackError) -> Row? {
    let rows = try writer.rows(
      "SELECT id, item_fid, batch, state FROM bio_capture "
        + "WHERE capture_id = ? AND device_uri = ? AND device_name = ?",
      [.text(capture)] + GeoPackageJournal.values(device))
    guard let row = rows.first, let id = row[0].int else { return nil }
    return Row(
      id: Int64(id), item: row[1].int.map(Int64.init), batch: Int64(row[2].int ?? 0),
      isStored: row[3].string == SensorLayers.CaptureState.stored.rawValue)
  }

  // MARK: After it

  /// Stores what was downloaded with its item.
  ///
  /// - Returns: the item; `nil` where the capture is stored already.
  func store(
    _ download: SensorDownload, _ thumbnail: [UInt8]?, _ rows: PersonRows
  ) throws(FieldpackError) -> FeatureID? {
    if try row(download.captureId, download.device) == nil {
      try note(
        download.captureId, by: download.device, item: nil, batch: try nextBatch())
    }
    guard let row = try row(download.captureId, download.device), !row.isStored else { return nil }
    guard let item = download.item?.feature ?? row.item.map({ FeatureID.integer($0) }),
      case .integer(let number) = item
    else {
      throw FieldpackError(.notFound, "a capture belongs to no item")
    }
    _ = try rows.item(item)
    let isNewest = try replaceOlder(than: row.batch, of: number, rows)
    let type = try Self.type(of: download.content, stated: download.contentType)
    let media = try add(download.content, as: type, role: .data, to: item, rows)
    var small: FeatureID?
    if isNewest, let thumbnail {
      try deleteThumbnails(of: item, rows)
      small = try add(
        SpooledBytes(thumbnail), as: MediaType.png.rawValue, role: .thumbnail, to: item, rows)
    }
    if isNewest {
      try writer.update(
        item, in: SensorLayers.item,
        set: [
          "data_content_type": .text(type), "capture_id": .text(download.captureId),
          "capture_metadata_json": download.metadata.map(Value.text) ?? .null,
        ])
    }
    try settle(row.id, item: number, media, small)
    return item
  }

  /// The type that the bytes show, else the one that the sensor stated.
  private static func type(
    of content: SpooledBytes, stated: String?
  ) throws(FieldpackError) -> String {
    if let shown = MediaType(try content.prefix(MediaType.length)) { return shown.rawValue }
    guard let stated, stated.count < 100, stated.contains("/") else { return MediaType.unknown }
    return stated
  }

  /// Deletes what earlier captures of an item have left.
  ///
  /// - Returns: whether nothing newer is stored.
  private func replaceOlder(
    than batch: Int64, of item: Int64, _ rows: PersonRows
  ) throws(FieldpackError) -> Bool {
    let older = try writer.rows(
      "SELECT id, media_id, thumbnail_id FROM bio_capture "
        + "WHERE item_fid = ? AND batch < ? AND media_id IS NOT NULL",
      [.integer(item), .integer(batch)])
    var deleted = DeletedFeatures()
    for row in older {
      let related = try writer.related(to: .integer(item), by: rows.relations.media)
      let files = [row[1], row[2]].compactMap { $0.int.map { FeatureID.integer(Int64($0)) } }
      try rows.deleteMedia(files.filter(related.contains), of: .integer(item), &deleted)
      try writer.execute(
        "UPDATE bio_capture SET media_id = NULL, thumbnail_id = NULL WHERE id = ?", [row[0]])
    }
    let newer = try writer.rows(
      "SELECT 1 FROM bio_capture WHERE item_fid = ? AND batch > ? AND media_id IS NOT NULL LIMIT 1",
      [.integer(item), .integer(batch)])
    return newer.isEmpty
  }

  private func deleteThumbnails(
    of item: FeatureID, _ rows: PersonRows
  ) throws(FieldpackError) {
    let files = try writer.files(ofItem: item).filter { $0.role == .thumbnail }.map(\.id)
    var deleted = DeletedFeatures()
    try rows.deleteMedia(files, of: item, &deleted)
  }

  private func add(
    _ content: SpooledBytes, as type: String, role: ItemFile.Role, to item: FeatureID,
    _ rows: PersonRows
  ) throws(FieldpackError) -> FeatureID {
    let size = PictureSize(of: try content.prefix(1 << 20))
    func number(_ value: Int?) -> Value { value.map { .integer(Int64($0)) } ?? .null }
    let attributes: Attributes = [
      "role": .text(role.rawValue), "width_px": number(size?.width),
      "height_px": number(size?.height), "byte_count": number(content.count),
      "sha256": .text(try content.sha256()),
    ]
    return try content.withBytes { (bytes) throws(FieldpackError) in
      try writer.addMedia(
        bytes.bytes, as: type, attributes: attributes, to: SensorLayers.media, relatedTo: item,
        by: rows.relations.media)
    }
  }

  private func settle(
    _ row: Int64, item: Int64, _ media: FeatureID, _ thumbnail: FeatureID?
  ) throws(FieldpackError) {
    func value(_ id: FeatureID?) -> SQLiteValue {
      if case .integer(let number)? = id { .integer(number) } else { .null }
    }
    try writer.execute(
      "UPDATE bio_capture SET state = 'stored', reason = NULL, item_fid = ?, media_id = ?, "
        + "thumbnail_id = ?, settled_at = ? WHERE id = ?",
      [
        .integer(item), value(media), value(thumbnail), .text(now.description), .integer(row),
      ])
    try writer.changed(SensorLayers.capture)
  }
}
