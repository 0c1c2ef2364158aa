/// How a layer is drawn. A property that is `nil` is not set.
///
/// The model is SpatialConnect's: the `paint` of a Mapbox layer, with defaults.
public struct LayerStyle: Hashable, Sendable {
  public var strokeColor: StyleColor?
  /// The opacity of lines, from 0 to 1.
  public var strokeOpacity: Double?
  /// The width of lines in pixels.
  public var strokeWidth: Double?
  public var fillColor: StyleColor?
  /// The opacity of areas, from 0 to 1.
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

  /// The defaults of properties that are not set: red, lines of two pixels, half opaque areas.
  public static let standard: LayerStyle = {
    let all = ResolvedStyle()
    return LayerStyle(
      strokeColor: all.strokeColor, strokeOpacity: all.strokeOpacity, strokeWidth: all.strokeWidth,
      fillColor: all.fillColor, fillOpacity: all.fillOpacity, iconColor: all.iconColor)
  }()

  /// The style with defaults for all properties that are not set.
  package var resolved: ResolvedStyle {
    var all = ResolvedStyle()
    all.strokeColor = strokeColor ?? all.strokeColor
    all.strokeOpacity = strokeOpacity ?? all.strokeOpacity
    all.strokeWidth = strokeWidth ?? all.strokeWidth
    all.fillColor = fillColor ?? all.fillColor
    all.fillOpacity = fillOpacity ?? all.fillOpacity
    all.iconColor = iconColor ?? all.iconColor
    return all
  }

  /// Sets the properties that `other` sets and this style does not.
  public mutating func addMissing(_ other: LayerStyle) {
    var merged = other
    merged.overwrite(with: self)
    self = merged
  }

  /// Sets all properties that `other` sets.
  public mutating func overwrite(with other: LayerStyle) {
    strokeColor = other.strokeColor ?? strokeColor
    strokeOpacity = other.strokeOpacity ?? strokeOpacity
    strokeWidth = other.strokeWidth ?? strokeWidth
    fillColor = other.fillColor ?? fillColor
    fillOpacity = other.fillOpacity ?? fillOpacity
    iconColor = other.iconColor ?? iconColor
  }
}

/// A style with all properties set.
package struct ResolvedStyle: Hashable, Sendable {
  private static let red = StyleColor(red: 255, green: 0, blue: 0)

  package var strokeColor = Self.red
  package var strokeOpacity = 1.0
  package var strokeWidth = 2.0
  package var fillColor = Self.red
  package var fillOpacity = 0.5
  package var iconColor = Self.red
}
