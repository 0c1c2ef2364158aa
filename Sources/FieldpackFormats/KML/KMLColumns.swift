import FieldpackCore

/// An attribute that KML itself knows; the first twelve have GDAL's names and order.
enum KMLField: Int, CaseIterable {
  case id, name, description, timestamp, begin, end, altitudeMode, tessellate, extrude
  case visibility, drawOrder, icon, snippet, address, phoneNumber
  case stroke, strokeOpacity, strokeWidth, fill, fillOpacity, markerColor

  /// How a column's values are read.
  enum Kind { case text, integer, real, boolean, time }

  var columnName: String {
    switch self {
    case .name: "Name"
    // The names of Mapbox's simplestyle 1.1.
    case .strokeOpacity: "stroke-opacity"
    case .strokeWidth: "stroke-width"
    case .fillOpacity: "fill-opacity"
    case .markerColor: "marker-color"
    default: "\(self)"
    }
  }

  var kind: Kind {
    switch self {
    case .timestamp, .begin, .end: .time
    case .tessellate, .extrude, .visibility, .drawOrder: .integer
    case .strokeOpacity, .strokeWidth, .fillOpacity: .real
    default: .text
    }
  }

  var isStyle: Bool { rawValue >= Self.stroke.rawValue }

  /// The field that a column of this name is written as.
  static func named(_ name: String) -> KMLField? {
    allCases.first { $0.columnName.lowercased() == name.lowercased() }
  }
}

/// The columns of one layer as the file shows them, and where their values go in the row asked for.
struct KMLColumns {
  struct Column {
    var name: String
    var kind: KMLField.Kind
    var seen: ScalarTraits = []
    /// The column in the row, -1 where the row has none.
    var rowColumn = -1
    var type = ColumnType.text()
  }

  /// SQLite's limit of 2,000 less the columns that a layer has of its own.
  private static let maximumCount = 1990

  /// KML's own fields by raw value, then those of extended data.
  private(set) var columns = KMLField.allCases.map { Column(name: $0.columnName, kind: $0.kind) }
  private var extras: [String: Int] = [:]
  private var taken = Set(KMLField.allCases.map { $0.columnName.lowercased() } + ["fid", "geom"])
  private let asked: Schema?
  private(set) var notes: [String] = []
  private var isFullNoted = false

  init(asked: Schema?) {
    self.asked = asked
    for index in columns.indices { locate(index) }
  }

  /// The column for a name of extended data; `nil` where there are too many.
  ///
  /// Its name gets `_2` and so on where an earlier one is equal, ignoring case.
  mutating func extra(_ name: String, _ kind: KMLField.Kind) -> Int? {
    if let known = extras[name] { return known }
    guard columns.count < Self.maximumCount else {
      if !isFullNoted {
        notes.append("more than \(Self.maximumCount) columns: the rest is left out")
      }
      isFullNoted = true
      return nil
    }
    let usable = name.isEmpty ? "value" : name
    let unique = usable.numbered { taken.insert($0.lowercased()).inserted }
    if unique != name { notes.append("the data '\(name)' are in column '\(unique)'") }
    extras[name] = columns.count
    columns.append(Column(name: unique, kind: kind))
    locate(columns.count - 1)
    return columns.count - 1
  }

  private mutating func locate(_ index: Int) {
    let name = columns[index].name
    guard let asked, let found = asked.columns.firstIndex(where: { $0.name == name }) else {
      return
    }
    columns[index].rowColumn = found
    columns[index].type = asked.columns[found].type
  }

  mutating func note(_ trait: ScalarTraits, at index: Int) { columns[index].seen.insert(trait) }

  /// The columns that hold a value: KML's own, extended data, and the colours.
  var definitions: [ColumnDefinition] {
    let own = KMLField.allCases
    let order =
      own.filter { !$0.isStyle }.map(\.rawValue) + Array(columns.indices.dropFirst(own.count))
      + own.filter(\.isStyle).map(\.rawValue)
    return order.compactMap { index in
      let column = columns[index]
      guard !column.seen.isEmpty else { return nil }
      return ColumnDefinition(column.name, Self.type(of: column))
    }
  }

  private static func type(of column: Column) -> ColumnType {
    switch column.kind {
    case .text: .text()
    case .real where column.seen.isSubset(of: [.integer, .real]): .double
    case .real, .integer, .boolean, .time: column.seen.type
    }
  }
}
