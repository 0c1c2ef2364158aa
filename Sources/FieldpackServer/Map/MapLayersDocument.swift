import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// What the page with the map needs to know of all layers: `/map/layers`.
struct MapLayersDocument {
  let title: String
  let layers: [ServedLayer]
  let pyramids: [ServedPyramid]
  let symbols: LayerSymbols

  var tree: JSONValue {
    let pictures = pyramids.compactMap(json)
    return .members([
      "title": .text(title), "layers": .array(layers.map(json)),
      "pictures": pictures.isEmpty ? nil : .array(pictures),
    ])
  }

  /// `nil` for a pyramid that has no tiles on the grid of web maps.
  private func json(_ pyramid: ServedPyramid) -> JSONValue? {
    guard let zooms = pyramid.webZooms, let box = pyramid.extent.box else { return nil }
    return .members([
      "id": .text(pyramid.collectionID), "title": .text(pyramid.title),
      "description": pyramid.pyramid.description.flatMap { $0.isEmpty ? nil : .text($0) },
      "bbox": .array(box.map { .real($0) }),
      "zooms": [JSONValue(zooms.lowerBound), JSONValue(zooms.upperBound)],
    ])
  }

  private func json(_ layer: ServedLayer) -> JSONValue {
    let schema = layer.schema
    return .members([
      "id": .text(layer.collectionID), "name": .text(layer.id.rawValue),
      "title": .text(layer.title),
      "description": layer.layer.description.map { .text($0) },
      "geometry": schema.geometry.map { .text($0.type.name) },
      "hasTiles": .boolean(layer.hasTiles), "hasID": .boolean(schema.idColumn != nil),
      "bbox": layer.bbox.map { .array($0.map { .real($0) }) },
      "label": Self.label(of: schema).map { .text($0) },
      "instant": layer.instantColumn.map { .text($0.name) },
      "radius": LayerSymbols.radius(of: schema).map { .text($0) },
      "ownColors": .unlessEmpty(LayerSymbols.ownColors(of: schema)),
      "style": symbols.symbols(of: schema).map(Self.style),
    ])
  }

  /// The column that names features: one that is called so, else the first text.
  static func label(of schema: Schema) -> String? {
    let names = ["name", "title", "label", "device"]
    for name in names {
      if let index = schema.columnIndex(name) { return schema.columns[index].name }
    }
    return schema.columns.first { if case .text = $0.type { true } else { false } }?.name
  }

  private static func style(
    _ style: (attribute: String?, entries: [QGISStyle.Entry])
  ) -> JSONValue {
    .members([
      "attribute": style.attribute.map { .text($0) },
      "symbols": .array(style.entries.map(symbol)),
    ])
  }

  private static func symbol(_ entry: QGISStyle.Entry) -> JSONValue {
    let style = entry.style.resolved
    var value: JSONValue?
    var range: JSONValue?
    switch entry.match {
    case .all: break
    case .value(let text): value = .text(text)
    case .range(let low, let high): range = [.real(low), .real(high)]
    }
    return .members([
      "label": .text(entry.label), "value": value, "range": range,
      "stroke": .text("\(style.strokeColor)"), "strokeOpacity": .real(style.strokeOpacity),
      "width": .real(style.strokeWidth), "fill": .text("\(style.fillColor)"),
      "fillOpacity": .real(style.fillOpacity), "point": .text("\(style.iconColor)"),
    ])
  }
}
