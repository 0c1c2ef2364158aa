public import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry

/// The layers that motion is kept in.
///
/// `daco_device`, `daco_session`, `daco_batch` and `daco_sample` are attributes; `motion_point` and
/// `motion_track` are the features that joining a session to a track makes.
public enum MotionLayers {
  /// The version of the layers that this program writes.
  public static let version = 1

  public static let device: LayerID = "daco_device"
  public static let session: LayerID = "daco_session"
  public static let batch: LayerID = "daco_batch"
  public static let sample: LayerID = "daco_sample"
  public static let point: LayerID = "motion_point"
  public static let track: LayerID = "motion_track"

  /// In an order in which each refers to those before it.
  static let received = FieldLayers(
    version: Int64(version), [deviceLayer, sessionLayer, batchLayer, sampleLayer])
  static let joined = FieldLayers(version: Int64(version), [pointLayer, trackLayer])

  private static let channels = MotionChannel.allCases.map { channel in
    ColumnDefinition(channel.rawValue, .double, title: channel.unit)
  }

  private static func required(_ names: String..., as type: ColumnType) -> [ColumnDefinition] {
    names.map { ColumnDefinition($0, type, isNullable: false) }
  }

  private static func reference(
    _ column: String, to layer: LayerID, cascades: Bool = true
  ) -> String {
    "FOREIGN KEY (\(column)) REFERENCES \(layer) (id)" + (cascades ? " ON DELETE CASCADE" : "")
  }

  // MARK: Received

  private static let deviceLayer = FieldLayer(
    Schema(
      layer: device, idColumn: "id",
      columns: [ColumnDefinition("identifier_for_vendor", .text())]
        + required(
          "name", "model", "localized_model", "system_name", "system_version", as: .text())
        + required("first_seen", as: .dateTime)),
    indexes: [
      "CREATE INDEX IF NOT EXISTS daco_device_vendor ON daco_device (identifier_for_vendor)"
    ])

  private static let sessionLayer = FieldLayer(
    Schema(
      layer: session, idColumn: "id",
      columns: [ColumnDefinition("uuid", .text(), isNullable: false, isUnique: true)]
        + required("device_id", as: .integer) + required("started_at_unix", as: .double) + [
          ColumnDefinition("revoked_at_unix", .double),
          ColumnDefinition("sample_rate_hz", .double, isNullable: false, defaultSQL: "50.0"),
        ]),
    rules: [reference("device_id", to: device, cascades: false)])

  private static let batchLayer = FieldLayer(
    Schema(
      layer: batch, idColumn: "id",
      columns: required("session_id", as: .integer)
        + required("sent_at_unix", "received_at_unix", as: .double)
        + required("sample_count", "sections", as: .integer)),
    rules: [reference("session_id", to: session)],
    indexes: [
      "CREATE INDEX IF NOT EXISTS daco_batch_sent ON daco_batch (session_id, sent_at_unix)"
    ])

  private static let sampleLayer = FieldLayer(
    Schema(
      layer: sample, idColumn: "id",
      columns: required("batch_id", "i", as: .integer) + required("t_unix", as: .double)
        + channels),
    rules: [reference("batch_id", to: batch), "UNIQUE (batch_id, i)"],
    indexes: ["CREATE INDEX IF NOT EXISTS daco_sample_time ON daco_sample (t_unix)"])

  // MARK: Joined

  private static let pointLayer = FieldLayer(
    Schema(
      layer: point, geometry: GeometryColumn(type: .point, m: .mandatory),
      columns: required("session_id", "sample_id", as: .integer)
        + required("time", as: .dateTime) + required("t_unix", as: .double) + channels),
    rules: [
      reference("session_id", to: session), reference("sample_id", to: sample),
      "UNIQUE (sample_id)",
    ],
    indexes: [
      "CREATE INDEX IF NOT EXISTS motion_point_session ON motion_point (session_id, t_unix)"
    ])

  private static let trackLayer = FieldLayer(
    Schema(
      layer: track, geometry: GeometryColumn(type: .lineString, m: .mandatory),
      columns: [ColumnDefinition("session_id", .integer, isNullable: false, isUnique: true)]
        + required("name", as: .text()) + required("started_at", "stopped_at", as: .dateTime)
        + required("point_count", as: .integer)),
    rules: [reference("session_id", to: session)])
}
