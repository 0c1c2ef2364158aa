import FieldpackCore

/// Gathers a `renderer-v2` of QML: its symbols by name, and what selects them.
final class QMLHandler: XMLHandling {
  private struct Rule {
    var symbol: String
    var label: String
    var match: QGISStyle.Match
  }

  private static let most = 1000

  private var type: String?
  private var attribute: String?
  private var rules: [Rule] = []
  private var symbols: [String: LayerStyle] = [:]
  private var path: [String] = []
  /// The symbol that is being read: its name, kind and opacity.
  private var symbol: (name: String, kind: String, opacity: Double)?
  private var layerClass: String?
  private var options: [String: String] = [:]

  var style: QGISStyle? {
    func entry(_ rule: Rule) -> QGISStyle.Entry? {
      symbols[rule.symbol].map { .init(label: rule.label, style: $0, match: rule.match) }
    }
    switch type {
    case "singleSymbol":
      guard let style = symbols["0"] else { return nil }
      return QGISStyle(attribute: nil, entries: [.init(label: "", style: style, match: .all)])
    case "categorizedSymbol", "graduatedSymbol":
      let entries = rules.compactMap(entry)
      guard let attribute, !attribute.isEmpty, !entries.isEmpty else { return nil }
      return QGISStyle(attribute: attribute, entries: entries)
    default: return nil
    }
  }

  func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) {
    let name = String(decoding: name.local.bytes, as: UTF8.self)
    path.append(name)
    var values: [String: String] = [:]
    for index in 0..<attributes.count {
      guard let key = attributes.name(index) else { continue }
      values[String(decoding: key.local.bytes, as: UTF8.self)] =
        String(decoding: attributes.value(index), as: UTF8.self)
    }
    begin(name, values)
  }

  private func begin(_ name: String, _ values: [String: String]) {
    switch name {
    case "renderer-v2" where type == nil:
      type = values["type"]
      attribute = values["attr"].map(Self.column)
    case "category" where isInRenderer: add(values, .value(values["value"] ?? ""))
    case "range" where isInRenderer:
      guard let low = values["lower"].flatMap(Double.init),
        let high = values["upper"].flatMap(Double.init)
      else { return }
      add(values, .range(low, high))
    case "symbol" where isInRenderer && symbol == nil && path.contains("symbols"):
      symbol = (
        values["name"] ?? "", values["type"] ?? "", values["alpha"].flatMap(Double.init) ?? 1
      )
    case "layer" where symbol != nil && layerClass == nil: layerClass = values["class"]
    case "prop" where layerClass != nil: keep(values["k"], values["v"])
    case "Option" where layerClass != nil: keep(values["name"], values["value"])
    default: break
    }
  }

  private var isInRenderer: Bool { path.prefix(2).contains("renderer-v2") }

  private func keep(_ name: String?, _ value: String?) {
    // The first layer's own options come before those of what depends on data.
    guard let name, let value, options[name] == nil, options.count < Self.most else { return }
    options[name] = value
  }

  private func add(_ values: [String: String], _ match: QGISStyle.Match) {
    guard values["render"] != "false", rules.count < Self.most else { return }
    rules.append(Rule(symbol: values["symbol"] ?? "", label: values["label"] ?? "", match: match))
  }

  func endElement(_ name: XMLName, in parser: XMLPushParser) {
    let name = path.popLast() ?? ""
    guard let current = symbol, name == "layer", let kind = layerClass,
      symbols[current.name] == nil, symbols.count < Self.most
    else {
      if name == "symbol", !path.contains("symbol") {
        (symbol, layerClass, options) = (nil, nil, [:])
      }
      return
    }
    // A layer of a marker inside of a line's layer is not the symbol's own.
    guard path.filter({ $0 == "layer" }).isEmpty else { return }
    symbols[current.name] = style(kind, opacity: current.opacity)
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser) {}

  // MARK: Symbols

  private func style(_ kind: String, opacity: Double) -> LayerStyle? {
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

  /// The column of an attribute that may stand in quotes; an expression is none.
  private static func column(_ text: String) -> String {
    guard text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
    return String(text.dropFirst().dropLast())
  }
}
