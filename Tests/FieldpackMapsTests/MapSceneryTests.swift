import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackMaps

/// What a map says beside where its features are.
@Suite struct MapSceneryTests {
  private static let metres = MapReference(
    name: "Plane", isGeographic: false, unit: "m", metres: 1)
  private let box = Envelope(minX: 0, minY: 0, maxX: 952, maxY: 200)

  private func text(_ map: SVGMap) -> String { String(decoding: map.finished(), as: UTF8.self) }

  private func mark(_ label: String? = nil, _ symbol: Int = 0, share: Double? = nil) -> MapMark {
    var mark = MapMark()
    mark.label = label
    mark.symbol = symbol
    mark.share = share
    return mark
  }

  @Test func `labels do not overlap, and the others are titles of their features`() {
    var map = SVGMap(title: "", box, in: Self.metres)
    map.beginLayer("wells")
    for index in 0..<6 {
      map.draw(.point(x: 400 + Double(index) / 2, y: 100), as: mark("well <\(index)>"))
    }
    let svg = text(map)
    let labels = svg.matches(of: #/<text x="([0-9.]+)" y="([0-9.]+)"[^>]*>(well [^<]*)</#)
      .map { "\($0.1) \($0.2) \($0.3)" }
    #expect(labels == ["406.5 104 well &lt;0&gt;", "394.5 104 well &lt;1&gt;"])
    let titled = #"<circle cx="402" cy="100" r="3.5"><title>well &lt;4&gt;</title></circle>"#
    #expect(svg.contains(titled))
    #expect(svg.contains(#"<circle cx="400" cy="100" r="3.5"/>"#))
  }

  @Test func `a label of a polygon is inside of it`() throws {
    var map = SVGMap(title: "", box, in: Self.metres)
    map.beginLayer("u")
    let ring = CoordinateSequence(
      dimensions: .xy,
      ordinates: [0, 0, 300, 0, 300, 200, 200, 200, 200, 50, 100, 50, 100, 200, 0, 200, 0, 0])
    map.draw(.polygon([ring], .xy), as: mark("U"))
    let label = try #require(text(map).firstMatch(of: #/<text x="([0-9.]+)" [^>]*>U</#))
    #expect(label.1 == "50" || label.1 == "250")
  }

  @Test func `classes, sizes and all kinds of a mixed layer are in the legend`() {
    var map = SVGMap(title: "", box, in: Self.metres)
    map.beginLayer(
      "wells", heading: "wells: depth",
      symbols: [
        MapSymbol("1 – 2", .ramp), MapSymbol("2 – 3", .ramp), MapSymbol("empty", .ramp),
        MapSymbol("no value", .other),
      ],
      sizes: MapSizes(
        name: "flow", samples: [.init(share: 0, label: "0"), .init(share: 1, label: "9")]))
    map.draw(.point(x: 1, y: 1), as: mark(nil, 0, share: 0))
    map.draw(.point(x: 50, y: 1), as: mark(nil, 1, share: 1))
    map.draw(.point(x: 90, y: 1), as: mark(nil, 3, share: .nan))
    map.beginLayer("mixed")
    map.draw(.point(x: 5, y: 5))
    map.draw(.lineString(CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 50, 50])))
    let svg = text(map)
    let legend = svg.matches(of: #/<text [^>]*font-size="13"[^>]*>([^<]*)</#).map { String($0.1) }
    #expect(
      legend == [
        "wells: depth", "1 – 2", "2 – 3", "no value", "wells: size by flow", "0", "9", "mixed",
      ])
    let radii = svg.matches(of: #/<circle cx="[0-9.]+" cy="199" r="([0-9.]+)"/#).map { $0.1 }
    #expect(radii == ["2.5", "14", "3.5"])
    // The line's sign and the point's are in one group.
    let signs = #/<g class="k4"><rect [^>]*class="b"[^>]*\/><rect [^>]*class="p"[^>]*\/><\/g>/#
    #expect(svg.contains(signs))
  }

