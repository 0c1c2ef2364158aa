import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackMaps

@Suite struct SVGMapTests {
  private static let metres = MapReference(
    name: "Plane", isGeographic: false, unit: "m", metres: 1)
  private let box = Envelope(minX: 0, minY: 0, maxX: 952, maxY: 200)

  private func points(_ coordinates: (Double, Double)...) -> [MapPoint] {
    coordinates.map { MapPoint($0.0, $0.1) }
  }

  @Test func `layers have colours and a legend, and text is escaped`() {
    var map = SVGMap(title: "<a> & \"b\"\u{1}", box, in: Self.metres)
    map.beginLayer("parcels & co")
    map.draw(.polygon([points((0, 0), (100, 0), (100, 100), (0, 100), (0, 0))]))
    map.draw(.polygon([points((50, 50), (50.1, 50), (50.1, 50.1), (50, 50))]))
    map.beginLayer("roads")
    map.draw(.line(points((0, 0), (0.2, 0.2), (10, 20.5), (10, 30), (.nan, 3))))
    map.draw(.line(points((7, 7))))
    map.beginLayer("wells")
    map.draw(.point(MapPoint(1, 199)))
    map.draw(.point(MapPoint(1.2, 199.2)))
    map.draw(.point(MapPoint(.infinity, 0)))
    #expect(String(decoding: map.finished(), as: UTF8.self) == Self.expected)
  }

  private static let expected = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 368" font-family="system-ui, \
    'DejaVu Sans', sans-serif">
    <title>&lt;a&gt; &amp; &quot;b&quot;\\u{1}</title>
    <style>@media (prefers-color-scheme:dark){.g{fill:#1c1e21}.f{fill:#26292c;stroke:#555}.t{f\
    ill:#e8e8e8}.s{fill:#a9a9a9}.o{stroke:#a9a9a9}.h{stroke:#26292c}.n{fill:#f2f2f2;stroke:#26\
    292c}}</style>
    <rect class="g" width="100%" height="100%" fill="#fff"/>
    <text x="24" y="29" font-size="18" class="t" font-weight="600" fill="#222">&lt;a&gt; &amp; \
    &quot;b&quot;\\u{1}</text>
    <rect class="f" x="16" y="56" width="968" height="216" fill="#fafafa" stroke="#bbb"/>
    <text x="16" y="51" font-size="11" class="s" fill="#777">0.0, 200.0 m</text>
    <text x="984" y="287" font-size="11" class="s" fill="#777" text-anchor="end">952.0, 0.0 \
    m</text>
    <text x="16" y="287" font-size="11" class="s" fill="#777">0.0, 0.0 m</text>
    <text x="984" y="51" font-size="11" class="s" fill="#777" text-anchor="end">952.0, 200.0 \
    m</text>
    <path class="o" fill="none" stroke="#777" stroke-width="1.5" d="M16 307v5H116v-5"/>
    <text x="124" y="312" font-size="11" class="s" fill="#777">100 m</text>
    <text x="984" y="312" font-size="11" class="s" fill="#777" text-anchor="end">Plane</text>
    <g transform="translate(24 64)" stroke-linejoin="round" stroke-linecap="round">
    <g class="k0"><g class="a" fill="#0072B2" fill-opacity=".2" fill-rule="evenodd" \
    stroke="#0072B2" stroke-width=".8">
    <path d="M0 200h100v-100h-100z"/>
    </g></g>
    <g class="k1"><g class="l" fill="none" stroke="#D55E00" stroke-width="1.6">
    <path d="M0 200l10-20.5v-9.5"/>
    </g></g>
    <g class="k0">
    <path class="l" fill="none" stroke="#0072B2" stroke-width="2" d="M50 150h0"/>
    </g>
    <g class="k1">
    <path class="l" fill="none" stroke="#D55E00" stroke-width="2" d="M7 193h0"/>
    </g>
    <g class="k2">
    <g class="p h" fill="#009E73" stroke="#fff" stroke-width=".8">
    <circle cx="1" cy="1" r="3.5"/>
    </g>
    </g>
    </g>
    <g class="k0"><rect x="24" y="332.5" width="18" height="11" rx="2" class="a" fill="#0072B2" \
    fill-opacity=".3" stroke="#0072B2"/></g>
    <text x="49" y="342.5" font-size="13" class="t" fill="#222">parcels &amp; co</text>
    <g class="k1"><rect x="171" y="336.5" width="18" height="3" rx="1" class="b" \
    fill="#D55E00"/></g>
    <text x="196" y="342.5" font-size="13" class="t" fill="#222">roads</text>
    <g class="k2"><rect x="266.5" y="333.5" width="9" height="9" rx="5" class="p" \
    fill="#009E73"/></g>
    <text x="287" y="342.5" font-size="13" class="t" fill="#222">wells</text>
    </svg>

