package import FieldpackCore
package import FieldpackGeometry

/// A map as one SVG file: layers in their styles, else in colours that colour-blind readers tell
/// apart, and a legend.
///
///     var map = SVGMap(title: "field.gpkg", envelope, isGeographic: true)
///     map.beginLayer("wells")
///     map.draw(geometry)
///     let bytes = map.finished()
package struct SVGMap: MapDrawing {
  /// The width of the picture in pixels; its height follows from the envelope.
  package static let width = 1000.0

  private static let margin = 24.0
  private static let titleHeight = 56.0
  private static let legendRow = 24.0

  /// After Okabe and Ito, "Color Universal Design", without the yellow that white swallows.
  private static let palette = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555",
  ]
  /// Up to here points are circles with a light border; more are plain dots in one path.
  private static let mostCircles = 3000

  private let title: String
  private let frame: MapFrame
  private var layers: [SVGLayer] = []
  private var pins: [SVGPin] = []

  /// - Parameters:
  ///   - title: escaped, so that any text will do.
  ///   - envelope: what the map shows.
  ///   - isGeographic: whether x and y are degrees.
  package init(title: String, _ envelope: Envelope, isGeographic: Bool) {
    self.title = title
    frame = MapFrame(
      envelope, isGeographic: isGeographic, maxWidth: Self.width - 2 * Self.margin,
      maxHeight: Self.width)
  }

  /// Begins the layer that all shapes up to the next one belong to.
  package mutating func beginLayer(_ name: String, style: LayerStyle? = nil) {
    let color = Self.palette[layers.count % Self.palette.count]
    let paint = style.map { SVGPaint($0.resolved) } ?? SVGPaint(color: color)
    layers.append(SVGLayer(name: name, paint: paint, frame: frame))
  }

  package mutating func draw(_ shape: MapShape) {
    if layers.isEmpty { beginLayer("") }
    layers[layers.count - 1].draw(shape)
  }

  /// Draws a mark above all layers.
  package mutating func draw(_ pin: SVGPin) { pins.append(pin) }

  /// The whole file.
  package func finished() -> [UInt8] {
    let legend = Legend(layers.map(\.name), width: Self.width - 2 * Self.margin)
    let mapTop = Self.titleHeight
    let labelHeight = 22.0
    let legendTop = mapTop + frame.height + 2 * Self.inset + labelHeight + 12
    let height = legendTop + Double(legend.rows) * Self.legendRow + 12
    let left = (Self.width - frame.width) / 2
    var svg = SVGText(title: title, width: Self.width, height: height)
    addFrame(to: &svg, left: left, top: mapTop)
    svg.add(
      "<g transform=\"translate(\(svg.number(left)) \(svg.number(mapTop + Self.inset)))\" "
        + "stroke-linejoin=\"round\" stroke-linecap=\"round\">\n")
    addPolygons(to: &svg)
    addLines(to: &svg)
    addPoints(to: &svg)
    for pin in pins { pin.add(to: &svg, in: frame) }
    svg.add("</g>\n")
    addLegend(legend, to: &svg, top: legendTop)
    svg.end()
    return svg.bytes
  }

  /// Room around what is drawn, so that nothing touches the frame.
  private static let inset = 8.0

  private func addFrame(to svg: inout SVGText, left: Double, top: Double) {
    let (x, width) = (left - Self.inset, frame.width + 2 * Self.inset)
    let height = frame.height + 2 * Self.inset
    svg.add(
      "<rect x=\"\(svg.number(x))\" y=\"\(svg.number(top))\" width=\"\(svg.number(width))\" "
        + "height=\"\(svg.number(height))\" fill=\"#fafafa\" stroke=\"#bbb\"/>\n")
    let labels = frame.labels
    let gray = "fill=\"#777\""
    svg.text(
      "\(labels.west), \(labels.north)", x: x, y: top - 5, size: 11,
      attributes: gray, isHidden: width < 320)
    svg.text(
      "\(labels.east), \(labels.south)", x: x + width, y: top + height + 15, size: 11,
      attributes: gray + " text-anchor=\"end\"")
    svg.text(
      "\(labels.west), \(labels.south)", x: x, y: top + height + 15, size: 11,
      attributes: gray, isHidden: width < 320)
    svg.text(
      "\(labels.east), \(labels.north)", x: x + width, y: top - 5, size: 11,
      attributes: gray + " text-anchor=\"end\"")
  }

  private func addPolygons(to svg: inout SVGText) {
    for layer in layers where layer.hasPolygons {
      svg.add("<g \(layer.paint.area)>\n")
      svg.bytes.append(contentsOf: layer.polygons)
      svg.add("</g>\n")
    }
  }

  private func addLines(to svg: inout SVGText) {
    for layer in layers where layer.hasLines { svg.path(layer.lines, layer.paint.line) }
  }

  private func addPoints(to svg: inout SVGText) {
    for layer in layers {
      let paint = layer.paint
      addDots(layer.specks, "stroke-width=\"2\"", paint.speck, to: &svg)
      if layer.dots.count > Self.mostCircles {
        addDots(layer.dots, "stroke-width=\"3\"", paint.point, to: &svg)
      } else if !layer.dots.isEmpty {
        svg.add("<g \(paint.pointSample) stroke=\"#fff\" stroke-width=\".8\">\n")
        for dot in layer.dots.sorted() { svg.circle(dot, radius: "3.5") }
        svg.add("</g>\n")
      }
    }
  }

  /// Lines without length: their round ends are the dots.
  private func addDots(
    _ dots: Set<SVGLayer.Dot>, _ attributes: String, _ color: String, to svg: inout SVGText
  ) {
    guard !dots.isEmpty else { return }
    var path = SVGPath()
    for dot in dots.sorted() {
      path.move(to: (dot.x, dot.y))
      path.line(to: (dot.x, dot.y))
    }
    svg.path(path, "fill=\"none\" stroke=\"\(color)\" \(attributes)")
  }

  private func addLegend(_ legend: Legend, to svg: inout SVGText, top: Double) {
    for (index, position) in legend.positions.enumerated() {
      let (x, y) = (Self.margin + position.x, top + Double(position.row) * Self.legendRow)
      let layer = layers[index]
      let paint =
        layer.hasPolygons
        ? layer.paint.areaSample
        : layer.hasLines ? layer.paint.lineSample : layer.paint.pointSample
      let (height, radius) = layer.hasPolygons ? (11, 2) : layer.hasLines ? (3, 1) : (9, 5)
      let width = layer.hasPolygons || layer.hasLines ? 18 : 9
      svg.add(
        "<rect x=\"\(svg.number(x + Double(18 - width) / 2))\" "
          + "y=\"\(svg.number(y + Double(12 - height) / 2))\" width=\"\(width)\" "
          + "height=\"\(height)\" rx=\"\(radius)\" \(paint)/>\n")
      svg.text(legend.names[index], x: x + 25, y: y + 10.5, size: 13, attributes: "fill=\"#222\"")
    }
  }

  /// Where the names of the layers stand, in rows.
  private struct Legend {
    private(set) var names: [String] = []
    private(set) var positions: [(x: Double, row: Int)] = []
    private(set) var rows = 1

    init(_ layers: [String], width: Double) {
      var x = 0.0
      for layer in layers {
        let name = DisplayText.cut(DisplayText.visible(layer), to: 60)
        // What 13-pixel letters take at most on average, since the font is not known here.
        let needed = 25 + Double(DisplayText.width(name)) * 8 + 26
        if x > 0, x + needed > width {
          x = 0
          rows += 1
        }
        names.append(name)
        positions.append((x, rows - 1))
        x += needed
      }
    }
  }
}