  @Test func `colours of layers are not those of styles and of other layers`() {
    var map = SVGMap(title: "", box, in: Self.metres)
    for number in 0..<12 {
      map.beginLayer("layer \(number)")
      map.draw(.point(x: Double(number), y: 1))
    }
    map.beginLayer("blue", style: LayerStyle(iconColor: StyleColor("#0072B2")))
    map.draw(.point(x: 20, y: 1))
    let colors = map.paints.map { $0.point.lowercased() }
    #expect(Set(colors).count == 13 && colors.last == "#0072b2")
  }

  @Test(arguments: [
    (0.5, 180, "50 m", 100), (0.01, 180, "1 m", 100), (100, 180, "10 km", 100),
    (1e-5, 180, "1 mm", 100), (12, 180, "2 km", 166.7),
  ])
  func `the scale bar is a round length`(
    perPixel: Double, most: Double, label: String, length: Double
  ) throws {
    let bar = try #require(ScaleBar(perPixel: perPixel, most: most))
    #expect(bar.label == label)
    #expect(abs(bar.length - length) < 0.1)
  }

  @Test(arguments: [0, -1, .nan, .infinity]) func `no length is no scale bar`(metres: Double) {
    #expect(ScaleBar(perPixel: metres, most: 180) == nil)
  }

  @Test func `a map across the antimeridian is cut to its data`() throws {
    var spans = LongitudeSpans()
    spans.add(178.4, 179)
    spans.add(
      .lineString(CoordinateSequence(dimensions: .xy, ordinates: [179, 1, -179.5, 2, -171.7, 3])))
    let all = Envelope(minX: -179.5, minY: 0, maxX: 179, maxY: 3)
    let cut = try #require(spans.cut(all))
    #expect(cut.minX == 178.4 && abs(cut.maxX - 188.3) < 1e-9)
    let frame = MapFrame(cut, isGeographic: true, maxWidth: 100, maxHeight: 100)
    #expect(abs(frame.project(MapPoint(-171.7, 0)).x - frame.width) < 1e-6)
    #expect(frame.labels.east == "-171.700")
  }

  @Test func `a map of the world, or of other longitudes, is not cut`() {
    let world = Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)
    var spans = LongitudeSpans()
    for west in stride(from: -180.0, to: 180, by: 20) { spans.add(west, west + 5) }
    #expect(spans.cut(world) == nil)
    var east = LongitudeSpans()
    east.add(170, 190)
    east.add(-20, -10)
    #expect(east.cut(Envelope(minX: -20, minY: 0, maxX: 190, maxY: 1)) == nil)
    #expect(LongitudeSpans().cut(world) == nil)
  }

  @Test func `a page has texts as data, and nothing in them ends the data`() throws {
    var map = SVGMap(title: "</title><b>", box, in: Self.metres, for: .page)
    map.beginLayer("<wells>", columns: ["fid", "a"])
    var mark = MapMark()
    mark.label = "</text><script>"
    mark.attributes = [.integer(1 << 60), .text("</script><script>alert(1)</script><!--\u{1b}")]
    map.draw(.point(x: 3, y: 4), as: mark)
    let page = String(decoding: map.page(), as: UTF8.self)
    #expect(page.matches(of: #/<script[ >]/#).count == 2)
    #expect(page.matches(of: #/<\/script>/#).count == 2)
    #expect(!page.contains("<b>") && !page.contains("<!--"))
    let element = #/<script type="application\/json" id="data">(.*?)<\/script>/#
    let data = try #require(page.firstMatch(of: element.dotMatchesNewlines()))
    #expect(
      data.1 == #"""
        {"metres":0.125,"layers":[{"name":"\u003cwells>","columns":["fid","a"],"rows":[
        ["1152921504606846976","\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--\u001b"]]}]}
        """#)
    #expect(!page.contains(#/(src|href)=|url\(|@import|https?:/#))
  }

  @Test func `crowded points are shown from the zoom where they have room`() {
    var thinning = DotThinning(scale: 1)
    let levels = [0, 10, 20, 40, 100, 1000].map { thinning.level(of: .init(x: $0, y: 0)) }
    #expect(levels == [0, 3, 2, 1, 0, 0])
  }
}
