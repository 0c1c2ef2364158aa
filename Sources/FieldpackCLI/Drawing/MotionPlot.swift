import Fieldpack
import FieldpackCore

/// Channels over time as one SVG file, a panel for each section.
struct MotionPlot {
  private static let width = 1000.0
  private static let panelHeight = 150.0
  private static let gap = 34.0
  private static let (left, right, top) = (70.0, 24.0, 84.0)
  private static var plotWidth: Double { width - left - right }

  /// After Okabe and Ito, "Color Universal Design".
  private static let colors = ["#0072B2", "#D55E00", "#009E73"]

  let title: String
  let subtitle: String
  let samples: [MotionSample]
  let channels: [MotionChannel]
  /// Samples that are farther apart than so many seconds are not joined.
  let gapSeconds: Double

  /// The whole file.
  func bytes() -> [UInt8] {
    let sections = MotionSection.allCases.filter { section in
      channels.contains { $0.section == section }
    }
    let height =
      Self.top + Double(max(sections.count, 1)) * (Self.panelHeight + Self.gap) + 14
    var svg = SVGText()
    svg.add(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(svg.number(Self.width)) "
        + "\(svg.number(height))\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\">\n")
    let shownTitle = DisplayText.cut(DisplayText.visible(title), to: 80)
    svg.add("<title>\(SVGText.escaped(shownTitle))</title>\n")
    svg.add("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n")
    svg.text(
      shownTitle, x: 24, y: 29, size: 18, attributes: "font-weight=\"600\" fill=\"#222\"")
    svg.text(subtitle, x: 24, y: 49, size: 12, attributes: "fill=\"#555\"")
    let first = samples.first?.time ?? 0
    let seconds = (samples.last?.time ?? 0) - first
    let time = PlotAxis(0...(seconds > 0 ? seconds : 0), count: 10, isTight: true)
    for (index, section) in sections.enumerated() {
      let y = Self.top + Double(index) * (Self.panelHeight + Self.gap)
      add(section, at: y, time, first, isLast: index == sections.count - 1, to: &svg)
    }
    svg.add("</svg>\n")
    return svg.bytes
  }

  private func add(
    _ section: MotionSection, at y: Double, _ time: PlotAxis, _ first: Double, isLast: Bool,
    to svg: inout SVGText
  ) {
    let shown = section.channels.filter { channels.contains($0) }
    let values = samples.lazy.flatMap { sample in shown.compactMap { sample.reading[$0] } }
    let axis = PlotAxis(
      (values.min() ?? 0)...(values.max() ?? 0), count: 4, isTight: false)
    frame(at: y, axis, time, labelled: isLast, to: &svg)
    svg.text(
      "\(section.title), \(section.unit)", x: Self.left, y: y - 8, size: 12,
      attributes: "font-weight=\"600\" fill=\"#333\"")
    for (index, channel) in shown.enumerated() {
      let color = Self.colors[section.channels.firstIndex(of: channel) ?? 0]
      svg.text(
        channel.rawValue, x: Self.width - Self.right - Double(shown.count - 1 - index) * 44,
        y: y - 8, size: 12,
        attributes: "font-weight=\"600\" text-anchor=\"end\" fill=\"\(color)\"")
      let path = line(channel, at: y, axis, time, first)
      svg.path(path, "fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.2\"")
    }
  }

  private func frame(
    at y: Double, _ axis: PlotAxis, _ time: PlotAxis, labelled: Bool, to svg: inout SVGText
  ) {
    let (x, width, height) = (Self.left, Self.plotWidth, Self.panelHeight)
    svg.add(
      "<rect x=\"\(svg.number(x))\" y=\"\(svg.number(y))\" width=\"\(svg.number(width))\" "
        + "height=\"\(svg.number(height))\" fill=\"#fafafa\" stroke=\"#bbb\"/>\n")
    var grid = SVGPath()
    for mark in axis.marks {
      let at = y + height * (1 - axis.share(mark))
      grid.move(to: SVGPath.tenths(MapPoint(x, at)))
      grid.line(to: SVGPath.tenths(MapPoint(x + width, at)))
      svg.text(
        axis.label(mark), x: x - 6, y: at + 4, size: 11,
        attributes: "fill=\"#777\" text-anchor=\"end\"")
    }
    for mark in time.marks {
      let at = x + width * time.share(mark)
      grid.move(to: SVGPath.tenths(MapPoint(at, y)))
      grid.line(to: SVGPath.tenths(MapPoint(at, y + height)))
      svg.text(
        "\(time.label(mark)) s", x: at, y: y + height + 16, size: 11,
        attributes: "fill=\"#777\" text-anchor=\"middle\"", isHidden: !labelled)
    }
    svg.path(grid, "fill=\"none\" stroke=\"#e4e4e4\" stroke-width=\".8\"")
  }

  // MARK: Lines

  /// What lies in one column of pixels: where the line comes in, its ends, and where it goes out.
  private struct PixelColumn {
    var number: Int
    var time: Double
    var first: Double
    var least: Double
    var greatest: Double
    var last: Double

    init(_ number: Int, _ time: Double, _ value: Double) {
      self.number = number
      self.time = time
      (first, least, greatest, last) = (value, value, value, value)
    }

    mutating func add(_ value: Double) {
      (least, greatest, last) = (min(least, value), max(greatest, value), value)
    }

    var values: [Double] {
      guard least < greatest else { return [first] }
      return [first, least, greatest, last].reduce(into: []) { values, value in
        if values.last != value { values.append(value) }
      }
    }
  }

  /// At most four points a half pixel, however many samples there are.
  private func line(
    _ channel: MotionChannel, at y: Double, _ axis: PlotAxis, _ time: PlotAxis, _ first: Double
  ) -> SVGPath {
    var path = SVGPath()
    var column: PixelColumn?
    var (isDrawing, previous) = (false, -Double.infinity)
    func draw() {
      guard let drawn = column else { return }
      for value in drawn.values {
        let point = SVGPath.tenths(
          MapPoint(
            Self.left + Self.plotWidth * time.share(drawn.time),
            y + Self.panelHeight * (1 - axis.share(value))))
        if isDrawing { path.line(to: point) } else { path.move(to: point) }
        isDrawing = true
      }
      column = nil
    }
    for sample in samples {
      guard let value = sample.reading[channel] else { continue }
      let seconds = sample.time - first
      if sample.time - previous > gapSeconds {
        draw()
        isDrawing = false
      }
      previous = sample.time
      let number = Int(time.share(seconds) * Self.plotWidth * 2)
      if column?.number == number {
        column?.add(value)
      } else {
        draw()
        column = PixelColumn(number, seconds, value)
      }
    }
    draw()
    return path
  }
}

extension MotionSection {
  fileprivate var title: String {
    switch self {
    case .attitude: "attitude"
    case .acceleration: "acceleration"
    case .magneticField: "magnetic field"
    case .rotation: "rotation"
    }
  }
}