    """

  @Test func `a style colours its layer and the legend`() throws {
    var map = SVGMap(title: "", box, in: Self.metres)
    let style = LayerStyle(
      strokeColor: StyleColor("#4357fb"), fillColor: StyleColor("rgba(52, 251, 113, 0.5)"),
      fillOpacity: 0.5, iconColor: StyleColor("#3371fb"))
    map.beginLayer("parcels", style: style)
    map.draw(.polygon([points((0, 0), (100, 0), (100, 100), (0, 100), (0, 0))]))
    map.beginLayer("roads", style: style)
    map.draw(.line(points((0, 0), (100, 0))))
    map.beginLayer("wells", style: style)
    map.draw(.point(MapPoint(1, 199)))
    let text = String(decoding: map.finished(), as: UTF8.self)
    let stroke = "stroke=\"#4357fb\" stroke-opacity=\"1.0\""
    let fill = "fill=\"#34fb71\" fill-opacity=\"0.25\""
    for expected in [
      "<g class=\"a\" \(fill) fill-rule=\"evenodd\" \(stroke) stroke-width=\"2.0\">\n",
      "<g class=\"l\" fill=\"none\" \(stroke) stroke-width=\"2\">\n<path d=",
      "<g class=\"p h\" fill=\"#3371fb\" stroke=\"#fff\" stroke-width=\".8\">\n",
      "rx=\"2\" class=\"a\" \(fill) \(stroke)/>",
      "rx=\"1\" class=\"b\" fill=\"#4357fb\" fill-opacity=\"1.0\"/>",
      "rx=\"5\" class=\"p\" fill=\"#3371fb\"/>",
    ] {
      #expect(text.contains(expected), "\(expected)")
    }
  }

  @Test func `a degree of longitude shrinks with the latitude`() {
    let frame = MapFrame(
      Envelope(minX: 10, minY: 59, maxX: 12, maxY: 61), isGeographic: true, maxWidth: 500,
      maxHeight: 500)
    #expect(abs(frame.width - 250) < 1e-9)
    #expect(frame.height == 500)
  }

  @Test func `many points are one path of as many dots as can be told apart`() {
    var map = SVGMap(title: "", box, in: Self.metres)
    for index in 0..<200_000 {
      map.draw(.point(MapPoint(Double(index % 400), Double(index / 400 % 100) / 4)))
    }
    let text = String(decoding: map.finished(), as: UTF8.self)
    // One more is the scale bar's.
    #expect(text.utf8.count { $0 == UInt8(ascii: "M") } == 400 * 26 + 1)
    #expect(!text.contains("<circle"))
  }

  @Test func `geometries are drawn by their parts`() {
    struct Recorder: MapDrawing {
      var shapes: [MapShape] = []
      mutating func draw(_ shape: MapShape) { shapes.append(shape) }
    }
    let line = CoordinateSequence(dimensions: .xyz, ordinates: [0, 0, 9, 1, 1, 9])
    let drawn = points((0, 0), (1, 1))
    var recorder = Recorder()
    recorder.draw(
      Geometry.geometryCollection(
        [
          .point(x: 1, y: 2), .point(nil, .xy), .multiLineString([line, line], .xyz),
          .multiPolygon([[line], [line, line]], .xyz),
          .composite(.multiCurve, [.circularString(line)], .xyz),
          .composite(
            .curvePolygon,
            [.composite(.compoundCurve, [.lineString(line), .lineString(line)], .xyz)],
            .xyz),
        ], .xy))
    #expect(
      recorder.shapes == [
        .point(MapPoint(1, 2)), .line(drawn), .line(drawn), .polygon([drawn]),
        .polygon([drawn, drawn]), .line(drawn), .polygon([drawn + drawn]),
      ])
  }
}
