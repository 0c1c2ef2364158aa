import FieldpackCore
import FieldpackGeometry

/// How the rows of one layer become GPX.
struct GPXWriteLayer {
  enum Role {
    /// Points become `wpt`, lines `trk`.
    case features
    /// Lines become `rte`.
    case routes
    /// Lines become `trk`, also when EMPTY.
    case tracks
    /// Points become the `rtept` of their route.
    case routePoints(route: Int, number: Int?)
    /// Points become the `trkpt` of their track and segment.
    case trackPoints(track: Int, segment: Int, number: Int?)
  }

  let schema: Schema
  let role: Role
  /// What the layers of paths and of their points share in their names.
  let family: String
  var points: GPXElementWriter
  var paths: GPXElementWriter
  /// Features without a geometry, left out.
  var withoutGeometry = 0

  init(_ schema: Schema) {
    self.schema = schema
    let name = schema.layer.rawValue
    let role = Self.role(schema)
    self.role = role
    let suffix: String =
      switch role {
      case .features: ""
      case .routes: "routes"
      case .tracks: "tracks"
      case .routePoints: "route_points"
      case .trackPoints: "track_points"
      }
    family = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    points = GPXElementWriter(
      GPXWritePlan(schema, isPoint: true, structure: Self.structure(role)))
    paths = GPXElementWriter(GPXWritePlan(schema, isPoint: false))
  }

  private static func role(_ schema: Schema) -> Role {
    let holdsPoints = schema.geometry?.type == .point || schema.geometry?.type == .geometry
    if holdsPoints, let track = schema.columnIndex("track_fid"),
      let segment = schema.columnIndex("track_seg_id")
    {
      return .trackPoints(
        track: track, segment: segment, number: schema.columnIndex("track_seg_point_id"))
    }
    if holdsPoints, let route = schema.columnIndex("route_fid") {
      return .routePoints(route: route, number: schema.columnIndex("route_point_id"))
    }
    switch schema.layer.rawValue {
    case "routes": return .routes
    case "tracks": return .tracks
    case let name where name.hasSuffix("_routes"): return .routes
    case let name where name.hasSuffix("_tracks"): return .tracks
    default: return .features
    }
  }

  /// Whether the layer's paths are `trk`, not `rte`.
  var isTrack: Bool {
    switch role {
    case .routes, .routePoints: false
    default: true
    }
  }

  private static func structure(_ role: Role) -> [Int?] {
    switch role {
    case .trackPoints(let track, let segment, let number): [track, segment, number]
    case .routePoints(let route, let number): [route, number]
    default: []
    }
  }

  /// The numbers of the path, the segment and the point that a row of points is.
  func numbers(
    of row: borrowing some FeatureRow & ~Copyable
  ) -> (path: Int64?, segment: Int64, number: Int64?) {
    switch role {
    case .trackPoints(let track, let segment, let number):
      return (
        Self.integer(row, track), Self.integer(row, segment) ?? 0, Self.integer(row, number)
      )
    case .routePoints(let route, let number):
      return (Self.integer(row, route), 0, Self.integer(row, number))
    default: return (nil, 0, nil)
    }
  }

  private static func integer(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int?
  ) -> Int64? {
    guard let column, row.kind(at: column) == .integer else { return nil }
    return row.integer(at: column)
  }
}
