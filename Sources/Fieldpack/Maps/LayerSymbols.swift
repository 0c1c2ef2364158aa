package import FieldpackCore
import FieldpackField
package import FieldpackFormats
package import FieldpackGeoPackage

/// The symbols of layers that are known without a look at their features, such as for a page that
/// draws the features itself.
package struct LayerSymbols: Sendable {
  private let stored: StoredStyles?

  /// - Parameter store: the file whose styles count; `nil` for none.
  package init(of store: GeoPackageStore?) async throws(FieldpackError) {
    stored = if let store { try await StoredStyles(of: store) } else { nil }
  }

  /// The column that selects a symbol, and the symbols; `nil` where nothing says how the layer is
  /// drawn.
  package func symbols(
    of schema: Schema
  ) -> (attribute: String?, entries: [QGISStyle.Entry])? {
    if let style = schema.style { return Self.plain(style) }
    if let style = stored?[schema.layer],
      style.attribute.map({ schema.columnIndex($0) != nil }) ?? true
    {
      return (style.attribute, style.entries)
    }
    guard let column = FieldDrawing.kindColumn(of: schema) else {
      return FieldDrawing.style(of: schema.layer).flatMap(Self.plain)
    }
    let entries = (FieldDrawing.kinds + [""]).compactMap { kind -> QGISStyle.Entry? in
      FieldDrawing.style(of: schema.layer, kind: kind).map {
        .init(label: kind.isEmpty ? "other" : kind, style: $0, match: .value(kind))
      }
    }
    return (column, entries)
  }

  private static func plain(
    _ style: LayerStyle
  ) -> (attribute: String?, entries: [QGISStyle.Entry])? {
    (nil, [.init(label: "", style: style, match: .all)])
  }

  /// The columns that colour each feature; see Mapbox's simplestyle.
  package static func ownColors(of schema: Schema) -> [String] { FeatureStyle.columns(of: schema) }

  /// The column whose metres make a circle of a point; `nil` in other layers.
  package static func radius(of schema: Schema) -> String? {
    schema.columnIndex(FieldDrawing.radiusColumn) == nil ? nil : FieldDrawing.radiusColumn
  }
}
