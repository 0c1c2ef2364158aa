import FieldpackCore

/// What the signs of a map mean: a line for each symbol that was drawn, in the order of the layers.
struct MapLegend {
  enum Sign {
    /// The symbols below have this in common.
    case heading
    case symbol(Int)
    /// The radius in pixels of a point of some value.
    case circle(Double)
  }

  struct Entry {
    let sign: Sign
    let text: String
    /// Whether the entry begins a row, since a heading is above it or ends before it.
    var beginsRow = false
  }

  private(set) var entries: [Entry] = []
  private let map: SVGMap
  private let paints: [SVGPaint]

  init(_ map: SVGMap, _ paints: [SVGPaint]) {
    self.map = map
    self.paints = paints
    var follows = false
    for group in map.groups {
      // What nothing is drawn with says nothing.
      let shown = group.symbols.filter { !map.layers[$0].isEmpty }
      guard !shown.isEmpty else { continue }
      if let heading = group.heading {
        entries.append(Entry(sign: .heading, text: Self.cut(heading), beginsRow: true))
      }
      for (number, index) in shown.enumerated() {
        let label = Self.cut(map.layers[index].symbol.label)
        entries.append(
          Entry(
            sign: .symbol(index), text: label,
            beginsRow: number == 0 && group.heading == nil && follows))
      }
      follows = group.heading != nil
      guard let sizes = group.sizes else { continue }
      entries.append(
        Entry(
          sign: .heading, text: Self.cut("\(group.name): size by \(sizes.name)"), beginsRow: true))
      for sample in sizes.samples {
        entries.append(
          Entry(sign: .circle(MapSizes.radius(sample.share)), text: sample.label))
      }
      follows = true
    }
  }

  private static func cut(_ text: String) -> String {
    DisplayText.cut(DisplayText.visible(text), to: 60)
  }

  // MARK: Signs

  /// What a sign needs before its text, in pixels.
  func width(of sign: Sign) -> Double {
    switch sign {
    case .heading: 0
    case .symbol(let index): 25 + Double(max(0, kinds(index).count - 1)) * 24
    case .circle(let radius): 2 * radius + 7
    }
  }

  private func kinds(_ index: Int) -> [SVGFeature.Kind] {
    let layer = map.layers[index]
    var kinds: [SVGFeature.Kind] = []
    if layer.hasPolygons { kinds.append(.polygon) }
    if layer.hasLines { kinds.append(.line) }
    if layer.hasPoints { kinds.append(.point) }
    return kinds.isEmpty ? [.point] : kinds
  }

  /// Adds a sign in a row of 24 pixels, all kinds of shapes that the symbol has side by side.
  func add(_ sign: Sign, x: Double, y: Double, to svg: inout SVGText) {
    switch sign {
    case .heading: return
    case .circle(let radius):
      svg.add(
        "<circle class=\"o\" cx=\"\(svg.number(x + radius))\" cy=\"\(svg.number(y + 6))\" "
          + "r=\"\(svg.number(radius))\" fill=\"none\" stroke=\"#777\"/>\n")
    case .symbol(let index):
      let paint = paints[index]
      svg.add("<g class=\"\(paint.name)\">")
      for (number, kind) in kinds(index).enumerated() {
        let x = x + Double(number) * 24
        switch kind {
        case .polygon: rect(x, y, 18, 11, 2, "class=\"a\" " + paint.areaSample, to: &svg)
        case .line: rect(x, y, 18, 3, 1, "class=\"b\" " + paint.lineSample, to: &svg)
        case .point: rect(x, y, 9, 9, 5, "class=\"p\" " + paint.pointSample, to: &svg)
        }
      }
      svg.add("</g>\n")
    }
  }

  private func rect(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ radius: Int, _ paint: String,
    to svg: inout SVGText
  ) {
    svg.add(
      "<rect x=\"\(svg.number(x + (18 - width) / 2))\" y=\"\(svg.number(y + (12 - height) / 2))\" "
        + "width=\"\(svg.number(width))\" height=\"\(svg.number(height))\" rx=\"\(radius)\" "
        + "\(paint)/>")
  }

  // MARK: Rows

  /// Where the entries of a picture stand.
  func positions(width: Double) -> (places: [(x: Double, row: Int)], rows: Int) {
    var (x, row) = (0.0, 0)
    var places: [(x: Double, row: Int)] = []
    for entry in entries {
      // What 13-pixel letters take at most on average, since the font is not known here.
      let needed = self.width(of: entry.sign) + Double(DisplayText.width(entry.text)) * 8 + 26
      if x > 0, entry.beginsRow || x + needed > width { (x, row) = (0, row + 1) }
      places.append((x, row))
      x += needed
      if case .heading = entry.sign { (x, row) = (0, row + 1) }
    }
    return (places, max(1, row + (x > 0 ? 1 : 0)))
  }
}
