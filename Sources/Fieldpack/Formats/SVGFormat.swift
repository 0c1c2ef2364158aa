import FieldpackMaps

extension Format {
  /// A drawing: a map of the layers.
  public static let svg = Format(SVGFormat())
}

private struct SVGFormat: MapFormat {
  let name = "svg"
  let title = "SVG"
  let extensions = ["svg"]
  let medium = SVGMap.Medium.picture
}
