package import FieldpackCore
package import FieldpackGeometry

/// A map as one SVG file or one page: layers in their styles, else in colours that colour-blind readers
/// tell apart, with a legend, a scale bar and the reference system.
///
///     var map = SVGMap(title: "field.gpkg", envelope, in: .wgs84)
///     map.beginLayer("wells")
///     map.draw(geometry)
///     let bytes = map.finished()
package struct SVGMap: MapDrawing {
  /// What a map is drawn for.
  package enum Medium: Sendable {
    /// A file of SVG.
    case picture
    /// A page that can be zoomed, so that shapes are drawn in more detail.
    case page
  }

  /// The width of the picture in pixels; its height follows from the envelope.
  package static let width = 1000.0
  static let margin = 24.0
  /// Features that are elements of their own; more of them would make a page slow.
  package static let mostElements = 20_000

  /// The symbols of one layer.
  struct Group {
    let name: String
    let heading: String?
    let symbols: Range<Int>
    let columns: [String]
    var rows: [[Value]] = []
    let sizes: MapSizes?
  }

  let title: String
  let frame: MapFrame
  let reference: MapReference
  /// Units of the drawing in a pixel.
  let scale: Double
  private(set) var layers: [SVGLayer] = []
  private(set) var groups: [Group] = []
  private(set) var pins: [SVGPin] = []
  /// The labels, each with the elements that it names.
  private(set) var labels: [(label: MapLabel, layer: Int, features: Range<Int>)] = []
  /// Features beyond ``mostElements``, which have neither label nor attributes.
  package private(set) var plainCount = 0
  private var elementCount = 0

  /// - Parameters:
  ///   - title: escaped, so that any text will do.
  ///   - envelope: what the map shows; longitudes beyond 180 are those across the antimeridian.
  package init(
    title: String, _ envelope: Envelope, in reference: MapReference,
    for medium: Medium = .picture
  ) {
    self.title = title
    self.reference = reference
    scale = medium == .page ? 8 : 1
    frame = MapFrame(
      envelope, isGeographic: reference.isGeographic,
      maxWidth: (Self.width - 2 * Self.margin) * scale, maxHeight: Self.width * scale)
  }

  /// Begins the layer that all shapes up to the next one belong to.
  package mutating func beginLayer(
    _ name: String, style: LayerStyle? = nil, columns: [String] = [], sizes: MapSizes? = nil,
    isThinned: Bool = false
  ) {
    let paint = style.map { MapSymbol.Paint.style($0) } ?? .automatic(key: nil)
    beginLayer(
      name, heading: nil, symbols: [MapSymbol(name, paint)], columns: columns, sizes: sizes,
      isThinned: isThinned)
  }

  /// Begins a layer of several symbols, which have a heading in the legend.
  ///
  /// - Parameters:
  ///   - columns: the names of the attributes that its features have.
  ///   - isThinned: whether a picture shows only as many points as do not hide each other.
  package mutating func beginLayer(
    _ name: String, heading: String?, symbols: [MapSymbol], columns: [String] = [],
    sizes: MapSizes? = nil, isThinned: Bool = false
  ) {
    let first = layers.count
    layers += symbols.map { SVGLayer($0, isThinned: isThinned, frame: frame) }
    groups.append(
      Group(
        name: name, heading: heading, symbols: first..<layers.count, columns: columns,
        sizes: sizes))
  }

  package mutating func draw(_ shape: MapShape) {
    if layers.isEmpty { beginLayer("") }
    layers[groups[groups.count - 1].symbols.lowerBound].draw(shape)
  }

  /// Draws a feature with its label, size and attributes.
  ///
  /// - Parameter layer: the number of its layer, from 0 in the order in which they were begun; `nil` is
  ///   the last one.
  package mutating func draw(_ geometry: Geometry, as mark: MapMark, in layer: Int? = nil) {
    if layers.isEmpty { beginLayer("") }
    let group = max(0, min(layer ?? groups.count, groups.count - 1))
    let symbols = groups[group].symbols
    let index = min(symbols.upperBound - 1, symbols.lowerBound + max(0, mark.symbol))
    let empty = SVGLayer(layers[index].symbol, isThinned: layers[index].isThinned, frame: frame)
    guard !mark.isPlain, elementCount < Self.mostElements else {
      if !mark.isPlain { plainCount += 1 }
      // The layer is taken out, so that its arrays are not copied.
      var walk = PlainWalk(layer: layers[index])
      layers[index] = empty
      walk.draw(geometry)
      layers[index] = walk.layer
      return
    }
    elementCount += 1
    var walk = FeatureWalk(layer: empty)
    walk.draw(geometry)
    var row: String?
    if let attributes = mark.attributes {
      row = "\(group)-\(groups[group].rows.count)"
      groups[group].rows.append(attributes)
    }
    let (features, label) = walk.shape.elements(of: mark, row: row)
    let first = layers[index].features.count
    layers[index].features += features
    if let label { labels.append((label, index, first..<first + features.count)) }
  }

  private struct PlainWalk: MapDrawing {
    var layer: SVGLayer
    mutating func draw(_ shape: MapShape) { layer.draw(shape) }
  }

  private struct FeatureWalk: MapDrawing {
    let layer: SVGLayer
    var shape = FeatureShape()
    mutating func draw(_ shape: MapShape) { self.shape.add(shape, of: layer) }
  }

  /// Draws a mark above all layers.
  package mutating func draw(_ pin: SVGPin) { pins.append(pin) }

  // MARK: Colours and labels

  /// The paint of every symbol: styles first, so that no other symbol gets a colour of theirs.
  var paints: [SVGPaint] {
    var palette = MapPalette()
    if layers.contains(where: { $0.symbol.paint == .other && !$0.isEmpty }) {
      palette.take(MapPalette.other)
    }
    for case .style(let style) in layers.map(\.symbol.paint) {
      for color in [style.strokeColor, style.fillColor, style.iconColor] {
        if let color { palette.take(color) }
      }
    }
    var colors: [StyleColor?] = layers.map { $0.symbol.paint == .other ? MapPalette.other : nil }
    for group in groups {
      let ramp = group.symbols.filter { layers[$0].symbol.paint == .ramp }
      for (index, color) in zip(ramp, ramp.isEmpty ? [] : palette.ramp(ramp.count)) {
        colors[index] = color
      }
    }
    var keys: [String: StyleColor] = [:]
    for (index, layer) in layers.enumerated() {
      guard case .automatic(let key) = layer.symbol.paint else { continue }
      let color = key.flatMap { keys[$0] } ?? palette.next()
      if let key { keys[key] = color }
      colors[index] = color
    }
    return layers.indices.map { index in
      let name = "k\(index)"
      if case .style(let style) = layers[index].symbol.paint {
        return SVGPaint(style.resolved, name: name)
      }
      let isClass = groups.contains { $0.symbols.contains(index) && $0.symbols.count > 1 }
      return SVGPaint(colors[index] ?? MapPalette.other, isClass: isClass, name: name)
    }
  }

  /// Places what labels there is room for; the others are told where the pointer rests.
  mutating func placeLabels(isPage: Bool) -> [PlacedLabel] {
    var placing = LabelPlacing(
      width: frame.width / scale, height: frame.height / scale, scale: scale)
    var placed: [PlacedLabel] = []
    for (label, layer, features) in labels {
      if let place = placing.place(label) {
        placed.append(place)
        if !isPage { continue }
      }
      for index in features { layers[layer].features[index].title = label.text }
    }
    return placed
  }

  mutating func thinPoints(of layer: Int) {
    guard layers[layer].features.count > DotThinning.least else { return }
    var thinning = DotThinning(scale: Int(scale))
    for index in layers[layer].features.indices
    where layers[layer].features[index].kind == .point {
      layers[layer].features[index].level = thinning.level(of: layers[layer].features[index].dot)
    }
  }
}
