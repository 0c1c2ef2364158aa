public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

extension GeoPackageStore {
  /// Deletes sessions with their batches and samples, and what joining made of them, in one
  /// transaction; a device goes with its last session.
  ///
  /// - Parameter ids: those of `MotionSession`.
  /// - Throws: `.notFound` where there is no such session; nothing is deleted then.
  public func deleteMotion(sessions ids: [String]) async throws(FieldpackError) -> DeletedFeatures {
    try await write { (writer) throws(FieldpackError) in
      var deletion = MotionDeletion(layers: Set(try writer.layers().map(\.id)))
      for id in ids { try deletion.delete(id, writer) }
      return deletion.deleted
    }
  }
}

private struct MotionDeletion {
  let layers: Set<LayerID>
  private(set) var deleted = DeletedFeatures()

  init(layers: Set<LayerID>) { self.layers = layers }

  mutating func delete(_ id: String, _ writer: GeoPackageWriter) throws(FieldpackError) {
    guard layers.contains(MotionLayers.session),
      let row = try writer.rows(
        "SELECT id, device_id FROM daco_session WHERE uuid = ?", [.text(id)]
      ).first
    else {
      throw FieldpackError(
        .notFound, "there is no session '\(id)'", location: .init(layer: MotionLayers.session))
    }
    let (session, device) = (row[0], row[1])
    // Rows go before those that they refer to.
    let counts = [
      try delete(MotionLayers.track, "session_id = ?", session, writer),
      try delete(MotionLayers.point, "session_id = ?", session, writer),
      try delete(
        MotionLayers.sample, "batch_id IN (SELECT id FROM daco_batch WHERE session_id = ?)",
        session, writer),
      try delete(MotionLayers.batch, "session_id = ?", session, writer),
      try delete(MotionLayers.session, "id = ?", session, writer),
      try delete(
        MotionLayers.device,
        "id = ? AND NOT EXISTS (SELECT 1 FROM daco_session WHERE device_id = daco_device.id)",
        device, writer),
    ]
    let told = [
      (MotionLayers.session, counts[4]), (MotionLayers.batch, counts[3]),
      (MotionLayers.sample, counts[2]), (MotionLayers.point, counts[1]),
      (MotionLayers.track, counts[0]), (MotionLayers.device, counts[5]),
    ]
    for (layer, count) in told { deleted.add(count, of: layer) }
  }

  private func delete(
    _ layer: LayerID, _ condition: String, _ value: SQLiteValue, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Int {
    guard layers.contains(layer) else { return 0 }
    try writer.ready(layer)
    let rows = try writer.rows("SELECT count(*) FROM \(layer) WHERE \(condition)", [value])
    guard let count = rows.first?[0].int, count > 0 else { return 0 }
    try writer.execute("DELETE FROM \(layer) WHERE \(condition)", [value])
    try writer.changed(layer)
    return count
  }
}
