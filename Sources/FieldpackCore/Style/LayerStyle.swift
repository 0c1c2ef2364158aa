/// How a layer is drawn. What is `nil` is not said.
///
/// SpatialConnect's style model: the `paint` of a Mapbox layer, with defaults.
public struct LayerStyle: Hashable, Sendable {
  public var strokeColor: StyleColor?
  /// From 0 to 1.
  public var strokeOpacity: Double?
  /// In pixels.
  public var strokeWidth: Double?
  public var fillColor: StyleColor?
  /// From 0 to 1.
  public var fillOpacity: Double?
  /// The colour of points.
  public var iconColor: StyleColor?

  public init(
    strokeColor: StyleColor? = nil, strokeOpacity: Double? = nil, strokeWidth: Double? = nil,
    fillColor: StyleColor? = nil, fillOpacity: Double? = nil, iconColor: StyleColor? = nil
  ) {
    self.strokeColor = strokeColor
    self.strokeOpacity = strokeOpacity
    self.strokeWidth = strokeWidth
    self.fillColor = fillColor
    self.fillOpacity = fillOpacity
    self.iconColor = iconColor
  }

  private static let red = StyleColor(red: 255, green: 0, blue: 0)

  /// What holds where a style says nothing: red, lines of two pixels, half opaque areas.
  public static let standard = LayerStyle(
    strokeColor: red, strokeOpacity: 1, strokeWidth: 2, fillColor: red, fillOpacity: 0.5,
    iconColor: red)

  /// Takes what `other` says and this style does not.
  public mutating func addMissing(_ other: LayerStyle) {
    var merged = other
    merged.overwrite(with: self)
    self = merged
  }

  /// Takes everything that `other` says.
  public mutating func overwrite(with other: LayerStyle) {
    strokeColor = other.strokeColor ?? strokeColor
    strokeOpacity = other.strokeOpacity ?? strokeOpacity
    strokeWidth = other.strokeWidth ?? strokeWidth
    fillColor = other.fillColor ?? fillColor
    fillOpacity = other.fillOpacity ?? fillOpacity
    iconColor = other.iconColor ?? iconColor
  }
}
