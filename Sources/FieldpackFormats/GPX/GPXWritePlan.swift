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
    var tag: Tag
  }

  /// Where the two tags of an element stand in ``tags``.
  struct Tag {
    var open: Range<Int>
    var close: Range<Int>
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
    /// The element of Fieldpack's namespace.
    var tag: Tag
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
  /// The tags, one behind the other.
  private(set) var tags: [UInt8] = []
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
    beforeLinks = steps(elements.before, &used)
    afterLinks = steps(elements.after, &used)
    takeLinks(&used)
    if let index = schema.columnIndex("extensions"), Self.isText(schema.columns[index].type) {
      extensions = take("extensions", &used)
    }
    for (index, column) in schema.columns.enumerated() where !used.contains(index) {
      let tag = addTag(Self.extensionTags(named: column.name))
      attributes.append(
        Attribute(column: index, type: column.type, name: column.name, tag: tag))
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

  private mutating func step(_ element: Element, _ used: inout Set<Int>) -> Step? {
    guard let column = take(element.rawValue, &used) else { return nil }
    let name = element.rawValue
    return Step(element: element, column: column, tag: addTag(("<\(name)>", "</\(name)>")))
  }

  private mutating func steps(_ elements: [Element], _ used: inout Set<Int>) -> [Step] {
    var steps: [Step] = []
    for element in elements {
      if let step = step(element, &used) { steps.append(step) }
    }
    return steps
  }

  private mutating func addTag(_ texts: (open: String, close: String)) -> Tag {
    let start = tags.count
    tags.append(contentsOf: texts.open.utf8)
    let middle = tags.count
    tags.append(contentsOf: texts.close.utf8)
    return Tag(open: start..<middle, close: middle..<tags.count)
  }

  /// The tags of an element of Fieldpack's namespace, which keeps the name that XML cannot have.
  static func extensionTags(named name: String) -> (open: String, close: String) {
    let xmlName = XMLText.name(name)
    var open: [UInt8] = Array("<fieldpack:\(xmlName)".utf8)
    if xmlName != name {
      open.append(contentsOf: " name=\"".utf8)
      XMLText.append(name, inAttribute: true, to: &open)
      open.append(UInt8(ascii: "\""))
    }
    open.append(UInt8(ascii: ">"))
    return (String(decoding: open, as: UTF8.self), "</fieldpack:\(xmlName)>")
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
