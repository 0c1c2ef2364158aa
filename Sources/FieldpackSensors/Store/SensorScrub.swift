import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSQLite

/// Removes what change logs, conflicts and the logs of links hold of rows that a transaction has deleted.
struct SensorScrub {
  private static let layers = [
    SensorLayers.person, SensorLayers.item, SensorLayers.device, SensorLayers.media,
  ]

  private let before: [LayerID: Set<Int64>]
  private let writer: GeoPackageWriter

  /// The ids of the rows that there are.
  static func ids(_ writer: GeoPackageWriter) throws(FieldpackError) -> [LayerID: Set<Int64>] {
    var ids: [LayerID: Set<Int64>] = [:]
    for layer in layers {
      let column = layer == SensorLayers.item ? "fid" : "id"
      ids[layer] = Set(
        try writer.rows("SELECT \(column) FROM \(layer)").compactMap { $0[0].int.map(Int64.init) })
    }
    return ids
  }

  init(_ before: [LayerID: Set<Int64>], _ writer: GeoPackageWriter) {
    (self.before, self.writer) = (before, writer)
  }

  func run() throws(FieldpackError) {
    let after = try Self.ids(writer)
    let clearsConflicts = try hasConflicts()
    for layer in Self.layers {
      let gone = before[layer, default: []].subtracting(after[layer, default: []]).sorted()
      for id in gone {
        try writer.forgetEdits(of: id, in: layer)
        guard clearsConflicts else { continue }
        try writer.execute(
          "DELETE FROM \"conflict\" WHERE layer = ? AND feature = ?",
          [.text(layer.rawValue), .integer(id)])
      }
      if layer == SensorLayers.item { try forgetWork(of: gone) }
    }
    for mapping in [SensorLayers.itemMedia, SensorLayers.personItem] {
      try writer.forgetEditsOfDeleted(in: LayerID(mapping))
    }
    if clearsConflicts { try writer.changed(Self.conflicts) }
  }

  /// Where a synchronisation keeps the values that do not stand.
  private static let conflicts: LayerID = "conflict"

  /// Whether the file has that layer, and no other one of its name.
  private func hasConflicts() throws(FieldpackError) -> Bool {
    guard let schema = try writer.schema(of: Self.conflicts) else { return false }
    return ["layer", "feature", "lost", "kept"].allSatisfy { schema.columnIndex($0) != nil }
  }

  /// Captures that are not settled keep their ids, so that what becomes of them is still told.
  private func forgetWork(of items: [Int64]) throws(FieldpackError) {
    guard !items.isEmpty else { return }
    for id in items {
      try writer.execute("DELETE FROM bio_op_log WHERE item_fid = ?", [.integer(id)])
      try writer.execute(
        "DELETE FROM bio_capture WHERE item_fid = ? AND state <> 'pending'", [.integer(id)])
    }
    try writer.changed(SensorLayers.log)
    try writer.changed(SensorLayers.capture)
  }
}
