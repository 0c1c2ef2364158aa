import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackMaps

/// Maps as a browser draws them. Skipped without one.
@Suite(.programs, .enabled(if: Programs.chromium != nil, Comment(rawValue: Programs.noChromium)))
struct MapBrowserTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Wells in rows, each with a label and attributes, over a polygon.
  private func map(_ medium: SVGMap.Medium) -> SVGMap {
    let box = Envelope(minX: 13, minY: 51, maxX: 14, maxY: 51.5)
    var map = SVGMap(title: "wells", box, in: .wgs84, for: medium)
    map.beginLayer("area", columns: ["fid"])
    let ring = CoordinateSequence(
      dimensions: .xy, ordinates: [13, 51, 14, 51, 14, 51.5, 13, 51.5, 13, 51])
    map.draw(.polygon([ring], .xy))
    map.beginLayer("wells", columns: ["fid", "name"])
    for index in 0..<240 {
      var mark = MapMark()
      mark.label = "Wörth MW \(index) 東京"
      if medium == .page {
        mark.attributes = [.integer(Int64(index)), .text("<b>\(index)</b>")]
      }
      map.draw(
        .point(x: 13.02 + Double(index % 20) * 0.05, y: 51.02 + Double(index / 20) * 0.04),
        as: mark)
    }
    return map
  }

  /// What `script` leaves in `answer` after the browser has opened a page, which lets scripts run.
  private func answer(_ page: String, _ script: String) async throws -> [String: Double] {
    let open = page.replacing(#/<meta http-equiv[^>]*>/#, with: "")
    let dom = try await dom(
      open + "<script>const answer = {};\(Self.tools)\n\(script)\n"
        + "document.body.dataset.answer = JSON.stringify(answer);</script>")
    let text = try #require(dom.firstMatch(of: #/data-answer="([^"]*)"/#)).1
    let json = text.replacing("&quot;", with: "\"")
    return try JSONDecoder().decode([String: Double].self, from: Data(json.utf8))
  }

  private func dom(_ page: String) async throws -> String {
    let file = try folder.write(page, to: "map.html")
    let browser = try #require(Programs.chromium)
    let result = try await Program.run(
      browser,
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,800",
        "--user-data-dir=\(folder.file("profile").path)", "--virtual-time-budget=3000",
        "--dump-dom", file.absoluteString,
      ])
    return result.output
  }

  private static let tools = """
    const shown = () => [...document.querySelectorAll('.n text')]
      .filter(t => t.getAttribute('visibility') !== 'hidden').map(t => t.getBoundingClientRect());
    const overlaps = () => { const r = shown(); let n = 0;
      r.forEach((a, i) => r.slice(i + 1).forEach(b => { if (a.left < b.right && b.left < a.right
        && a.top < b.bottom && b.top < a.bottom) n++; })); return n; };
    """

  @Test func `labels of a picture do not overlap and lie in the frame`() async throws {
    let svg = String(decoding: map(.picture).finished(), as: UTF8.self)
    let found = try await answer(
      "<body>\(svg)",
      """
      const frame = document.querySelector('.f').getBoundingClientRect();
      answer.shown = shown().length;
      answer.overlaps = overlaps();
      answer.outside = shown().filter(r => r.left < frame.left || r.right > frame.right
        || r.top < frame.top || r.bottom > frame.bottom).length;
      answer.titles = document.querySelectorAll('circle title').length;
      """)
    #expect(found["overlaps"] == 0 && found["outside"] == 0, "\(found)")
    let shown = try #require(found["shown"])
    #expect(shown > 30 && found["titles"] == 240 - shown, "\(found)")
  }

  @Test func `the script of a page runs under its policy, and nothing else does`() async throws {
    let page = String(decoding: map(.page).page(), as: UTF8.self)
    let dom = try await dom(page + "<script>document.body.dataset.zoom = 'broken'</script>")
    #expect(dom.contains("data-zoom=\"1.00\""))
  }

  @Test func `keys zoom and move, labels stay apart, and a click shows attributes`() async throws {
    // Time does not pass for frames here: each is drawn at once.
    let page = String(decoding: map(.page).page(), as: UTF8.self)
      .replacing("<script>", with: "<script>window.requestAnimationFrame = f => f();\n")
    let found = try await answer(
      page,
      """
      const map = document.getElementById('map'), panel = document.getElementById('panel');
      const key = k => document.dispatchEvent(new KeyboardEvent('keydown', { key: k }));
      const circle = () => document.querySelector('[data-i="1-130"]');
      const middle = () => { const r = circle().getBoundingClientRect();
        return [r.left + r.width / 2, r.top + r.height / 2, r.width]; };
      answer.labels = shown().length;
      answer.overlaps = overlaps();
      answer.width = middle()[2];
      for (let i = 0; i < 6; i++) key('+');
      answer.zoom = +document.body.dataset.zoom;
      answer.nearOverlaps = overlaps();
      answer.nearWidth = middle()[2];
      const before = middle();
      key('ArrowRight');
      answer.moved = before[0] - middle()[0];
      const [x, y] = middle();
      const at = { clientX: x, clientY: y, pointerId: 1, bubbles: true };
      circle().dispatchEvent(new PointerEvent('pointerdown', at));
      circle().dispatchEvent(new PointerEvent('pointerup', at));
      answer.isOpen = panel.hidden ? 0 : 1;
      answer.isRight = panel.innerText.includes('<b>130</b>') ? 1 : 0;
      answer.bold = panel.querySelectorAll('b').length;
      key('Escape');
      answer.isClosed = panel.hidden ? 1 : 0;
      key('0');
      key('n');
      answer.next = panel.innerText.includes('<b>131</b>') ? 1 : 0;
      answer.whole = +document.body.dataset.zoom;
      """)
    for (name, value) in [
      "overlaps": 0.0, "nearOverlaps": 0, "moved": 80, "isOpen": 1, "isRight": 1, "bold": 0,
      "isClosed": 1, "next": 1, "whole": 1,
    ] {
      #expect(abs((found[name] ?? -1) - value) < 0.5, "\(name): \(found)")
    }
    #expect(abs((found["zoom"] ?? 0) - 11.39) < 0.01, "\(found)")
    // A point is as large as before, whatever the zoom.
    #expect(abs((found["width"] ?? 0) - (found["nearWidth"] ?? 9)) < 0.2, "\(found)")
    #expect((found["labels"] ?? 0) > 20, "\(found)")
  }
}
