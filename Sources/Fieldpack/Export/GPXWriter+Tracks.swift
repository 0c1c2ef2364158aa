public import FieldpackCore
public import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTracks

extension GPXWriter {
  /// Writes recorded tracks, each as a `trk` of one segment with every digit of its positions.
  ///
  /// Accuracy, course and speed, which GPX 1.1 has no elements for, are extensions.
  /// - Parameter points: of a track, in its order.
  public mutating func write(
    _ tracks: [RecordedTrack], points: (RecordedTrack) async throws(FieldpackError) -> [TrackPoint]
  ) async throws(FieldpackError) {
    try begin(
      Schema(
        layer: "tracks", geometry: GeometryColumn(type: .multiLineString),
        columns: [ColumnDefinition("name", .text())]))
    for track in tracks {
      let device = track.device.flatMap { $0.isEmpty ? nil : $0 }
      let name = [track.name, device].compactMap { $0 }.joined(separator: " ")
      let value: Value = name.isEmpty ? .null : .text(name)
      try feature(ValueRow(id: .integer(track.id), [value]))
    }
    try begin(Self.pointSchema)
    for track in tracks {
      for point in try await points(track) {
        let geometry = Geometry.point(x: point.longitude, y: point.latitude)
        try feature(
          ValueRow(
            id: .integer(point.id), Self.values(of: point), wkb: WKB.bytes(of: geometry),
            envelope: geometry.envelope))
      }
    }
  }

  private static let pointSchema = Schema(
    layer: "track_points", geometry: GeometryColumn(type: .point),
    columns: ["track_fid", "track_seg_id", "track_seg_point_id"].map {
      ColumnDefinition($0, .integer)
    } + [
      ColumnDefinition("ele", .double), ColumnDefinition("time", .dateTime),
      ColumnDefinition("accuracy_m", .double), ColumnDefinition("course_deg", .double),
      ColumnDefinition("speed_mps", .double),
    ])

  private static func values(of point: TrackPoint) -> [Value] {
    [
      .integer(point.track), .integer(0), .integer(Int64(point.sequence)),
      point.elevation.map(Value.real) ?? .null, point.time.map(Value.dateTime) ?? .null,
      point.accuracy.map(Value.real) ?? .null, point.course.map(Value.real) ?? .null,
      point.speed.map(Value.real) ?? .null,
    ]
  }
}
