import FieldpackCore

/// A mark on an SVG map with a title, turned to where something points.
package struct SVGPin: Hashable, Sendable {
  package var point: MapPoint
  /// Degrees clockwise from north; `nil` is a mark without a direction.
  package var heading: Double?
  package var title: String

  package init(at point: MapPoint, heading: Double? = nil, title: String) {
    self.point = point
    self.heading = heading
    self.title = title
  }

  private static let arrow = "M0-13L6.5 6 0 2.5-6.5 6z"
  private static let drop = "M0 0C-3-6-7-9-7-13a7 7 0 0 1 14 0C7-9 3-6 0 0z"

  func add(to svg: inout SVGText, in frame: MapFrame) {
    guard point.isFinite else { return }
    let point = frame.project(point)
    let (x, y) = (svg.number(point.x), svg.number(point.y))
    var turn = ""
    if let heading, heading.isFinite {
      let degrees = heading.truncatingRemainder(dividingBy: 360)
      turn = " rotate(\(svg.number(degrees)))"
    }
    svg.add(
      "<path transform=\"translate(\(x) \(y))\(turn)\" d=\"\(turn.isEmpty ? Self.drop : Self.arrow)\" "
        + "fill=\"#D55E00\" stroke=\"#fff\" stroke-width=\"1.5\"/>\n")
    let shown = DisplayText.cut(DisplayText.visible(title), to: 40)
    let isLeft = point.x < frame.width * 0.7
    svg.text(
      shown, x: point.x + (isLeft ? 12 : -12), y: point.y + 4, size: 12,
      attributes: "class=\"n\" fill=\"#222\" stroke=\"#fff\" stroke-width=\"3\" "
        + "paint-order=\"stroke\"" + (isLeft ? "" : " text-anchor=\"end\""))
  }
}
