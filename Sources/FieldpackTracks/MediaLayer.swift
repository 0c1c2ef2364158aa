package import FieldpackCore
import FieldpackGeoPackage

/// The layer of files that photos and captures keep theirs in.
package enum MediaLayer {
  package static let id: LayerID = "media"

  /// Makes the layer where it is missing.
  package static func prepare(_ writer: inout FeatureWriter) throws(FieldpackError) {
    guard try !writer.layers().contains(where: { $0.id == id }) else { return }
    try writer.createMediaLayer(id, columns: columns)
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
