package import FieldpackCore
package import FieldpackGeoPackage

/// The layer of files that photos and captures keep theirs in.
package enum MediaLayer {
  package static let id: LayerID = "media"

  /// Makes the layer where it is missing.
  package static func prepare(_ writer: GeoPackageWriter) throws(FieldpackError) {
    guard try !writer.layers().contains(where: { $0.id == id }) else { return }
    try writer.createMediaLayer(id, columns: columns)
    try index(writer)
  }

  /// Makes the index by what a file is known again where it is missing: without it every search goes
  /// through the bytes of all files.
  package static func index(_ writer: GeoPackageWriter) throws(FieldpackError) {
    guard try writer.schema(of: id)?.columnIndex("sha256") != nil else { return }
    try writer.execute("CREATE INDEX IF NOT EXISTS media_sha256 ON media (sha256)")
  }

  private static var columns: [ColumnDefinition] {
    [
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
}
