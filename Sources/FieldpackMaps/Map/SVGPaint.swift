import FieldpackCore

/// The attributes that colour what is drawn with one symbol.
struct SVGPaint {
  /// The class of the elements, by which a dark ground gets other colours.
  let name: String
  /// Of polygons.
  let area: String
  /// Of lines, without their width.
  let line: String
  /// In pixels.
  let lineWidth: Double
  /// The colour of points, with its opacity where it has one.
  let point: String
  let pointOpacity: Double
  /// The colour of polygons and lines too small to be seen as such.
  let speck: String
  /// Of a polygon's sample in the legend.
  let areaSample: String
  /// Of a line's sample in the legend.
  let lineSample: String
  /// The rules of CSS for a dark ground; empty where the colours stand out there.
  let dark: String

  /// What a layer without a style gets.
  ///
  /// - Parameter isClass: whether the colour says what the value is, so that areas show it.
  init(_ color: StyleColor, isClass: Bool, name: String) {
    let hex = color.hex.uppercased()
    let opacity = isClass ? ".75" : ".2"
    self.name = name
    area =
      "fill=\"\(hex)\" fill-opacity=\"\(opacity)\" fill-rule=\"evenodd\" "
      + "stroke=\"\(hex)\" stroke-width=\".8\""
    line = "fill=\"none\" stroke=\"\(hex)\""
    lineWidth = 1.6
    point = hex
    pointOpacity = 1
    speck = hex
    areaSample = "fill=\"\(hex)\" fill-opacity=\"\(isClass ? ".75" : ".3")\" stroke=\"\(hex)\""
    lineSample = "fill=\"\(hex)\""
    // Classes keep their order from light to dark on any ground.
    dark = isClass ? "" : Self.dark(name, fill: color, stroke: color, point: color)
  }

  init(_ style: ResolvedStyle, name: String) {
    let filled = Self.paint("fill", style.fillColor, style.fillOpacity)
    let stroked = Self.paint("stroke", style.strokeColor, style.strokeOpacity)
    self.name = name
    lineWidth = style.strokeWidth.isFinite ? max(0, min(100, style.strokeWidth)) : 1
    area = "\(filled) fill-rule=\"evenodd\" \(stroked) stroke-width=\"\(lineWidth)\""
    line = "fill=\"none\" \(stroked)"
    point = style.iconColor.hex
    pointOpacity = style.iconColor.opacity
    speck = style.strokeColor.hex
    areaSample = "\(filled) \(stroked)"
    lineSample = Self.paint("fill", style.strokeColor, style.strokeOpacity)
    dark = Self.dark(
      name, fill: style.fillColor, stroke: style.strokeColor, point: style.iconColor)
  }

  private static func paint(_ name: String, _ color: StyleColor, _ opacity: Double) -> String {
    "\(name)=\"\(color.hex)\" \(name)-opacity=\"\(color.opacity * opacity)\""
  }

  private static func dark(
    _ name: String, fill: StyleColor, stroke: StyleColor, point: StyleColor
  ) -> String {
    var rules = ""
    if let color = fill.onDark { rules += ".\(name) .a{fill:\(color.hex)}" }
    if let color = stroke.onDark {
      rules += ".\(name) .a,.\(name) .l{stroke:\(color.hex)}.\(name) .b{fill:\(color.hex)}"
    }
    if let color = point.onDark { rules += ".\(name) .p{fill:\(color.hex)}" }
    return rules
  }

  /// Of a point, or its sample in the legend.
  var pointSample: String {
    pointOpacity < 1 ? "fill=\"\(point)\" fill-opacity=\"\(pointOpacity)\"" : "fill=\"\(point)\""
  }
}
