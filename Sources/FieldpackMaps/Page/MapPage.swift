import FieldpackCore

/// A page of one file with a map that pans and zooms, shows attributes, and needs nothing from elsewhere.
extension SVGMap {
  /// The whole page. The map is one for ``Medium/page``.
  package func page() -> [UInt8] {
    var map = self
    _ = map.placeLabels(isPage: true)
    for index in map.layers.indices { map.thinPoints(of: index) }
    return MapPage(map: map, paints: map.paints).bytes
  }
}

private struct MapPage {
  let map: SVGMap
  let paints: [SVGPaint]

  var bytes: [UInt8] {
    var text = SVGText()
    text.add(head)
    text.add("<h1>\(SVGText.escaped(map.title))</h1>\n")
    addMap(to: &text)
    text.add(Self.tools)
    addFoot(to: &text)
    addLegend(to: &text)
    text.add("<section id=\"panel\" aria-label=\"Attributes\" hidden></section>\n")
    text.add("<p id=\"status\" role=\"status\"></p>\n")
    text.add("<script type=\"application/json\" id=\"data\">")
    text.bytes.append(contentsOf: data)
    text.add("</script>\n<script>\(MapScript.text)</script>\n</body>\n</html>\n")
    return text.bytes
  }

  /// The policy lets only this script run, and nothing be loaded, whatever the page says.
  private var head: String {
    let digest = Base64.encode(SHA256.digest(Array(MapScript.text.utf8)))
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'unsafe-inline'; script-src 'sha256-\(digest)'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(SVGText.escaped(map.title))</title>
      <style>
      \(MapPageStyle.text)
      @media (prefers-color-scheme: dark) { \(MapStyle.dark)\(paints.map(\.dark).joined()) }
      </style>
      </head>
      <body>

      """
  }

  private func addMap(to text: inout SVGText) {
    let title = SVGText.escaped("Map: \(map.title)")
    // Room for signs at the border.
    let room = 16 * map.scale
    let (x, width, height) = (-room, map.frame.width + 2 * room, map.frame.height + 2 * room)
    text.add(
      "<svg id=\"map\" viewBox=\"\(text.number(x)) \(text.number(x)) \(text.number(width)) "
        + "\(text.number(height))\" tabindex=\"0\" role=\"img\" aria-label=\"\(title)\" "
        + "stroke-linejoin=\"round\" stroke-linecap=\"round\">\n")
    MapContents(map: map, paints: paints, placed: [], isPage: true).add(to: &text)
    text.add("</svg>\n")
  }

  private static let tools = """
    <nav aria-label="Map">
    <button id="in" title="Zoom in (+)" aria-label="Zoom in">+</button>
    <button id="out" title="Zoom out (-)" aria-label="Zoom out">−</button>
    <button id="all" title="Whole map (0). Arrows move, n and p go from feature to feature." \
    aria-label="Whole map">⤢</button>
    </nav>

    """

  private func addFoot(to text: inout SVGText) {
    let labels = map.frame.labels
    let corners =
      map.reference.corner(labels.west, labels.south) + " to "
      + map.reference.corner(labels.east, labels.north)
    text.add(
      "<footer><span id=\"bar\"></span><span>\(SVGText.escaped(map.reference.name ?? ""))</span>"
        + "<span>\(SVGText.escaped(corners))</span></footer>\n")
  }

  private func addLegend(to text: inout SVGText) {
    let legend = MapLegend(map, paints)
    guard !legend.entries.isEmpty else { return }
    text.add("<details id=\"legend\" open><summary>Legend</summary>\n<ul>\n")
    for entry in legend.entries {
      if case .heading = entry.sign {
        text.add("<li class=\"head\">\(SVGText.escaped(entry.text))</li>\n")
        continue
      }
      let width = max(18, legend.width(of: entry.sign) - 6)
      var (height, y) = (16.0, 2.0)
      if case .circle(let radius) = entry.sign {
        height = 2 * radius + 2
        y = radius - 5
      }
      text.add("<li><svg width=\"\(text.number(width))\" height=\"\(text.number(height))\">")
      legend.add(entry.sign, x: 0.5, y: y, to: &text)
      text.add("</svg> \(SVGText.escaped(entry.text))</li>\n")
    }
    text.add("</ul></details>\n")
  }

  // MARK: Data

  /// What the script knows of the features. No `<` is in it, so that no text ends the element.
  private var data: [UInt8] {
    var json = Array("{\"metres\":".utf8)
    let metres = map.reference.metres(in: map.frame.envelope)
    JSONText.append(metres.map { $0 * map.frame.unitsPerPixel } ?? .nan, to: &json)
    json.append(contentsOf: ",\"layers\":[".utf8)
    for (index, group) in map.groups.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json.append(contentsOf: "{\"name\":".utf8)
      JSONText.append(group.name, to: &json)
      json.append(contentsOf: ",\"columns\":".utf8)
      append(group.columns.map(Value.text), to: &json)
      json.append(contentsOf: ",\"rows\":[".utf8)
      for (number, row) in group.rows.enumerated() {
        json.append(contentsOf: (number > 0 ? ",\n" : "\n").utf8)
        append(row, to: &json)
      }
      json.append(contentsOf: "]}".utf8)
    }
    json.append(contentsOf: "]}".utf8)
    guard json.contains(UInt8(ascii: "<")) else { return json }
    return json.flatMap { $0 == UInt8(ascii: "<") ? Array("\\u003c".utf8) : [$0] }
  }

  private func append(_ values: [Value], to json: inout [UInt8]) {
    json.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      append(value, to: &json)
    }
    json.append(UInt8(ascii: "]"))
  }

  private func append(_ value: Value, to json: inout [UInt8]) {
    switch value {
    case .null: json.append(contentsOf: "null".utf8)
    case .real(let number) where number.isFinite: JSONText.append(number, to: &json)
    // JavaScript's numbers are exact up to 53 bits.
    case .integer(let number) where number.magnitude < 1 << 53:
      json.append(contentsOf: String(number).utf8)
    case .blob(let bytes): JSONText.append("\(bytes.count) bytes", to: &json)
    case .boolean(let value): json.append(contentsOf: (value ? "true" : "false").utf8)
    default: JSONText.append(value.shownText, to: &json)
    }
  }
}

extension Value {
  /// As people read it.
  fileprivate var shownText: String {
    switch self {
    case .text(let text): DisplayText.cut(text, to: 4000)
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    case .date(let date): "\(date)"
    case .dateTime(let time): "\(time)"
    case .null, .boolean, .blob: ""
    }
  }
}
