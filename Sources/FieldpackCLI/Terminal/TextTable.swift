import FieldpackCore

/// A column of a table.
struct TableColumn: Hashable, Sendable {
  let title: String
  /// Numbers are aligned at their right.
  let isNumeric: Bool

  init(_ title: String, isNumeric: Bool = false) {
    self.title = title
    self.isNumeric = isNumeric
  }
}

/// Rows in aligned columns under a ruled header, cut to a width where one is given.
///
/// The first rows decide how wide the columns are; a longer cell that comes later is cut on a
/// terminal and pushes its row to the right elsewhere. Memory does not grow with the rows.
struct TextTable {
  private let columns: [TableColumn]
  private let width: Int?
  private let usesUnicode: Bool
  private let sampleSize: Int
  private var waiting: [[String]] = []
  private var layout: Layout?

  private struct Layout {
    var widths: [Int]
    /// Columns that found no room.
    var hidden: Int
  }

  /// The least width that a column is cut to.
  private static let leastWidth = 8
  private static let gap = 2

  /// - Parameter width: the cells of a line; `nil` cuts nothing.
  init(
    _ columns: [TableColumn], width: Int?, usesUnicode: Bool = true, sampleSize: Int = 1000
  ) {
    self.columns = columns.map {
      TableColumn(DisplayText.visible($0.title), isNumeric: $0.isNumeric)
    }
    self.width = width
    self.usesUnicode = usesUnicode
    self.sampleSize = sampleSize
  }

  /// The whole table of `rows`.
  static func text(
    _ columns: [TableColumn], _ rows: [[String]], width: Int?, usesUnicode: Bool = true
  ) -> String {
    var table = TextTable(columns, width: width, usesUnicode: usesUnicode, sampleSize: .max)
    var bytes: [UInt8] = []
    for row in rows { table.add(row, to: &bytes) }
    table.finish(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Adds a row; what can be written already is appended to `bytes`.
  mutating func add(_ row: [String], to bytes: inout [UInt8]) {
    let cells = row.map { DisplayText.visible($0) }
    if let layout {
      append(cells, layout, to: &bytes)
    } else {
      waiting.append(cells)
      if waiting.count >= sampleSize { begin(to: &bytes) }
    }
  }

  /// Ends the table; one without rows shows its header.
  mutating func finish(to bytes: inout [UInt8]) {
    if layout == nil { begin(to: &bytes) }
  }

  /// How many columns were left out because the terminal is too narrow, once rows are written.
  var hiddenColumns: Int { layout?.hidden ?? 0 }

  private mutating func begin(to bytes: inout [UInt8]) {
    let layout = measured()
    self.layout = layout
    append(columns.map(\.title), layout, to: &bytes)
    let rule = usesUnicode ? "─" : "-"
    append(layout.widths.map { String(repeating: rule, count: $0) }, layout, to: &bytes)
    for row in waiting { append(row, layout, to: &bytes) }
    waiting = []
  }

  private func measured() -> Layout {
    var widths = columns.map { DisplayText.width($0.title) }
    for row in waiting {
      for (index, cell) in row.prefix(widths.count).enumerated() {
        widths[index] = max(widths[index], DisplayText.width(cell))
      }
    }
    guard let width else { return Layout(widths: widths, hidden: 0) }
    let shown = Self.fitting(widths, width)
    let room = width - Self.gap * max(0, shown - 1) - (shown < widths.count ? Self.gap + 1 : 0)
    let cap = Self.cap(Array(widths.prefix(shown)), room)
    return Layout(
      widths: widths.prefix(shown).map { min($0, cap) }, hidden: widths.count - shown)
  }

  /// How many columns have room for at least their least width.
  private static func fitting(_ widths: [Int], _ room: Int) -> Int {
    let least = widths.map { min($0, leastWidth) }
    if least.reduce(0, +) + gap * max(0, widths.count - 1) <= room { return widths.count }
    var used = gap + 1
    for (index, width) in least.enumerated() {
      used += width + (index > 0 ? gap : 0)
      if used > room { return max(1, index) }
    }
    return widths.count
  }

  /// The width that no column may pass so that all of them fit: wide columns give, narrow ones stay.
  private static func cap(_ widths: [Int], _ room: Int) -> Int {
    var left = max(room, widths.count)
    let sorted = widths.sorted()
    for (index, width) in sorted.enumerated() {
      let share = left / (sorted.count - index)
      if width > share { return max(1, share) }
      left -= width
    }
    return sorted.last ?? 0
  }

  private func append(_ cells: [String], _ layout: Layout, to bytes: inout [UInt8]) {
    var line = ""
    for (index, width) in layout.widths.enumerated() {
      if index > 0 { line += String(repeating: " ", count: Self.gap) }
      let cell = index < cells.count ? cells[index] : ""
      let shown =
        self.width == nil
        ? cell : DisplayText.cut(cell, to: width, ellipsis: usesUnicode ? "…" : "~")
      line += DisplayText.pad(shown, to: width, leading: columns[index].isNumeric)
    }
    if layout.hidden > 0 { line += "  " + (usesUnicode ? "…" : "~") }
    while line.last == " " { line.removeLast() }
    bytes.append(contentsOf: line.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }
}
