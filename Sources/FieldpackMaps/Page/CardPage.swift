package import FieldpackCore

/// Pictures with what there is to say of each, below a map of them, as one page that needs nothing from
/// elsewhere.
///
///     let page = CardPage(to: output, title: "walk", summary: "2 points, 1 picture", map: svg,
///       mapLabel: "Map of the points")
///     for card in cards { try page.add(card) }
///     try page.end()
package struct CardPage {
  /// One picture, or why there is none, with its texts.
  package struct Card: Sendable {
    package var title: String
    /// A paragraph each.
    package var lines: [String]
    package var picture: Picture

    package init(title: String, lines: [String], picture: Picture) {
      self.title = title
      self.lines = lines
      self.picture = picture
    }
  }

  package enum Picture: Sendable {
    /// The bytes of an image.
    ///
    /// - Parameters:
    ///   - contentType: such as `image/jpeg`.
    ///   - size: in pixels, where it is known.
    ///   - alternative: what a reader who does not see the picture is told.
    case image(
      [UInt8], contentType: String, size: (width: Int, height: Int)?, alternative: String)
    /// What stands in the picture's place.
    case none(reason: String)
  }

  private let output: ByteOutput

  /// Begins a page.
  ///
  /// - Parameters:
  ///   - summary: a line below the title.
  ///   - map: what an ``SVGMap`` has drawn.
  ///   - mapLabel: what a reader who does not see the map is told.
  package init(
    to output: ByteOutput, title: String, summary: String, map: [UInt8], mapLabel: String
  ) throws(FieldpackError) {
    self.output = output
    add(Self.head(title))
    add(
      "<header><h1>\(SVGText.escaped(title))</h1>\n<p>\(SVGText.escaped(summary))</p></header>\n")
    add("<figure class=\"map\" role=\"img\" aria-label=\"\(SVGText.escaped(mapLabel))\">\n")
    output.buffer.append(contentsOf: map)
    add("</figure>\n<main>\n")
    try output.flushIfFull()
  }

  /// Adds a card after those before it.
  package func add(_ card: Card) throws(FieldpackError) {
    add("<article>\n")
    switch card.picture {
    case .image(let bytes, let contentType, let size, let alternative):
      add(
        "<img alt=\"\(SVGText.escaped(alternative))\" src=\"data:"
          + "\(SVGText.escaped(contentType));base64,")
      output.buffer.append(contentsOf: Base64.encode(bytes).utf8)
      add(size.map { "\" width=\"\($0.width)\" height=\"\($0.height)" } ?? "")
      add("\" loading=\"lazy\">\n")
    case .none(let reason):
      add("<div class=\"none\"><p>\(SVGText.escaped(reason))</p></div>\n")
    }
    add("<div class=\"text\">\n<h2>\(SVGText.escaped(card.title))</h2>\n")
    for line in card.lines { add("<p class=\"more\">\(SVGText.escaped(line))</p>\n") }
    add("</div>\n</article>\n")
    try output.flushIfFull()
  }

  /// Ends the page; the caller finishes the output.
  package func end() { add("</main>\n</body>\n</html>\n") }

  private func add(_ markup: String) { output.buffer.append(contentsOf: markup.utf8) }

  /// The policy keeps a page that was tampered with from loading anything, too.
  private static func head(_ title: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
    style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(SVGText.escaped(title))</title>
    <style>
    body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: #fff; color: #222;
      font: 1rem/1.45 system-ui, 'DejaVu Sans', sans-serif; }
    h1 { font-size: 1.5rem; margin: .3rem 0; overflow-wrap: anywhere; }
    p { margin: .2rem 0; }
    figure { margin: 0; }
    .map svg { display: block; width: 100%; height: auto; max-height: 80vh; }
    main { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }
    article { border: 1px solid #ddd; border-radius: .5rem; overflow: hidden; background: #fafafa; }
    article img { display: block; width: 100%; height: auto; background: #eee; }
    .none { aspect-ratio: 4 / 3; display: grid; place-items: center; padding: 1rem; color: #555;
      background: #eee; text-align: center; }
    .text { padding: .6rem .8rem; overflow-wrap: anywhere; }
    h2 { font-size: 1rem; margin: 0; }
    .more { color: #555; font-size: .85rem; }
    @media print { body { max-width: none; padding: 0; } article { break-inside: avoid; }
      main { grid-template-columns: repeat(2, 1fr); } .map { break-after: page; } }
    </style>
    </head>
    <body>

    """
  }
}
