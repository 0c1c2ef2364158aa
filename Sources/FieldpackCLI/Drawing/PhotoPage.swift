import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// The points of tracks with their pictures and a map, as one page that needs nothing from elsewhere.
struct PhotoPage {
  let title: String
  let feed: PhotoFeed
  let store: GeoPackageStore

  func write(to output: ByteOutput) async throws(FieldpackError) {
    let pictures = feed.entries.count { $0.photo?.media != nil }
    add(Self.head(title), to: output)
    add(
      "<header><h1>\(SVGText.escaped(title))</h1>\n<p>\(count(feed.entries.count, "point")), "
        + "\(count(pictures, "picture"))</p></header>\n", to: output)
    add("<figure class=\"map\" role=\"img\" aria-label=\"Map of the points\">\n", to: output)
    output.buffer.append(contentsOf: try await map())
    add("</figure>\n<main>\n", to: output)
    for entry in feed.entries {
      try await write(entry, to: output)
      try output.flushIfFull()
    }
    add("</main>\n</body>\n</html>\n", to: output)
  }

  private func add(_ markup: String, to output: ByteOutput) {
    output.buffer.append(contentsOf: markup.utf8)
  }

  private func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  // MARK: Parts

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

  private func write(
    _ entry: PhotoFeed.Entry, to output: ByteOutput
  ) async throws(FieldpackError) {
    add("<article>\n", to: output)
    if let photo = entry.photo, let bytes = try await PhotoFeed.picture(photo, of: store),
      let type = PictureType(bytes)
    {
      add(
        "<img alt=\"\(SVGText.escaped(alternative(entry, photo)))\" src=\"data:"
          + "\(type.contentType);base64,", to: output)
      output.buffer.append(contentsOf: Base64.encode(bytes).utf8)
      let size = type.width.flatMap { width in type.height.map { (width, $0) } }
      add(
        size.map { "\" width=\"\($0.0)\" height=\"\($0.1)\" loading=\"lazy\">\n" }
          ?? "\" loading=\"lazy\">\n", to: output)
    } else {
      add("<div class=\"none\"><p>\(SVGText.escaped(reason(entry)))</p></div>\n", to: output)
    }
    add("<div class=\"text\">\n", to: output)
    let name = entry.photo.map { $0.title.isEmpty ? "Photo \($0.id)" : $0.title }
    add("<h2>\(SVGText.escaped(name ?? "Point \(entry.number)"))</h2>\n", to: output)
    for line in lines(entry) {
      add("<p class=\"more\">\(SVGText.escaped(line))</p>\n", to: output)
    }
    add("</div>\n</article>\n", to: output)
  }

  /// What a reader who does not see the picture is told.
  private func alternative(_ entry: PhotoFeed.Entry, _ photo: PhotoFeed.Photo) -> String {
    var text = photo.title.isEmpty ? "A photo" : "Photo: \(photo.title)"
    if let owner = photo.owner { text += ", by \(owner)" }
    text += ", "
    if let distance = photo.distance { text += "\(Decimals.text(distance, digits: 0)) m " }
    return text + (photo.distance == nil ? "near" : "from") + " point \(entry.number) of the track"
  }

  private func reason(_ entry: PhotoFeed.Entry) -> String {
    switch entry.state {
    case .pending: "No picture yet"
    case .found: "The picture cannot be shown"
    case .none:
      entry.radius.map { "No photo within \(Decimals.short($0 / 1000)) km" } ?? "No photo around"
    case .failed: "The picture could not be had"
    case .duplicate: "All photos around are those of other points"
    }
  }

  private func lines(_ entry: PhotoFeed.Entry) -> [String] {
    var lines: [String] = []
    let time = entry.time.map { time in
      // To the second: nobody walks faster.
      String(time.description.prefix(19)).replacing("T", with: " ") + " UTC"
    }
    lines.append(
      ["point \(entry.number)", time].compactMap { $0 }.joined(separator: " · "))
    if let position = entry.position {
      lines.append(
        "\(Decimals.text(position.y, digits: 5)), \(Decimals.text(position.x, digits: 5))"
          + (entry.photo?.distance.map { " · \(Decimals.text($0, digits: 0)) m away" } ?? ""))
    }
    if let photo = entry.photo {
      let of = [photo.owner.map { "by \($0)" }, photo.license.map { "licence \($0)" }]
      let text = of.compactMap { $0 }.joined(separator: " · ")
      if !text.isEmpty { lines.append(text) }
    }
    return lines
  }

  // MARK: Map

  /// The tracks through their points, and where the photos were taken.
  private func map() async throws(FieldpackError) -> [UInt8] {
    var envelope = Envelope.empty
    for position in feed.entries.compactMap(\.position) { envelope.formUnion(Self.box(position)) }
    var map = SVGMap(title: "The points on a map", envelope, isGeographic: true)
    map.beginLayer("track")
    for (_, entries) in Dictionary(grouping: feed.entries, by: \.track).sorted(by: { $0.0 < $1.0 })
    {
      let positions = entries.sorted { $0.number < $1.number }.compactMap(\.position)
      map.draw(.line(positions.map { MapPoint($0.x, $0.y) }))
    }
    for hasPicture in [false, true] {
      let positions = feed.entries.filter { ($0.photo?.media != nil) == hasPicture }
        .compactMap(\.position)
      guard !positions.isEmpty else { continue }
      map.beginLayer(hasPicture ? "points with a picture" : "points without one")
      for position in positions { map.draw(.point(MapPoint(position.x, position.y))) }
    }
    return map.finished()
  }

  private static func box(_ position: Position) -> Envelope {
    Envelope(minX: position.x, minY: position.y, maxX: position.x, maxY: position.y)
  }
}
