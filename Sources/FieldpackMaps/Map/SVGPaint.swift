import FieldpackCore

/// The attributes that colour what is drawn of a layer.
struct SVGPaint {
  /// Of polygons.
  let area: String
  /// Of lines.
  let line: String
  /// The colour of points, with its opacity where it has one.
  let point: String
  let pointOpacity: Double
  /// The colour of polygons and lines too small to be seen as such.
  let speck: String
  /// Of a polygon's sample in the legend.
  let areaSample: String
  /// Of a line's or point's sample in the legend.
  let lineSample: String

  /// What a layer without a style gets.
  init(color: String) {
    area =
      "fill=\"\(color)\" fill-opacity=\".2\" fill-rule=\"evenodd\" "
      + "stroke=\"\(color)\" stroke-width=\".8\""
    line = "fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.6\""
    point = color
    pointOpacity = 1
    speck = color
    areaSample = "fill=\"\(color)\" fill-opacity=\".3\" stroke=\"\(color)\""
    lineSample = "fill=\"\(color)\""
  }

  init(_ style: ResolvedStyle) {
    let filled = Self.paint("fill", style.fillColor, style.fillOpacity)
    let stroked = Self.paint("stroke", style.strokeColor, style.strokeOpacity)
    area = "\(filled) fill-rule=\"evenodd\" \(stroked) stroke-width=\"\(style.strokeWidth)\""
    line = "fill=\"none\" \(stroked) stroke-width=\"\(style.strokeWidth)\""
    point = style.iconColor.hex
    pointOpacity = style.iconColor.opacity
    speck = style.strokeColor.hex
    areaSample = "\(filled) \(stroked)"
    lineSample = Self.paint("fill", style.strokeColor, style.strokeOpacity)
  }

  private static func paint(_ name: String, _ color: StyleColor, _ opacity: Double) -> String {
    "\(name)=\"\(color.hex)\" \(name)-opacity=\"\(color.opacity * opacity)\""
  }

  /// Of a point's sample in the legend.
  var pointSample: String {
    pointOpacity < 1 ? "fill=\"\(point)\" fill-opacity=\"\(pointOpacity)\"" : "fill=\"\(point)\""
  }
}
