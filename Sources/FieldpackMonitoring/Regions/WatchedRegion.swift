public import FieldpackCore
public import FieldpackGeometry

/// A region to be watched: circles around points, or areas.
public struct WatchedRegion: Hashable, Sendable {
  public var id: FeatureID
  /// In longitude and latitude on WGS 84. Edges are straight in both, as in GeoPackage and GeoJSON.
  public var geometry: Geometry
  /// Of the circles around the points of the geometry, in metres.
  public var radius: Double?

  public init(id: FeatureID, geometry: Geometry, radius: Double? = nil) {
    self.id = id
    self.geometry = geometry
    self.radius = radius
  }
}
