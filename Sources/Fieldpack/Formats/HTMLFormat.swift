import FieldpackMaps

extension Format {
  /// A page with a map of the layers.
  public static let html = Format(HTMLFormat())
}

private struct HTMLFormat: MapFormat {
  let name = "html"
  let title = "HTML"
  let extensions = ["html", "htm"]
  let medium = SVGMap.Medium.page
}
