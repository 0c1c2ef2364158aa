import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

/// The styles that QGIS stored in the table `layer_styles` of a GeoPackage.
struct StoredStyles: Sendable {
  private var styles: [LayerID: QGISStyle] = [:]

  /// The default style of each layer, else the newest; none where there is no such table.
  init(of store: any Store) async throws(FieldpackError) {
    guard let file = store.geoPackage else { return }
    let rows = try await file.read { (snapshot) throws(FieldpackError) -> [(String, String)] in
      guard try snapshot.hasTable("layer_styles") else { return [] }
      // A table of that name with other columns is none of QGIS's.
      let columns = try snapshot.rows("SELECT lower(name) FROM pragma_table_info('layer_styles')")
      let names = Set(columns.compactMap { $0.first?.textValue })
      guard names.isSuperset(of: ["f_table_name", "styleqml", "useasdefault", "id"]) else {
        return []
      }
      // A style is some kilobytes; what is larger is not read.
      return try snapshot.rows(
        "SELECT f_table_name, styleQML FROM layer_styles WHERE length(styleQML) < 1000000 "
          + "ORDER BY useAsDefault, id LIMIT 1000"
      ).compactMap { row in
        guard let layer = row[0].textValue, let style = row[1].textValue else { return nil }
        return (layer, style)
      }
    }
    for (layer, text) in rows {
      if let style = QGISStyle(qml: Array(text.utf8)) { styles[LayerID(layer)] = style }
    }
  }

  /// The columns that select symbols.
  var attributes: [String] { styles.values.compactMap(\.attribute) }

  subscript(layer: LayerID) -> QGISStyle? { styles[layer] }
}
