package import FieldpackCore

/// The style that QGIS keeps of a layer, in QML: one symbol, or one for each category or range.
///
/// Of each symbol the first simple layer counts; rules, expressions and other renderers are not read.
package struct QGISStyle: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    package var label: String
    package var style: LayerStyle
    package var match: Match

    package init(label: String, style: LayerStyle, match: Match) {
      self.label = label
      self.style = style
      self.match = match
    }
  }

  package enum Match: Hashable, Sendable {
    case all
    /// The category's value as text; empty is that of all other values.
    case value(String)
    case range(Double, Double)
  }

  /// The column whose values select the symbol; `nil` where all features have the same.
  package var attribute: String?
  package var entries: [Entry] = []

  /// Reads a style; `nil` where it is none of those that are drawn.
  package init?(qml: [UInt8]) {
    let tree: XMLTree
    do throws(FieldpackError) { tree = try XMLTree(qml) } catch { return nil }
    guard let renderer = tree.child("renderer-v2"), let found = QMLRenderer(renderer).style else {
      return nil
    }
    self = found
  }

  init(attribute: String?, entries: [Entry]) {
    self.attribute = attribute
    self.entries = entries
  }

  /// The entry that a value belongs to.
  package func entry(for value: Value) -> Int? {
    let number: Double? =
      switch value {
      case .integer(let number): Double(number)
      case .real(let number): number
      case .text(let text): Double(text)
      default: nil
      }
    let text: String =
      switch value {
      case .null: ""
      case .text(let text): text
      case .integer(let number): String(number)
      case .boolean(let value): value ? "true" : "false"
      case .real(let number): "\(number)"
      case .date(let date): "\(date)"
      case .dateTime(let time): "\(time)"
      case .blob: ""
      }
    let found = entries.firstIndex { entry in
      switch entry.match {
      case .all: true
      case .range(let low, let high): number.map { low <= $0 && $0 <= high } ?? false
      case .value(let wanted):
        !wanted.isEmpty && (wanted == text || number != nil && Double(wanted) == number)
      }
    }
    return found ?? entries.firstIndex { $0.match == .value("") }
  }
}
