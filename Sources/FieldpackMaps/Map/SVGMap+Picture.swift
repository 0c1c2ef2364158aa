import FieldpackCore

extension SVGMap {
  private static let titleHeight = 56.0
  private static let legendRow = 24.0
  /// Room around what is drawn, so that nothing touches the frame.
  private static let inset = 8.0
  private static let gray = "class=\"s\" fill=\"#777\""

  /// The whole file of SVG.
  package func finished() -> [UInt8] {
    var map = self
    let placed = map.placeLabels(isPage: false)
    for index in map.layers.indices where map.layers[index].isThinned { map.thinPoints(of: index) }
    return map.picture(placed)
  }

  private func picture(_ placed: [PlacedLabel]) -> [UInt8] {
    let paints = paints
    let legend = MapLegend(self, paints)
    let (places, rows) = legend.positions(width: Self.width - 2 * Self.margin)
    let mapTop = Self.titleHeight
    let footTop = mapTop + frame.height + 2 * Self.inset + 40
    let legendTop = footTop + 20
    let height = legendTop + Double(rows) * Self.legendRow + 12
    let left = (Self.width - frame.width) / 2
    var svg = SVGText(
      title: title, width: Self.width, height: height, style: MapStyle.picture(paints))
    addFrame(to: &svg, left: left, top: mapTop)
    addFoot(to: &svg, at: footTop)
    svg.add(
      "<g transform=\"translate(\(svg.number(left)) \(svg.number(mapTop + Self.inset)))\" "
        + "stroke-linejoin=\"round\" stroke-linecap=\"round\">\n")
    MapContents(map: self, paints: paints, placed: placed, isPage: false).add(to: &svg)
    for pin in pins { pin.add(to: &svg, in: frame) }
    svg.add("</g>\n")
    for (entry, place) in zip(legend.entries, places) {
      let (x, y) = (Self.margin + place.x, legendTop + Double(place.row) * Self.legendRow)
      legend.add(entry.sign, x: x, y: y, to: &svg)
      var weight = ""
      if case .heading = entry.sign { weight = " font-weight=\"600\"" }
      svg.text(
        entry.text, x: x + legend.width(of: entry.sign), y: y + 10.5, size: 13,
        attributes: "class=\"t\" fill=\"#222\"" + weight)
    }
    svg.end()
    return svg.bytes
  }

  private func addFrame(to svg: inout SVGText, left: Double, top: Double) {
    let (x, width) = (left - Self.inset, frame.width + 2 * Self.inset)
    let height = frame.height + 2 * Self.inset
    svg.add(
      "<rect class=\"f\" x=\"\(svg.number(x))\" y=\"\(svg.number(top))\" "
        + "width=\"\(svg.number(width))\" height=\"\(svg.number(height))\" fill=\"#fafafa\" "
        + "stroke=\"#bbb\"/>\n")
    let labels = frame.labels
    func corner(_ x: String, _ y: String, at place: Double, _ row: Double, isEnd: Bool) {
      svg.text(
        reference.corner(x, y), x: place, y: row, size: 11,
        attributes: Self.gray + (isEnd ? " text-anchor=\"end\"" : ""),
        isHidden: !isEnd && width < 320)
    }
    corner(labels.west, labels.north, at: x, top - 5, isEnd: false)
    corner(labels.east, labels.south, at: x + width, top + height + 15, isEnd: true)
    corner(labels.west, labels.south, at: x, top + height + 15, isEnd: false)
    corner(labels.east, labels.north, at: x + width, top - 5, isEnd: true)
  }

  /// The scale bar at the left, and the name of the reference system at the right.
  private func addFoot(to svg: inout SVGText, at y: Double) {
    let x = Self.margin - Self.inset
    if let metres = reference.metres(in: frame.envelope),
      let bar = ScaleBar(perPixel: metres * frame.unitsPerPixel, most: 180)
    {
      let (start, end) = (svg.number(x), svg.number(x + bar.length))
      svg.add(
        "<path class=\"o\" fill=\"none\" stroke=\"#777\" stroke-width=\"1.5\" "
          + "d=\"M\(start) \(svg.number(y - 5))v5H\(end)v-5\"/>\n")
      svg.text(bar.label, x: x + bar.length + 8, y: y, size: 11, attributes: Self.gray)
    }
    svg.text(
      reference.name ?? "", x: Self.width - x, y: y, size: 11,
      attributes: Self.gray + " text-anchor=\"end\"")
  }
}
