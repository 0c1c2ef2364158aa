/// Series of values over time as one SVG file, some of them in each panel.
///
///     let plot = Plot(
///       title: "phone", subtitle: "session 1", samples: samples, time: { $0.time }, gap: 1,
///       panels: [Plot.Panel("acceleration, g", [Plot.Series("az", color: 2) { $0.reading[.az] }])])
///     let bytes = plot.bytes()
package struct Plot<Sample> {
  /// Values with a name; a sample may have none.
  package struct Series {
    var name: String
    /// Which colour of the panel's it has, from 0.
    var color: Int
    var value: (Sample) -> Double?

    package init(_ name: String, color: Int, _ value: @escaping (Sample) -> Double?) {
      self.name = name
      self.color = color
      self.value = value
    }
  }

  /// Series of one unit on one axis.
  package struct Panel {
    var title: String
    var series: [Series]

    package init(_ title: String, _ series: [Series]) {
      self.title = title
      self.series = series
    }
  }

  private let title: String
  private let subtitle: String
  private let samples: [Sample]
  /// In seconds.
  private let time: (Sample) -> Double
  /// Samples that are farther apart than so many seconds are not joined.
  private let gap: Double
  private let panels: [Panel]

  /// - Parameters:
  ///   - title: escaped, as all texts are.
  ///   - samples: in the order of their times.
  ///   - time: in seconds; the plot begins with the first sample's.
  ///   - gap: samples that are farther apart than so many seconds are not joined.
  package init(
    title: String, subtitle: String, samples: [Sample], time: @escaping (Sample) -> Double,
    gap: Double, panels: [Panel]
  ) {
    self.title = title
    self.subtitle = subtitle
    self.samples = samples
    self.time = time
    self.gap = gap
    self.panels = panels
  }

  /// The whole file.
  package func bytes() -> [UInt8] {
    let height =
      PlotShape.top + Double(max(panels.count, 1)) * (PlotShape.panelHeight + PlotShape.gap) + 14
    var svg = SVGText(title: title, width: PlotShape.width, height: height)
    svg.text(subtitle, x: 24, y: 49, size: 12, attributes: "fill=\"#555\"")
    let first = samples.first.map(time) ?? 0
    let seconds = (samples.last.map(time) ?? 0) - first
    let axis = PlotAxis(0...(seconds > 0 ? seconds : 0), count: 10, isTight: true)
    for (index, panel) in panels.enumerated() {
      let y = PlotShape.top + Double(index) * (PlotShape.panelHeight + PlotShape.gap)
      add(panel, at: y, axis, first, isLast: index == panels.count - 1, to: &svg)
    }
    svg.end()
    return svg.bytes
  }

  private func add(
    _ panel: Panel, at y: Double, _ time: PlotAxis, _ first: Double, isLast: Bool,
    to svg: inout SVGText
  ) {
    let values = samples.lazy.flatMap { sample in panel.series.compactMap { $0.value(sample) } }
    let axis = PlotAxis(
      (values.min() ?? 0)...(values.max() ?? 0), count: 4, isTight: false)
    frame(at: y, axis, time, labelled: isLast, to: &svg)
    svg.text(
      panel.title, x: PlotShape.left, y: y - 8, size: 12,
      attributes: "font-weight=\"600\" fill=\"#333\"")
    for (index, series) in panel.series.enumerated() {
      let color = PlotShape.colors[series.color % PlotShape.colors.count]
      svg.text(
        series.name,
        x: PlotShape.width - PlotShape.right - Double(panel.series.count - 1 - index) * 44,
        y: y - 8, size: 12,
        attributes: "font-weight=\"600\" text-anchor=\"end\" fill=\"\(color)\"")
      let path = line(series, at: y, axis, time, first)
      svg.path(path, "fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.2\"")
    }
  }

  private func frame(
    at y: Double, _ axis: PlotAxis, _ time: PlotAxis, labelled: Bool, to svg: inout SVGText
  ) {
    let (x, width, height) = (PlotShape.left, PlotShape.plotWidth, PlotShape.panelHeight)
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

  /// At most four points a half pixel, however many samples there are.
  private func line(
    _ series: Series, at y: Double, _ axis: PlotAxis, _ time: PlotAxis, _ first: Double
  ) -> SVGPath {
    var path = SVGPath()
    var column: PixelColumn?
    var (isDrawing, previous) = (false, -Double.infinity)
    func draw() {
      guard let drawn = column else { return }
      for value in drawn.values {
        let point = SVGPath.tenths(
          MapPoint(
            PlotShape.left + PlotShape.plotWidth * time.share(drawn.time),
            y + PlotShape.panelHeight * (1 - axis.share(value))))
        if isDrawing { path.line(to: point) } else { path.move(to: point) }
        isDrawing = true
      }
      column = nil
    }
    for sample in samples {
      guard let value = series.value(sample) else { continue }
      let moment = self.time(sample)
      let seconds = moment - first
      if moment - previous > gap {
        draw()
        isDrawing = false
      }
      previous = moment
      let number = Int(time.share(seconds) * PlotShape.plotWidth * 2)
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

/// The measures and colours of a plot.
private enum PlotShape {
  static let width = 1000.0
  static let panelHeight = 150.0
  static let gap = 34.0
  static let (left, right, top) = (70.0, 24.0, 84.0)
  static var plotWidth: Double { width - left - right }

  /// After Okabe and Ito, "Color Universal Design".
  static let colors = ["#0072B2", "#D55E00", "#009E73"]
}

/// What lies in one column of pixels: where the line comes in, its ends, and where it goes out.
private struct PixelColumn {
  let number: Int
  let time: Double
  private let first: Double
  private var least: Double
  private var greatest: Double
  private var last: Double

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
