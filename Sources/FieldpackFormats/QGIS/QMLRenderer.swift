import FieldpackCore

/// Reads a `renderer-v2` of QML: its symbols by name, and what selects them.
struct QMLRenderer {
  private static let most = 1000

  private let renderer: XMLTree
  private var symbols: [String: LayerStyle] = [:]

  init(_ renderer: XMLTree) {
    self.renderer = renderer
    for symbol in renderer.child("symbols")?.children("symbol") ?? [] {
      // Of each symbol the first layer counts.
      guard let name = symbol["name"], symbols[name] == nil, symbols.count < Self.most,
        let layer = symbol.child("layer")
      else { continue }
      let opacity = symbol["alpha"].flatMap(Double.init) ?? 1
      symbols[name] = QMLSymbolLayer(layer).style(opacity: opacity)
    }
  }

  var style: QGISStyle? {
    switch renderer["type"] {
    case "singleSymbol":
      guard let style = symbols["0"] else { return nil }
      return QGISStyle(attribute: nil, entries: [.init(label: "", style: style, match: .all)])
    case "categorizedSymbol": return style(of: renderer.child("categories")?.children("category"))
    case "graduatedSymbol": return style(of: renderer.child("ranges")?.children("range"))
    default: return nil
    }
  }

  private func style(of rules: [XMLTree]?) -> QGISStyle? {
    let entries = (rules ?? []).filter { $0["render"] != "false" }.prefix(Self.most)
      .compactMap(entry)
    guard let attribute = renderer["attr"].map(column), !attribute.isEmpty, !entries.isEmpty else {
      return nil
    }
    return QGISStyle(attribute: attribute, entries: entries)
  }

  private func entry(_ rule: XMLTree) -> QGISStyle.Entry? {
    guard let style = symbols[rule["symbol"] ?? ""] else { return nil }
    var match = QGISStyle.Match.value(rule["value"] ?? "")
    if rule.name.local == "range" {
      guard let low = rule["lower"].flatMap(Double.init),
        let high = rule["upper"].flatMap(Double.init)
      else { return nil }
      match = .range(low, high)
    }
    return .init(label: rule["label"] ?? "", style: style, match: match)
  }

  /// The column of an attribute that may stand in quotes; an expression is none.
  private func column(_ text: String) -> String {
    guard text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
    return String(text.dropFirst().dropLast())
  }
}

/// A layer of a symbol: its class, and its options by name.
private struct QMLSymbolLayer {
  private let kind: String?
  private var options: [String: String] = [:]

  init(_ layer: XMLTree) {
    kind = layer["class"]
    // New versions of QGIS write a map of options, old ones properties, some both.
    for option in layer.child("Option")?.children("Option") ?? [] {
      if let name = option["name"] { options[name] = option["value"] }
    }
    for property in layer.children("prop") {
      if let name = property["k"], options[name] == nil { options[name] = property["v"] }
    }
  }

  func style(opacity: Double) -> LayerStyle? {
    let opacity = opacity.isFinite ? max(0, min(1, opacity)) : 1
    var style = LayerStyle()
    switch kind {
    case "SimpleFill":
      style.fillColor = color("color", opacity)
      style.fillOpacity = options["style"] == "no" ? 0 : 1
      style.strokeColor = color("outline_color", opacity)
      style.strokeOpacity = options["outline_style"] == "no" ? 0 : 1
      style.strokeWidth = width("outline_width", "outline_width_unit")
      style.iconColor = style.fillColor
    case "SimpleLine":
      style.strokeColor = color("line_color", opacity)
      style.strokeOpacity = options["line_style"] == "no" ? 0 : 1
      style.strokeWidth = width("line_width", "line_width_unit")
      style.iconColor = style.strokeColor
    case "SimpleMarker":
      style.iconColor = color("color", opacity)
      style.strokeColor = style.iconColor
    default: return nil
    }
    return style.iconColor == nil ? nil : style
  }

  /// `r,g,b,a`, and what newer versions of QGIS write behind it.
  private func color(_ name: String, _ opacity: Double) -> StyleColor? {
    let numbers = (options[name] ?? "").split(separator: ",").prefix(4)
      .compactMap { UInt8($0.drop { $0 == " " }) }
    guard numbers.count >= 3 else { return nil }
    let alpha = numbers.count > 3 ? Double(numbers[3]) / 255 : 1
    return StyleColor(
      red: numbers[0], green: numbers[1], blue: numbers[2],
      opacity: ((alpha * opacity) * 1000).rounded() / 1000)
  }

  /// In pixels of 96 to the inch.
  private func width(_ name: String, _ unit: String) -> Double? {
    guard let value = options[name].flatMap(Double.init), value.isFinite, value >= 0 else {
      return nil
    }
    let factor: Double =
      switch options[unit] {
      case "Pixel": 1
      case "Point": 96.0 / 72
      case "Inch": 96
      default: 96 / 25.4
      }
    return min(40, (max(value * factor, 0.5) * 100).rounded() / 100)
  }
}
