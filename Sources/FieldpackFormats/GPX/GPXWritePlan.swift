import FieldpackCore

/// Which column of a layer becomes which element of a `wpt`, `rte` or `trk`.
struct GPXWritePlan {
  /// Elements that GPX 1.1 orders, without `link` and `extensions`.
  enum Element: String {
    case ele, time, magvar, geoidheight, name, cmt, desc, src
    case number, sym, type, fix, sat, hdop, vdop, pdop, ageofdgpsdata, dgpsid
  }

  struct Step {
    var element: Element
    var column: Int
  }

  struct Link {
    var href: Int
    var text: Int?
    var type: Int?
  }

  struct Attribute {
    var column: Int
    var type: ColumnType
    var name: String
    /// The name as an element may have it.
    var xmlName: String
  }

  /// `ele` and `time` stand first, and may come from the geometry as well.
  private(set) var ele: Step?
  private(set) var time: Step?
  private(set) var beforeLinks: [Step] = []
  private(set) var links: [Link] = []
  private(set) var afterLinks: [Step] = []
  /// Columns that GPX has no element for.
  private(set) var attributes: [Attribute] = []
  /// The column of verbatim extensions.
  private(set) var extensions: Int?
  private let schema: Schema

  private static let pointElements: (before: [Element], after: [Element]) = (
    [.magvar, .geoidheight, .name, .cmt, .desc, .src],
    [.sym, .type, .fix, .sat, .hdop, .vdop, .pdop, .ageofdgpsdata, .dgpsid]
  )
  private static let pathElements: (before: [Element], after: [Element]) = (
    [.name, .cmt, .desc, .src], [.number, .type]
  )

  /// - Parameter structure: columns that only say which path a point belongs to.
  init(_ schema: Schema, isPoint: Bool, structure: [Int?] = []) {
    self.schema = schema
    var used = Set(structure.compactMap { $0 })
    let elements = isPoint ? Self.pointElements : Self.pathElements
    if isPoint {
      ele = step(.ele, &used)
      time = step(.time, &used)
    }
    beforeLinks = elements.before.compactMap { step($0, &used) }
    afterLinks = elements.after.compactMap { step($0, &used) }
    takeLinks(&used)
    if let index = schema.columnIndex("extensions"), Self.isText(schema.columns[index].type) {
      extensions = take("extensions", &used)
    }
    for (index, column) in schema.columns.enumerated() where !used.contains(index) {
      attributes.append(
        Attribute(
          column: index, type: column.type, name: column.name, xmlName: XMLText.name(column.name)))
    }
  }

  func name(of column: Int) -> String { schema.columns[column].name }

  private static func isText(_ type: ColumnType) -> Bool {
    if case .text = type { true } else { false }
  }

  private func take(_ name: String, _ used: inout Set<Int>) -> Int? {
    guard let index = schema.columnIndex(name), used.insert(index).inserted else { return nil }
    return index
  }

  private func step(_ element: Element, _ used: inout Set<Int>) -> Step? {
    take(element.rawValue, &used).map { Step(element: element, column: $0) }
  }

  private mutating func takeLinks(_ used: inout Set<Int>) {
    for number in 1...GPXField.maximumLinks {
      let first = number == 1 ? schema.columnIndex("link") : nil
      guard let href = schema.columnIndex("link\(number)_href") ?? first, !used.contains(href)
      else { continue }
      used.insert(href)
      links.append(
        Link(
          href: href, text: take("link\(number)_text", &used),
          type: take("link\(number)_type", &used)))
    }
  }
}
