import FieldpackCore
import FieldpackGeometry

/// The positions of a `gx:Track`, whose times and places stand in two lists.
struct KMLTrack {
  private var positions: [SIMD4<Double>] = []
  private var times: [Instant?] = []
  private var moments = MomentReader()

  mutating func reset() {
    positions.removeAll(keepingCapacity: true)
    times.removeAll(keepingCapacity: true)
  }

  mutating func add(when text: UnsafeBufferPointer<UInt8>) {
    times.append(moments.read(trimmed(text))?.instant)
  }

  /// A `coord` without numbers is a moment without a position.
  mutating func add(coord text: UnsafeBufferPointer<UInt8>) throws(FieldpackError) {
    let place = try KMLShape.position(text)
    positions.append(place ?? SIMD4(repeating: .nan))
  }

  /// Adds the track to the line that is open, with Unix seconds as M where each place has a time.
  func add(to shape: inout KMLShape) {
    let hasTimes = times.count == positions.count
    for (index, place) in positions.enumerated() where !place.x.isNaN {
      var vertex = place
      if hasTimes, let time = times[index] { vertex.w = Double(time.milliseconds) / 1000 }
      shape.add(vertex)
    }
  }
}

/// The numbers of a `LatLonBox`, of an overlay's altitude, and of a model's `Location`.
struct KMLBox {
  private var values: [KMLTag: Double] = [:]
  private var hasBadNumber = false

  mutating func take(_ tag: KMLTag, _ text: UnsafeBufferPointer<UInt8>) {
    guard let value = NumberParser.double(trimmed(text)), value.isFinite else {
      hasBadNumber = true
      return
    }
    values[tag] = value
  }

  /// Adds the rectangle of an overlay, if it has one. Its rotation is not applied.
  func add(to shape: inout KMLShape) throws(FieldpackError) {
    if hasBadNumber {
      throw FieldpackError(.invalidData, "the box of the overlay has a value that is not a number")
    }
    guard let north = values[.north], let south = values[.south], let east = values[.east],
      let west = values[.west]
    else { return }
    let z = values[.altitude] ?? 0
    try shape.begin(.polygon)
    try shape.begin(.ring)
    for (x, y) in [(west, south), (east, south), (east, north), (west, north)] {
      shape.add(SIMD4(x, y, z, .nan))
    }
    shape.end()
    shape.end()
  }

  /// Adds the place of a model to the point that is open.
  func addPosition(to shape: inout KMLShape) {
    guard let x = values[.longitude], let y = values[.latitude] else { return }
    shape.add(SIMD4(x, y, values[.altitude] ?? .nan, .nan))
  }
}

/// What the schemas of a file say of fields.
struct KMLSchemas {
  private var fields: [String: [String: KMLField.Kind]] = [:]
  /// The names of elements that stand for `Placemark` in KML 2.0.
  private var elements: Set<String> = []
  private var current = ""
  private var chosen: [String: KMLField.Kind] = [:]
  /// More fields in all are of no use.
  private static let maximumCount = 100_000
  private var count = 0

  var hasElements: Bool { !elements.isEmpty }

  mutating func begin(_ attributes: XMLAttributes) {
    let name = attributes.text("name") ?? ""
    current = attributes.text("id") ?? name
    if !name.isEmpty, attributes.text("parent") == "Placemark" {
      elements.insert(name)
      current = name
    }
  }

  mutating func addField(_ attributes: XMLAttributes) {
    count += 1
    guard count <= Self.maximumCount else { return }
    let kind: KMLField.Kind =
      switch attributes.text("type") {
      case "int", "uint", "short", "ushort": .integer
      case "float", "double": .real
      case "bool": .boolean
      default: .text
      }
    fields[current, default: [:]][attributes.text("name") ?? ""] = kind
  }

  func fields(ofElement name: String) -> [String: KMLField.Kind]? {
    elements.contains(name) ? fields[name] ?? [:] : nil
  }

  /// Chooses the schema that a `schemaUrl` names.
  mutating func choose(_ url: String) {
    let id = url.lastIndex(of: "#").map { String(url[url.index(after: $0)...]) } ?? url
    chosen = fields[id] ?? [:]
  }

  func kind(ofChosen name: String) -> KMLField.Kind { chosen[name] ?? .text }
}

/// The style or style map that is being read.
struct KMLStyleReading {
  private(set) var style = KMLStyle()
  /// The outermost is that of a style map where one is open.
  private var ids: [String] = []
  private var key = ""
  private var url = ""
  private var inline: KMLStyle?
  private var link: String?

  mutating func begin(id: String) {
    if ids.isEmpty { (link, inline) = (nil, nil) }
    ids.append(id)
    style = KMLStyle()
  }

  mutating func end(_ styles: inout KMLStyles) {
    guard let id = ids.popLast(), !id.isEmpty else { return }
    styles.add(style, id: id)
  }

  /// Ends the style in a pair, or the pair.
  mutating func endPair(inline isInline: Bool, _ styles: inout KMLStyles) {
    if isInline {
      if ids.count > 1, let id = ids.popLast(), !id.isEmpty { styles.add(style, id: id) }
      if key == "normal" || key.isEmpty { inline = style }
      return
    }
    if key == "normal", !url.isEmpty { link = url }
    (key, url) = ("", "")
  }

  /// Ends a style map; gives what it names, or has, for features that are not pointed at.
  mutating func endMap(_ styles: inout KMLStyles) -> (link: String?, style: KMLStyle?) {
    guard let id = ids.popLast(), !id.isEmpty else { return (link, inline) }
    if let link { styles.add(link: link, id: id) } else if let inline { styles.add(inline, id: id) }
    return (link, inline)
  }

  /// Takes the text of an element of a style; false where it is of another element.
  mutating func take(
    _ tag: KMLTag, _ text: UnsafeBufferPointer<UInt8>, in parent: KMLTag
  ) -> Bool {
    switch (parent, tag) {
    case (.lineStyle, .color): style.lineColor = KMLStyle.color(text) ?? style.lineColor
    case (.lineStyle, .width):
      let width = NumberParser.double(trimmed(text))
      if let width, width.isFinite, width >= 0 { style.lineWidth = width }
    case (.polyStyle, .color): style.areaColor = KMLStyle.color(text) ?? style.areaColor
    case (.polyStyle, .fill):
      style.fills = !["0", "false"].contains(String(decoding: trimmed(text), as: UTF8.self))
    case (.iconStyle, .color): style.iconColor = KMLStyle.color(text) ?? style.iconColor
    case (.pair, .key): key = String(decoding: trimmed(text), as: UTF8.self)
    case (.pair, .styleUrl): url = String(decoding: trimmed(text), as: UTF8.self)
    default: return false
    }
    return true
  }
}

extension XMLAttributes {
  /// The value of the attribute of this name in no namespace.
  func text(_ name: StaticString) -> String? {
    for index in 0..<count {
      guard let attribute = self.name(index), attribute.uri == nil, attribute.local.equals(name)
      else { continue }
      return String(decoding: value(index), as: UTF8.self)
    }
    return nil
  }
}
