import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

@Suite(.programs) struct DocumentPageTests {
  @Test func `a page shows the members and links of its document`() throws {
    let page = try SampleLayers.documents().page(.collection("places"))
    let body = try #require(page.split(separator: "<body>\n").last)
    let start = "https://example.org/field/"
    #expect(
      body.hasPrefix(
        """
        <nav aria-label="Above"><a href="\(start)?f=html">Home</a> / \
        <a href="\(start)collections?f=html">collections</a> / \
        <a href="\(start)collections/places?f=html">places</a></nav>
        <main>
        <h1>places</h1>
        <dl>
        <dt>id</dt><dd>places</dd>
        <dt>title</dt><dd>places</dd>
        <dt>itemType</dt><dd>feature</dd>
        <dt>crs</dt><dd>http://www.opengis.net/def/crs/OGC/1.3/CRS84, \
        http://www.opengis.net/def/crs/EPSG/0/4326, http://www.opengis.net/def/crs/EPSG/0/3857</dd>
        <dt>storageCrs</dt><dd>http://www.opengis.net/def/crs/OGC/1.3/CRS84</dd>
        </dl>
        <ul>
        <li><a href="\(start)collections/places?f=html">places as a page</a> \
        <span class="type">text/html</span></li>
        <li><a href="\(start)collections/places?f=json">places</a> \
        <span class="type">application/json</span></li>
        <li><a href="\(start)collections/places/items">The features as json</a> \
        <span class="type">application/geo+json</span></li>
        """))
  }

  @Test func `the page of the API lists operations with their parameters`() throws {
    let page = try SampleLayers.documents().page(.api)
    #expect(page.contains("<h2><code>GET /collections/{collectionId}/items</code></h2>"))
    #expect(page.contains("<dt>bbox</dt><dd>Only features that meet the box"))
    #expect(!page.contains("POST"))
  }

  /// As a reader of HTML sees it: no script, nothing loaded, the style that the policy allows.
  @Test(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
  func `pages need nothing else, and their policy fits`() async throws {
    let hostile = SampleLayers.hostile.map { name in
      ServedLayer(
        Layer(
          schema: Schema(
            layer: LayerID(name), geometry: .init(srs: .wgs84),
            columns: [ColumnDefinition(name, .text(), description: name)]),
          kind: .features, title: name, description: name))
    }
    let documents = SampleLayers.documents(SampleLayers.all + hostile) { $0.title = "<i>&\"" }
    let folder = try TemporaryFolder()
    var count = 0
    for name in documents.names {
      guard let page = documents.document(name, as: .html, base: SampleLayers.base) else {
        continue
      }
      _ = try folder.write(String(decoding: page.bytes, as: UTF8.self), to: "\(count).html")
      count += 1
    }
    let python = try #require(Programs.python)
    let result = try await Program.run(
      python, ["-c", Self.reader, folder.url.path, DocumentPage.policy])
    #expect(result.status == 0 && result.output == "\(count) pages\n", "\(result)")
    #expect(count > 100)
  }

  private static let reader = #"""
    import base64, hashlib, html.parser, pathlib, sys
    folder, policy = pathlib.Path(sys.argv[1]), sys.argv[2]
    known = {"html", "head", "meta", "title", "style", "body", "nav", "main", "h1", "h2", "h3", "h4", "h5",
      "h6", "a", "dl", "dt", "dd", "ul", "li", "section", "span", "code", "p"}

    class Page(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.style = [], None
        def handle_starttag(self, tag, attributes):
            assert tag in known, tag
            for name, value in attributes:
                assert name in {"lang", "charset", "name", "content", "href", "class", "aria-label"}, name
                if name == "href": assert value.startswith("https://example.org/field/"), value
            if tag != "meta": self.open.append(tag)
        def handle_endtag(self, tag): assert self.open.pop() == tag, tag
        def handle_data(self, data):
            if self.open[-1:] == ["style"]: self.style = data

    pages = list(folder.glob("*.html"))
    for path in pages:
        text = path.read_text()
        page = Page()
        page.feed(text)
        page.close()
        assert page.open == [], page.open
        digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in policy and "script-src" not in policy
        assert "default-src 'none'" in policy and "<!DOCTYPE html>" == text[:15]
        assert "\u202e" not in text
    print(len(pages), "pages")
    """#
}
