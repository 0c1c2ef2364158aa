import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMonitoring

extension FieldData {
  /// In an order in which each refers to those before it.
  static let layers = FieldLayers(
    version: Int64(version),
    [
      trackLayer, trackPointLayer, runLayer, stateLayer, stayLayer, detectionLayer, logLayer,
    ])

  private static func required(
    _ name: String, _ type: ColumnType, default value: String? = nil,
    oneOf members: [String] = []
  ) -> ColumnDefinition {
    let constraint =
      members.isEmpty
      ? nil : ColumnConstraint("fieldpack_\(name)", .oneOf(members.map { .init($0) }))
    return ColumnDefinition(
      name, type, isNullable: false, defaultSQL: value, constraint: constraint)
  }

  private static func required(_ names: String..., as type: ColumnType) -> [ColumnDefinition] {
    names.map { required($0, type) }
  }

  private static func optional(_ names: String..., as type: ColumnType) -> [ColumnDefinition] {
    names.map { ColumnDefinition($0, type) }
  }

  private static func reference(_ column: String, to layer: LayerID, id: String) -> String {
    "FOREIGN KEY (\(column)) REFERENCES \(layer) (\(id)) ON DELETE CASCADE"
  }

  // MARK: Tracks

  private static let trackLayer = FieldLayer(
    Schema(
      layer: track, geometry: GeometryColumn(type: .lineString),
      columns: [
        required("ordinal", .integer),
        required("monitor", .text(), oneOf: ["boundary", "distance", "import"]),
        required("threshold_m", .double), required("started_at", .dateTime),
        ColumnDefinition("stopped_at", .dateTime),
        required("length_m", .double, default: "0"),
      ] + namesOfTracks),
    firstColumns: [
      "ordinal", "monitor", "threshold_m", "started_at", "stopped_at", "length_m",
    ], migrations: [Migration("names and devices", to: 2, [.add(namesOfTracks)])])

  private static let namesOfTracks = optional("name", "device", as: .text())

  private static let trackPointLayer = FieldLayer(
    Schema(
      layer: trackPoint, geometry: GeometryColumn(type: .point),
      columns: required("track_fid", "seq", as: .integer) + [
        required("time", .dateTime), required("time_unix", .double), required("id_md5", .text()),
        ColumnDefinition("ele_m", .double),
        required(
          "photo_state", .text(), default: "'pending'",
          oneOf: ["pending", "found", "none", "failed", "duplicate"]),
      ] + detailsOfFixes),
    rules: [reference("track_fid", to: track, id: "fid"), "UNIQUE (track_fid, seq)"],
    indexes: ["CREATE INDEX IF NOT EXISTS track_point_md5 ON track_point (id_md5)"],
    firstColumns: [
      "track_fid", "seq", "time", "time_unix", "id_md5", "ele_m", "photo_state",
    ], migrations: [Migration("what fixes tell", to: 2, [.add(detailsOfFixes)])])

  private static let detailsOfFixes =
    optional("accuracy_m", "course_deg", "speed_mps", as: .double) + optional("fix", as: .integer)

  // MARK: Runs

  private static let runLayer = FieldLayer(
    Schema(
      layer: run, idColumn: "id",
      columns: [
        ColumnDefinition("name", .text(), isNullable: false, isUnique: true),
        required("kind", .text(), oneOf: ["track", "monitor"]).named("run_kind"),
        required("parameters", .text()), ColumnDefinition("source", .text()),
        required("fixes", .integer, default: "0"),
        required("generation", .integer, default: "0"),
        required(
          "state", .text(), oneOf: ["running", "ended", "interrupted", "aborted", "failed"]
        ).named("run_state"),
        required("started_at", .dateTime), ColumnDefinition("stopped_at", .dateTime),
      ] + digests),
    migrations: [Migration("digest of the fixes", to: 4, [.add(digests)])])

  private static let digests = optional("fixes_digest", as: .integer)

  private static let stateLayer = FieldLayer(
    Schema(
      layer: state, idColumn: "id",
      columns: [
        required("run_id", .integer), required("device", .text()),
        ColumnDefinition("track_fid", .integer), required("last_fix", .integer),
        required("longitude", .double), required("latitude", .double),
        ColumnDefinition("time_ms", .integer),
      ] + lateFixes + [
        ColumnDefinition("anchor_fix", .integer), ColumnDefinition("anchor_longitude", .double),
        ColumnDefinition("anchor_latitude", .double),
        ColumnDefinition("anchor_beyond_ms", .integer),
      ]),
    rules: [
      reference("run_id", to: run, id: "id"),
      "FOREIGN KEY (track_fid) REFERENCES track (fid) ON DELETE SET NULL",
      "UNIQUE (run_id, device)",
    ], migrations: [Migration("late fixes", to: 3, [.add(lateFixes)])])

  private static let lateFixes = optional("late_count", "late_ms", as: .integer)

  private static let stayLayer = FieldLayer(
    Schema(
      layer: stay, idColumn: "id",
      columns: [
        required("run_id", .integer), required("device", .text()),
        ColumnDefinition("region", .integer), ColumnDefinition("region_text", .text()),
        required("fix", .integer), ColumnDefinition("since_ms", .integer),
        required("has_dwelt", .boolean, default: "0"),
      ]),
    rules: [
      "FOREIGN KEY (run_id, device) REFERENCES monitor_state (run_id, device) ON DELETE CASCADE"
    ],
    indexes: [
      "CREATE INDEX IF NOT EXISTS monitor_stay_device ON monitor_stay (run_id, device)"
    ])

  // MARK: What happened

  private static let detectionLayer = FieldLayer(
    Schema(
      layer: detection, geometry: GeometryColumn(type: .point),
      columns: required("run_id", "seq", "fix", as: .integer) + [
        required("kind", .text(), oneOf: Detection.Kind.allCases.map(\.rawValue))
          .named("detection_kind"),
        required("device", .text()), ColumnDefinition("region", .integer),
        ColumnDefinition("region_text", .text()), ColumnDefinition("time", .dateTime),
        ColumnDefinition("time_unix", .double), ColumnDefinition("distance_m", .double),
      ]),
    rules: [reference("run_id", to: run, id: "id"), "UNIQUE (run_id, seq)"])

  private static let logLayer = FieldLayer(
    Schema(
      layer: log, idColumn: "id",
      columns: [
        required("run_id", .integer), required("time", .dateTime),
        required("level", .text(), oneOf: ["debug", "info", "warning", "error"])
          .named("log_level"),
        required("message", .text()), ColumnDefinition("fix", .integer),
        ColumnDefinition("device", .text()),
      ]),
    rules: [reference("run_id", to: run, id: "id")],
    indexes: ["CREATE INDEX IF NOT EXISTS track_log_run ON track_log (run_id)"])
}

extension ColumnDefinition {
  /// The same column with its constraint under another name.
  fileprivate func named(_ name: String) -> ColumnDefinition {
    var column = self
    column.constraint?.name = "fieldpack_\(name)"
    return column
  }
}
