package import FieldpackCore
package import FieldpackGeometry
import FieldpackSQLite

/// The rows of `gpkg_contents`.
package struct ContentsTable {
  let file: GeoPackageSession

  package init(file: GeoPackageSession) { self.file = file }

  static func bounds(_ extent: Envelope?) -> [SQLiteValue] {
    guard let extent else { return [.null, .null, .null, .null] }
    return [extent.minX, extent.minY, extent.maxX, extent.maxY].map(SQLiteValue.real)
  }

  /// Registers a table. Its identifier stays NULL where another table has it, because identifiers
  /// are unique.
  func insert(
    _ table: String, as type: String, title: String? = nil, description: String? = nil,
    srsID: Int64?, extent: Envelope? = nil
  ) throws(FieldpackError) {
    try file.execute(
      "INSERT INTO gpkg_contents (table_name, data_type, identifier, description, srs_id, min_x, "
        + "min_y, max_x, max_y) VALUES (?1, ?2, CASE WHEN EXISTS (SELECT 1 FROM gpkg_contents "
        + "WHERE identifier = ?3) THEN NULL ELSE ?3 END, ?4, ?5, ?6, ?7, ?8, ?9)",
      [
        .text(table), .text(type), .text(title ?? table), .text(description ?? ""),
        srsID.map(SQLiteValue.integer) ?? .null,
      ] + Self.bounds(extent))
  }

  /// Writes a layer's extent and the time of its last change.
  package func update(_ table: LayerTable, extent: Envelope?) throws(FieldpackError) {
    try file.execute(
      "UPDATE gpkg_contents SET \(Self.change), min_x = ?, min_y = ?, max_x = ?, max_y = ? "
        + "WHERE lower(table_name) = lower(?)", Self.bounds(extent) + [.text(table.table)])
  }

  /// Writes the time of a table's last change.
  func touch(_ table: String) throws(FieldpackError) {
    try file.execute(
      "UPDATE gpkg_contents SET \(Self.change) WHERE lower(table_name) = lower(?)", [.text(table)])
  }

  private static let change = "last_change = \(RequiredTables.now)"
}

extension Envelope {
  /// West, south, east and north as a file states them; `nil` where they are no box.
  init?(stated bounds: [Double?]) {
    let known = bounds.compactMap { $0 }
    guard known.count == 4, known.allSatisfy(\.isFinite), known[0] <= known[2],
      known[1] <= known[3]
    else { return nil }
    self.init(minX: known[0], minY: known[1], maxX: known[2], maxY: known[3])
  }
}
