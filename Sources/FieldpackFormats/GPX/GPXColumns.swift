import FieldpackCore

/// The columns of one layer as the file shows them, and where their values go in the row asked for.
struct GPXColumns {
  /// How a column's values are stored in the row.
  enum Target { case integer, real, dateTime, text }

  /// What a value needs to be set; the names stand apart, so that this is copied freely.
  struct Column {
    var kind: GPXField.Kind?
    var seen: ScalarTraits = []
    /// The column in the row, -1 where the row has none.
    var rowColumn = -1
    var target = Target.text
  }

  /// More columns than a table of SQLite holds are of no use.
  static let maximumExtensionColumns = 1000

  /// GPX's own fields by raw value, then `extensions`, then what extensions hold.
  private(set) var columns: [Column]
  private var columnNames: [String]
  private var taken: Set<String>
  private(set) var notes: [String] = []
  private var isFullNoted = false

  static let extensionsIndex = GPXField.allCases.count

  init() {
    columns = GPXField.allCases.map { Column(kind: $0.kind) } + [Column(kind: .text)]
    columnNames = GPXField.allCases.map(\.columnName) + ["extensions"]
    taken = Set(columnNames + ["fid", "geom"])
  }

  func index(of name: String) -> Int? { columnNames.firstIndex(of: name) }

  /// A column for the leaf `name` of an extension; `nil` where there are too many.
  ///
  /// Its name gets `_2` and so on where an earlier one is equal, ignoring case.
  mutating func addExtension(named name: String, asked schema: Schema?) -> Int? {
    guard columns.count - Self.extensionsIndex <= Self.maximumExtensionColumns else {
      if !isFullNoted {
        notes.append(
          "more than \(Self.maximumExtensionColumns) kinds of extension: the rest is in "
            + "'extensions' alone")
      }
      isFullNoted = true
      return nil
    }
    let unique = name.numbered { taken.insert($0.lowercased()).inserted }
    if unique != name { notes.append("the extension '\(name)' is in column '\(unique)'") }
    columns.append(Column(kind: nil))
    columnNames.append(unique)
    locate(columns.count - 1, in: schema)
    return columns.count - 1
  }

  mutating func locate(in schema: Schema?) {
    for index in columns.indices { locate(index, in: schema) }
  }

  private mutating func locate(_ index: Int, in schema: Schema?) {
    guard let schema,
      let found = schema.columns.firstIndex(where: { $0.name == columnNames[index] })
    else {
      columns[index].rowColumn = -1
      return
    }
    columns[index].rowColumn = found
    columns[index].target =
      switch schema.columns[found].type {
      case .integer: .integer
      case .double: .real
      case .dateTime: .dateTime
      default: .text
      }
  }

  mutating func note(_ trait: ScalarTraits, at index: Int) { columns[index].seen.insert(trait) }

  /// The columns that hold a value, in GDAL's order, extensions behind, their XML last.
  var definitions: [ColumnDefinition] {
    let order = columns.indices.filter { $0 != Self.extensionsIndex } + [Self.extensionsIndex]
    return order.compactMap { index in
      let column = columns[index]
      return column.seen.isEmpty ? nil : ColumnDefinition(columnNames[index], Self.type(of: column))
    }
  }

  private static func type(of column: Column) -> ColumnType {
    switch column.kind {
    case .text: return .text()
    case .real: return column.seen.isSubset(of: [.integer, .real]) ? .double : .text()
    default: break
    }
    switch column.seen {
    case .integer, .real, [.integer, .real], .dateTime: return column.seen.type
    default: return .text()
    }
  }
}
