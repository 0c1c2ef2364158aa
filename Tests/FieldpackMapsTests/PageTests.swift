import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackMaps

@Suite struct PageTests {
  @Test func `cards have a picture or the reason why there is none`() throws {
    let output = ByteOutput()
    let page = try CardPage(
      to: output, title: "a <walk>", summary: "2 points & 1 picture", map: Array("<svg/>\n".utf8),
      mapLabel: "Map")
    try page.add(
      .init(
        title: "\"Gate\"", lines: ["point 1", "by A & B"],
        picture: .image(
          [0xFF, 0xD8], contentType: "image/jpeg", size: (40, 30), alternative: "A \"gate\"")))
    try page.add(
      .init(
        title: "b", lines: [],
        picture: .image([1], contentType: "image/png", size: nil, alternative: "")))
    try page.add(.init(title: "c", lines: [], picture: .none(reason: "No <photo>")))
    page.end()
    let text = String(decoding: output.buffer, as: UTF8.self)
    let body = try #require(text.firstRange(of: "<body>\n"))
    #expect(text[..<body.lowerBound].contains("<title>a &lt;walk&gt;</title>"))
    #expect(
      text[body.upperBound...] == """
        <header><h1>a &lt;walk&gt;</h1>
        <p>2 points &amp; 1 picture</p></header>
        <figure class="map" role="img" aria-label="Map">
        <svg/>
        </figure>
        <main>
        <article>
        <img alt="A &quot;gate&quot;" src="data:image/jpeg;base64,/9g=" width="40" height="30" \
        loading="lazy">
        <div class="text">
        <h2>&quot;Gate&quot;</h2>
        <p class="more">point 1</p>
        <p class="more">by A &amp; B</p>
        </div>
        </article>
        <article>
        <img alt="" src="data:image/png;base64,AQ==" loading="lazy">
        <div class="text">
        <h2>b</h2>
        </div>
        </article>
        <article>
        <div class="none"><p>No &lt;photo&gt;</p></div>
        <div class="text">
        <h2>c</h2>
        </div>
        </article>
        </main>
        </body>
        </html>

        """)
  }

  @Test func `a layer of geometries is drawn like its shapes`() {
    let box = Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10)
    let style = LayerStyle(iconColor: StyleColor("#123456"))
    var layers = SVGMap(title: "t", box, in: MapReference(isGeographic: false))
    layers.draw(MapLayer("a", [.point(x: 1, y: 2)]))
    layers.draw(MapLayer("b", style: style, [.point(x: 3, y: 4)]))
    var shapes = SVGMap(title: "t", box, in: MapReference(isGeographic: false))
    shapes.beginLayer("a")
    shapes.draw(.point(MapPoint(1, 2)))
    shapes.beginLayer("b", style: style)
    shapes.draw(.point(MapPoint(3, 4)))
    #expect(layers.finished() == shapes.finished())
  }
}
