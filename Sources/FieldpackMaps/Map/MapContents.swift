import FieldpackCore

/// Writes what lies inside of a map's frame: polygons, then lines, then points, then labels.
struct MapContents {
  /// Up to here points are circles with a light border; more are plain dots in one path.
  private static let mostCircles = 3000

  let map: SVGMap
  let paints: [SVGPaint]
  let placed: [PlacedLabel]
  let isPage: Bool

  /// In a page, strokes keep their width whatever the zoom.
  private var steady: String { isPage ? " vector-effect=\"non-scaling-stroke\"" : "" }

  func add(to svg: inout SVGText) {
    for (layer, paint) in zip(map.layers, paints) { addPolygons(layer, paint, to: &svg) }
    for (layer, paint) in zip(map.layers, paints) { addLines(layer, paint, to: &svg) }
    for (layer, paint) in zip(map.layers, paints) { addPoints(layer, paint, to: &svg) }
    addLabels(to: &svg)
  }

  // MARK: Areas and lines

  private func addPolygons(_ layer: SVGLayer, _ paint: SVGPaint, to svg: inout SVGText) {
    guard layer.hasPolygons else { return }
    svg.add("<g class=\"\(paint.name)\"><g class=\"a\" \(paint.area)>\n")
    svg.bytes.append(contentsOf: layer.polygons)
    for feature in layer.features where feature.kind == .polygon {
      addPath(feature, "", to: &svg)
    }
    svg.add("</g></g>\n")
  }

  private func addLines(_ layer: SVGLayer, _ paint: SVGPaint, to svg: inout SVGText) {
    guard layer.hasLines else { return }
    let width = Decimals.short(paint.lineWidth)
    svg.add(
      "<g class=\"\(paint.name)\"><g class=\"l\" \(paint.line) stroke-width=\"\(width)\">\n")
    if !layer.lines.bytes.isEmpty { svg.path(layer.lines) }
    for feature in layer.features where feature.kind == .line {
      let width = feature.size.map { "stroke-width=\"\(svg.number(Double($0) / 10))\" " } ?? ""
      addPath(feature, width, to: &svg)
    }
    svg.add("</g></g>\n")
  }

  private func addPath(_ feature: SVGFeature, _ attributes: String, to svg: inout SVGText) {
    svg.add("<path \(attributes)\(row(feature))d=\"")
    svg.bytes.append(contentsOf: feature.path)
    svg.add("\"\(end(feature, "path"))")
  }

  private func row(_ feature: SVGFeature) -> String {
    feature.row.map { "data-i=\"\($0)\" " } ?? ""
  }

  private func end(_ feature: SVGFeature, _ name: String) -> String {
    guard let title = feature.title else { return "/>\n" }
    return "><title>\(SVGText.escaped(title))</title></\(name)>\n"
  }

  // MARK: Points

  private func addPoints(_ layer: SVGLayer, _ paint: SVGPaint, to svg: inout SVGText) {
    let points = layer.features.filter { $0.kind == .point }
      .sorted { ($0.size ?? 35) > ($1.size ?? 35) }
    guard !layer.dots.isEmpty || !layer.specks.isEmpty || !points.isEmpty else { return }
    svg.add("<g class=\"\(paint.name)\">\n")
    addDots(layer.specks, 2, "l", paint.speck, to: &svg)
    addPlain(layer, paint, to: &svg)
    for level in Set(points.map(\.level)).sorted() where isPage || level == 0 || !layer.isThinned {
      let name = level > 0 && isPage ? " z z\(level)" : ""
      svg.add(
        "<g class=\"p h\(name)\" \(paint.pointSample) stroke=\"#fff\" stroke-width=\".8\">\n")
      for point in points where point.level == level { addCircle(point, to: &svg) }
      svg.add("</g>\n")
    }
    svg.add("</g>\n")
  }

  private func addPlain(_ layer: SVGLayer, _ paint: SVGPaint, to svg: inout SVGText) {
    let isThinned = layer.isThinned && layer.dots.count > DotThinning.least
    let dots = isThinned ? thinned(layer.dots) : layer.dots
    if dots.count > Self.mostCircles {
      addDots(dots, 3, "l", paint.point, to: &svg)
    } else if !dots.isEmpty {
      svg.add("<g class=\"p h\" \(paint.pointSample) stroke=\"#fff\" stroke-width=\".8\">\n")
      for dot in dots.sorted() { addCircle(SVGFeature(kind: .point, dot: dot), to: &svg) }
      svg.add("</g>\n")
    }
  }

  private func thinned(_ dots: Set<SVGLayer.Dot>) -> Set<SVGLayer.Dot> {
    var thinning = DotThinning(scale: Int(map.scale))
    return Set(dots.sorted().filter { thinning.level(of: $0) == 0 })
  }

  private func addCircle(_ point: SVGFeature, to svg: inout SVGText) {
    svg.add("<circle \(row(point))cx=\"")
    SVGPath.append(point.dot.x, to: &svg.bytes)
    svg.add("\" cy=\"")
    SVGPath.append(point.dot.y, to: &svg.bytes)
    let radius = Double(point.size ?? 35) / 10
    svg.add("\" r=\"\(svg.number(radius * map.scale))\"")
    if isPage, point.size != nil { svg.add(" style=\"--r:\(svg.number(radius))\"") }
    svg.add(end(point, "circle"))
  }

  /// Lines without length: their round ends are the dots.
  private func addDots(
    _ dots: Set<SVGLayer.Dot>, _ width: Int, _ name: String, _ color: String,
    to svg: inout SVGText
  ) {
    guard !dots.isEmpty else { return }
    var path = SVGPath()
    for dot in dots.sorted() {
      path.move(to: (dot.x, dot.y))
      path.line(to: (dot.x, dot.y))
    }
    svg.path(
      path, "class=\"\(name)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"\(width)\"")
  }

  // MARK: Labels

  private func addLabels(to svg: inout SVGText) {
    guard isPage ? !map.labels.isEmpty : !placed.isEmpty else { return }
    svg.add(
      "<g class=\"n\" font-size=\"12\" fill=\"#222\" stroke=\"#fff\" stroke-width=\"3\" "
        + "paint-order=\"stroke\">\n")
    if isPage {
      for label in map.labels.map(\.label) { addMovable(label, to: &svg) }
    } else {
      for label in placed {
        let anchor = label.anchor == "start" ? "" : " text-anchor=\"\(label.anchor)\""
        svg.add(
          "<text x=\"\(svg.number(label.x))\" y=\"\(svg.number(label.y))\"\(anchor)>"
            + "\(SVGText.escaped(label.label.text))</text>\n")
      }
    }
    svg.add("</g>\n")
  }

  /// A label that the page's script places for each zoom.
  private func addMovable(_ label: MapLabel, to svg: inout SVGText) {
    svg.add("<text x=\"")
    SVGPath.append(label.at.x, to: &svg.bytes)
    svg.add("\" y=\"")
    SVGPath.append(label.at.y, to: &svg.bytes)
    svg.add(
      "\" data-w=\"\(svg.number(label.width))\" data-r=\"\(svg.number(label.reach))\""
        + "\(label.kind == .polygon ? " data-m=\"\"" : "") visibility=\"hidden\">"
        + "\(SVGText.escaped(label.text))</text>\n")
  }
}
