package import FieldpackCore
package import FieldpackGeometry

/// What a map shows in one style: geometries that are at hand, and their name in the legend.
package struct MapLayer: Sendable {
  package var name: String
  /// `nil` is the next colour of those that colour-blind readers tell apart.
  package var style: LayerStyle?
  package var geometries: [Geometry]

  package init(_ name: String, style: LayerStyle? = nil, _ geometries: [Geometry]) {
    self.name = name
    self.style = style
    self.geometries = geometries
  }
}

extension SVGMap {
  /// Draws a layer above those before it.
  package mutating func draw(_ layer: MapLayer) {
    beginLayer(layer.name, style: layer.style)
    for geometry in layer.geometries { draw(geometry) }
  }
}
