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

  /// What holds where a style says nothing: red, lines of two pixels, half opaque areas.
  public static let standard: LayerStyle = {
    let all = ResolvedStyle()
    return LayerStyle(
      strokeColor: all.strokeColor, strokeOpacity: all.strokeOpacity, strokeWidth: all.strokeWidth,
      fillColor: all.fillColor, fillOpacity: all.fillOpacity, iconColor: all.iconColor)
  }()

  /// The style with the standard one for what it does not say.
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

/// A style that says everything.
package struct ResolvedStyle: Hashable, Sendable {
  private static let red = StyleColor(red: 255, green: 0, blue: 0)

  package var strokeColor = Self.red
  package var strokeOpacity = 1.0
  package var strokeWidth = 2.0
  package var fillColor = Self.red
  package var fillOpacity = 0.5
  package var iconColor = Self.red
}
