public import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry

/// The layers that captures are kept in.
///
/// `capture` has a point for each, `capture_track` the line of its points with their seconds as m,
/// and `capture_point` these points with headings. The files lie in `media`, related by
/// `capture_media`; `upload_job` says what was sent where.
public enum CaptureLayers {
  public static let capture: LayerID = "capture"
  public static let track: LayerID = "capture_track"
  public static let point: LayerID = "capture_point"
  public static let media: LayerID = "media"
  public static let job: LayerID = "upload_job"
  static let mapping = "capture_media"

  /// The relation from captures to their files; `nil` where the file has no captures.
  static func relation(_ relations: [Relation]) -> Relation? {
    relations.first { $0.mapping == mapping }
  }

  /// The version of the layers that this program writes.
  static let version: Int64 = 2

  /// Makes the layers where they are missing.
  static func prepare(_ writer: GeoPackageWriter) throws(FieldpackError) -> Relation {
    try layers.prepare(in: writer)
    try MediaLayer.prepare(writer)
    if let relation = relation(try writer.relations()) { return relation }
    return try writer.createRelation(
      from: capture, to: media, as: .media, mapping: mapping)
  }

  /// What was sent where: a job for each token of a capture and address.
  static let jobs = JobTable(job, subject: .text())

  static var layers: FieldLayers {
    let reference = "FOREIGN KEY (capture_fid) REFERENCES capture (fid) ON DELETE CASCADE"
    return FieldLayers(
      version: version,
      [
        FieldLayer(captureSchema), FieldLayer(trackSchema, rules: [reference]),
        FieldLayer(pointSchema, rules: [reference, "UNIQUE (capture_fid, seq)"]),
        jobs.definition(migrations: [
          Migration(
            "the columns of all jobs", to: 2,
            [
              .rename("capture_token", to: "subject"), .rename("url", to: "target"),
              .rename("server_message", to: "message"), .add(JobTable.progress),
            ])
        ]),
      ])
  }

  private static func required(
    _ name: String, _ type: ColumnType, default value: String? = nil, oneOf words: [String] = []
  ) -> ColumnDefinition {
    let constraint =
      words.isEmpty
      ? nil
      : ColumnConstraint("fieldpack_capture_\(name)", .oneOf(words.map { .init($0) }))
    return ColumnDefinition(
      name, type, isNullable: false, defaultSQL: value, constraint: constraint)
  }

  private static var captureSchema: Schema {
    Schema(
      layer: capture, geometry: GeometryColumn(type: .point),
      columns: [
        ColumnDefinition("token", .text(), isNullable: false, isUnique: true),
        required("title", .text(), default: "'\(CaptureInfo.untitled)'"),
        required(
          "media_type", .text(), oneOf: CaptureInfo.MediaKind.allCases.map(\.rawValue)),
        ColumnDefinition("heading", .double, description: "degrees true, negative if unknown"),
        ColumnDefinition(
          "orientation", .text(),
          constraint: ColumnConstraint(
            "fieldpack_capture_orientation", .oneOf(["horizontal", "vertical"]))),
        required("created_at", .dateTime), required("created_at_unix", .double),
        ColumnDefinition("uploaded_at", .dateTime),
        required("uploaded_at_unix", .double, default: "0"),
        required("geodata_file", .text()), required("thumbnail_file", .text()),
        required("media_file", .text()),
        ColumnDefinition("extra_json", .json, description: "other members of capture-info.json"),
        ColumnDefinition(
          "geodata_extra_json", .json, description: "other members of the geo-data"),
      ])
  }

  private static var trackSchema: Schema {
    Schema(
      layer: track, geometry: GeometryColumn(type: .lineString, m: .mandatory),
      columns: [
        ColumnDefinition("capture_fid", .integer, isNullable: false, isUnique: true),
        required("point_count", .integer), required("duration_s", .double),
      ])
  }

  private static var pointSchema: Schema {
    Schema(
      layer: point, geometry: GeometryColumn(type: .point),
      columns: [
        required("capture_fid", .integer), required("seq", .integer),
        required("t_s", .double), ColumnDefinition("heading_deg", .double),
        ColumnDefinition("accuracy_m", .double), ColumnDefinition("extra_json", .json),
      ])
  }
}
