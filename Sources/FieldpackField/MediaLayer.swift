package import FieldpackCore
package import FieldpackGeoPackage

/// The layer of files that photos and captures keep theirs in.
package enum MediaLayer {
  package static let id: LayerID = "media"

  /// Makes the layer where it is missing. A layer of media that another program made gets the columns
  /// that it lacks.
  package static func prepare(_ writer: GeoPackageWriter) throws(FieldpackError) {
    try layers.prepare(in: writer)
  }

  /// Deletes those of the files that no relation of the GeoPackage has any more.
  package static func deleteUnused(
    _ files: [FeatureID], _ writer: GeoPackageWriter, _ deleted: inout DeletedFeatures
  ) throws(FieldpackError) {
    guard !files.isEmpty else { return }
    let relations = try writer.relations().filter { $0.related == id || $0.base == id }
    for file in files where try !isUsed(file, by: relations, writer) {
      try writer.delete(file, in: id)
      deleted.add(of: id)
    }
  }

  private static func isUsed(
    _ file: FeatureID, by relations: [Relation], _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Bool {
    for relation in relations {
      if relation.related == id, try !writer.bases(relatedTo: file, by: relation).isEmpty {
        return true
      }
      if relation.base == id, try !writer.related(to: file, by: relation).isEmpty { return true }
    }
    return false
  }

  // A search by digest without the index goes through the bytes of all files.
  private static let layers = FieldLayers(
    version: 2,
    [
      FieldLayer(
        Schema(
          layer: id, idColumn: "id",
          columns: [
            ColumnDefinition("data", .blob(), isNullable: false),
            ColumnDefinition("content_type", .text(), isNullable: false),
          ] + columns),
        indexes: ["CREATE INDEX IF NOT EXISTS media_sha256 ON media (sha256)"],
        firstColumns: ["data", "content_type"],
        migrations: [Migration("what the files are", to: 2, [.add(columns)])])
    ])

  private static let columns = [
    ColumnDefinition(
      "role", .text(), isNullable: false, defaultSQL: "'media'",
      constraint: ColumnConstraint(
        "fieldpack_media_role",
        .oneOf(["media", "thumbnail", "sensor_data", "preview", "photo"]))),
    ColumnDefinition("file_name", .text()),
    ColumnDefinition("width_px", .integer),
    ColumnDefinition("height_px", .integer),
    ColumnDefinition("byte_count", .integer, isNullable: false, defaultSQL: "0"),
    ColumnDefinition("sha256", .text(), isNullable: false, defaultSQL: "''"),
  ]
}
