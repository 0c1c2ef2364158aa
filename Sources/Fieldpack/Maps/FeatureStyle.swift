import FieldpackCore

/// The columns of Mapbox's simplestyle, which colour each feature: KML's styles are read into them, and
/// GeoJSON files have them.
enum FeatureStyle {
  private static let colors = ["stroke", "fill", "marker-color"]
  private static let numbers = ["stroke-opacity", "stroke-width", "fill-opacity"]

  /// The columns of a layer that colour its features; none where none is a colour.
  static func columns(of schema: Schema) -> [String] {
    guard colors.contains(where: { schema.columnIndex($0) != nil }) else { return [] }
    return (colors + numbers).filter { schema.columnIndex($0) != nil }
  }

  /// The style of a row; `nil` where it has no colour. What has no colour of its own takes another
  /// of the row.
  static func style(of row: FeatureBatch.Row, _ schema: Schema) -> LayerStyle? {
    func color(_ name: String) -> StyleColor? {
      guard let index = schema.columnIndex(name), row.kind(at: index) == .text else { return nil }
      return StyleColor(row.text(at: index))
    }
    func number(_ name: String, most: Double) -> Double? {
      guard let index = schema.columnIndex(name) else { return nil }
      return ColumnSurvey.number(row.stored(at: index)).map { max(0, min(most, $0)) }
    }
    let (line, area, point) = (color("stroke"), color("fill"), color("marker-color"))
    guard let any = line ?? area ?? point else { return nil }
    return LayerStyle(
      strokeColor: line ?? any, strokeOpacity: number("stroke-opacity", most: 1),
      strokeWidth: number("stroke-width", most: 100), fillColor: area ?? any,
      fillOpacity: number("fill-opacity", most: 1), iconColor: point ?? any)
  }
}
