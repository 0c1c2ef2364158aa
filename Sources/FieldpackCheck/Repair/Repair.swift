import FieldpackGeoPackage

/// A repair that a finding asks for. Each repair is done once, in the order of the cases.
enum Repair: Hashable {
  case indexes
  case fileHeader
  case systemsTable
  case requiredSystems
  case coverageSystem
  case contentsTable
  case geometryColumnsTable
  case dataType(table: String)
  case lastChange(table: String)
  case geometryColumn(table: String)
  case typeName(table: String)
  case contentsSRS(table: String)
  case ordinates(table: String, column: String)
  case inclusiveColumns
  case retiredTriggers
  case extensionRow(ExtensionRow)
  case metadataTime
  case blobHeaders(table: String)
  case validity(table: String)
  case index(table: String)
  case triggers(table: String)
  case extent(table: String)
  case count(table: String)
  case changeLog(table: String)

  /// Whether the repair is a part of upgrading a file to a later version.
  var isUpgrade: Bool {
    switch self {
    case .inclusiveColumns, .retiredTriggers, .triggers, .extensionRow: true
    default: false
    }
  }

  /// The table that the repair changes or describes; `nil` for several tables.
  var table: String? {
    switch self {
    case .dataType(let table), .lastChange(let table), .geometryColumn(let table),
      .typeName(let table), .contentsSRS(let table), .ordinates(let table, _),
      .blobHeaders(let table), .validity(let table), .index(let table), .triggers(let table),
      .extent(let table), .count(let table), .changeLog(let table):
      table
    case .extensionRow(let row): row.table
    case .inclusiveColumns: "gpkg_data_column_constraints"
    case .metadataTime: "gpkg_metadata_reference"
    default: nil
    }
  }

  /// Whether the repair may uncover further findings.
  var unlocksMore: Bool {
    switch self {
    case .indexes, .systemsTable, .contentsTable, .geometryColumnsTable, .geometryColumn, .dataType,
      .typeName, .blobHeaders, .validity:
      true
    default: false
    }
  }

  /// Whether the repair may change layers or their registration.
  var changesCatalogue: Bool {
    switch self {
    case .blobHeaders, .index, .triggers, .extent, .count, .changeLog, .metadataTime, .indexes:
      false
    default: true
    }
  }

  /// The order of repairs: by rank, then by table, then by the detail.
  var order: (rank: Int, table: String, detail: String) {
    switch self {
    case .extensionRow(let row): (rank, row.table ?? "", "\(row.name) \(row.column ?? "")")
    case .ordinates(let table, let column): (rank, table, column)
    default: (rank, table ?? "", "")
    }
  }

  private var rank: Int {
    switch self {
    case .indexes: 0
    case .fileHeader: 1
    case .systemsTable: 2
    case .requiredSystems: 3
    case .coverageSystem: 4
    case .contentsTable: 5
    case .geometryColumnsTable: 6
    case .dataType: 7
    case .lastChange: 8
    case .geometryColumn: 9
    case .typeName: 10
    case .contentsSRS: 11
    case .ordinates: 12
    case .inclusiveColumns: 13
    case .retiredTriggers: 14
    case .extensionRow: 15
    case .metadataTime: 16
    case .blobHeaders: 17
    case .validity: 18
    case .index: 19
    case .triggers: 20
    case .extent: 21
    case .count: 22
    case .changeLog: 23
    }
  }
}

/// A row that `gpkg_extensions` must have.
struct ExtensionRow: Hashable {
  var name: String
  var table: String?
  var column: String?
  var scope = "read-write"
}
