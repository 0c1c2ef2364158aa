import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// Features as tables for people: one a layer, each under its name where there are several.
///
/// Where rows of several layers are sorted together they share one table, which says the layer of
/// each.
struct FeatureTable {
  /// What tables are made of.
  struct Style {
    var writesKeys = false
    /// One table with the layer as a column.
    var isMerged = false
    var width: Int?
    var usesUnicode = true
  }

  private let style: Style
  private let targets: [ExportTarget]
  private let hasStores: Bool
  private var table: TextTable?
  /// The layer whose table is being written.
  private var current: ExportTarget?
  private var names: [String] = []
  private var hasTables = false
  /// How many columns at most found no room.
  private(set) var hiddenColumns = 0

  init(_ targets: [ExportTarget], style: Style) {
    self.targets = targets
    self.style = style
    hasStores = Set(targets.map(\.store)).count > 1
  }

  /// Adds rows; what is certain of the table is appended to `bytes`.
  mutating func add(_ batch: FeatureBatch, to bytes: inout [UInt8]) {
    let target = ExportTarget(store: batch.store, schema: batch.schema)
    if style.isMerged {
      if table == nil { beginMerged() }
    } else if current?.store != target.store || current?.layer != target.layer {
      begin(target, to: &bytes)
    }
    for index in 0..<batch.count {
      let cells = cells(batch[index], target)
      table?.add(cells, to: &bytes)
    }
  }

  /// Ends the last table; a single layer without rows shows its columns.
  mutating func finish(to bytes: inout [UInt8]) {
    if table == nil, targets.count == 1 { begin(targets[0], to: &bytes) }
    end(to: &bytes)
  }

  private mutating func end(to bytes: inout [UInt8]) {
    table?.finish(to: &bytes)
    hiddenColumns = max(hiddenColumns, table?.hiddenColumns ?? 0)
    table = nil
  }

  // MARK: One layer a table

  private mutating func begin(_ target: ExportTarget, to bytes: inout [UInt8]) {
    end(to: &bytes)
    if targets.count > 1 {
      if hasTables { bytes.append(UInt8(ascii: "\n")) }
      bytes.append(contentsOf: "\(DisplayText.visible(title(target)))\n".utf8)
    }
    hasTables = true
    current = target
    let schema = target.schema
    var columns = style.writesKeys ? [TableColumn("key")] : []
    columns.append(TableColumn(schema.idColumn ?? "id", isNumeric: schema.hasNumericID))
    columns += schema.columns.map { TableColumn($0.name, isNumeric: $0.type.isNumeric) }
    if let geometry = schema.geometry { columns.append(TableColumn(geometry.name)) }
    table = TextTable(columns, width: style.width, usesUnicode: style.usesUnicode)
  }

  private func title(_ target: ExportTarget) -> String {
    hasStores ? "\(target.store)/\(target.layer)" : target.layer.rawValue
  }

  // MARK: All layers in one table

  private mutating func beginMerged() {
    var types: [String: ColumnType] = [:]
    names = []
    for column in targets.flatMap(\.schema.columns) where types[column.name] == nil {
      types[column.name] = column.type
      names.append(column.name)
    }
    var columns = style.writesKeys ? [TableColumn("key")] : []
    columns += [TableColumn("layer"), TableColumn("id")]
    columns += names.map { TableColumn($0, isNumeric: types[$0]?.isNumeric ?? false) }
    columns.append(TableColumn("geometry"))
    table = TextTable(columns, width: style.width, usesUnicode: style.usesUnicode)
  }

  // MARK: Rows

  private func cells(_ row: FeatureBatch.Row, _ target: ExportTarget) -> [String] {
    let schema = target.schema
    var cells: [String] = []
    if style.writesKeys {
      let key = KeyTuple(store: target.store, layer: schema.layer, feature: row.id)
      cells.append(key.description)
    }
    if style.isMerged { cells.append(title(target)) }
    cells.append(row.id.description)
    if style.isMerged {
      cells += names.map { name in
        schema.columnIndex(name).map { Self.cell(row, $0, schema.columns[$0].type) } ?? ""
      }
    } else {
      for (index, column) in schema.columns.enumerated() {
        cells.append(Self.cell(row, index, column.type))
      }
    }
    if schema.geometry != nil || style.isMerged { cells.append(GeometrySummary.text(row)) }
    return cells
  }

  private static func cell(_ row: FeatureBatch.Row, _ index: Int, _ type: ColumnType) -> String {
    switch row.kind(at: index) {
    case .null: return ""
    case .integer:
      let value = row.integer(at: index)
      return type == .boolean && (0...1).contains(value) ? "\(value == 1)" : "\(value)"
    case .real: return number(row.real(at: index))
    case .text: return row.text(at: index)
    case .blob: return "(\(row.withBytes(at: index) { $0.byteCount }) bytes)"
    }
  }

  /// The shortest form, without the `.0` of whole numbers.
  private static func number(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

extension Schema {
  /// Whether ids are numbers as far as can be told: those of a file are texts in another column.
  fileprivate var hasNumericID: Bool { idColumn == "fid" || idColumn == "ogc_fid" }
}

extension ColumnType {
  var isNumeric: Bool {
    switch self {
    case .tinyInt, .smallInt, .mediumInt, .integer, .float, .double: true
    default: false
    }
  }
}
