public import FieldpackCore
public import FieldpackGeometry

/// A region for a monitor: circles around points, or areas.
public struct WatchedRegion: Hashable, Sendable {
  public var id: FeatureID
  /// In longitude and latitude on WGS 84. Edges are straight in both, as in GeoPackage and GeoJSON.
  public var geometry: Geometry
  /// The radius in metres of the circles around the geometry's points.
  public var radius: Double?

  public init(id: FeatureID, geometry: Geometry, radius: Double? = nil) {
    self.id = id
    self.geometry = geometry
    self.radius = radius
  }
}
