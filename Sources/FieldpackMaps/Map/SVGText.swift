import FieldpackCore

/// SVG as bytes, element by element.
struct SVGText {
  var bytes: [UInt8] = []

  init() {}

  /// Begins a picture with a white ground and a title.
  ///
  /// - Parameter style: rules of CSS.
  init(title: String, width: Double, height: Double, style: String? = nil) {
    let shown = DisplayText.cut(DisplayText.visible(title), to: 80)
    add(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(number(width)) "
        + "\(number(height))\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\">\n")
    add("<title>\(Self.escaped(shown))</title>\n")
    if let style { add("<style>\(style)</style>\n") }
    let (ground, ink) = style == nil ? ("", "") : ("class=\"g\" ", "class=\"t\" ")
    add("<rect \(ground)width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n")
    text(shown, x: 24, y: 29, size: 18, attributes: ink + "font-weight=\"600\" fill=\"#222\"")
  }

  mutating func end() { add("</svg>\n") }

  mutating func add(_ markup: String) { bytes.append(contentsOf: markup.utf8) }

  /// A length with at most one decimal.
  func number(_ value: Double) -> String {
    var text: [UInt8] = []
    let bounded = value.isFinite ? max(-1e12, min(1e12, value)) : 0
    SVGPath.append(Int((bounded * 10).rounded()), to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  mutating func text(
    _ text: String, x: Double, y: Double, size: Int, attributes: String, isHidden: Bool = false
  ) {
    guard !isHidden, !text.isEmpty else { return }
    add(
      "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(size)\" \(attributes)>"
        + "\(Self.escaped(text))</text>\n")
  }

  mutating func path(_ path: SVGPath, _ attributes: String = "") {
    add("<path \(attributes)\(attributes.isEmpty ? "" : " ")d=\"")
    bytes.append(contentsOf: path.bytes)
    add("\"/>\n")
  }

  /// `text` as the content of an element or attribute; what XML does not allow is spelled out.
  static func escaped(_ text: String) -> String { XMLText.escaped(DisplayText.visible(text)) }
}
