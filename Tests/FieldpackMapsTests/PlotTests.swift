import Testing

@testable import FieldpackMaps

@Suite struct PlotTests {
  private struct Sample {
    var time: Double
    var x: Double?
    var y = 0.0
    var z = 0.0
  }

  private func svg(_ samples: [Sample], gap: Double = 1) -> String {
    let plot = Plot(
      title: "a <b>", subtitle: "c & d", samples: samples, time: { $0.time }, gap: gap,
      panels: [
        Plot.Panel("first, g", [.init("x", color: 0) { $0.x }, .init("z", color: 2) { $0.z }]),
        Plot.Panel("second, g", [.init("y", color: 1) { $0.y }]),
      ])
    return String(decoding: plot.bytes(), as: UTF8.self)
  }

  @Test(arguments: [(-5.0, 0.0), (5, 0.5), (20, 1), (.infinity, 1), (-.infinity, 0), (.nan, 0)])
  func `what is beyond an axis is at its ends`(value: Double, share: Double) {
    #expect(PlotAxis(0...10, count: 5, isTight: true).share(value) == share)
  }

  @Test(arguments: [[10, 1e300], [10, .infinity], [-.infinity, .infinity], [-1e300, 10, 11]])
  func `samples of any time are drawn`(times: [Double]) {
    let text = svg(times.map { Sample(time: $0, x: 1, y: -1e300, z: .infinity) })
    #expect(text.hasSuffix("</svg>\n") && !text.contains("nan") && !text.contains("inf"))
  }

  @Test func `each series has its name, its colour and a line that gaps break`() {
    let text = svg([
      Sample(time: 100, x: 0), Sample(time: 101, x: 10), Sample(time: 110, x: 10),
      Sample(time: 110, x: nil),
    ])
    let texts = text.matches(of: #/<text [^>]*>([^<]*)</#).map { String($0.1) }
    #expect(texts.prefix(2) == ["a &lt;b&gt;", "c &amp; d"])
    #expect(
      texts.filter { $0.contains(/[a-z]/) }.dropFirst(2) == [
        "first, g", "x", "z", "0 s", "1 s", "2 s", "3 s", "4 s", "5 s", "6 s", "7 s", "8 s", "9 s",
        "10 s", "second, g", "y",
      ])
    let lines = text.matches(of: ##/stroke="(#[0-9A-F]+)" stroke-width="1.2" d="([^"]*)"/##)
    #expect(
      lines.map { "\($0.1) \($0.2)" } == [
        "#0072B2 M70 234l90.6-150M976 84", "#009E73 M70 234h90.6M976 234",
        "#D55E00 M70 343h90.6M976 343",
      ])
  }

  @Test func `a column of pixels keeps its first, least, greatest and last value`() {
    let samples = [5, 9, 1, 4].enumerated().map {
      Sample(time: Double($0) * 1e-6, x: Double($1))
    }
    let text = svg(samples + [Sample(time: 100, x: 5)], gap: 1000)
    #expect(text.contains(##"stroke="#0072B2" stroke-width="1.2" d="M70 159v60v-120v75l906-15"##))
  }
}
