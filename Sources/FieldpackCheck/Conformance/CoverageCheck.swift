import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Tiled gridded coverages: OGC 17-066.
struct CoverageCheck {
  let check: ConformanceCheck
  private static let coverages = GPKGCoverageAncillary.table
  private static let tiles = GPKGTileAncillary.table
  private static let name = "gpkg_2d_gridded_coverage"
  /// WGS 84 with heights. A file with coverages must define it under its code.
  static let system = SRS("EPSG", 4979)

  func run() throws(FieldpackError) {
    let layers = check.layers("2d-gridded-coverage")
    guard !layers.isEmpty else { return }
    for layer in layers where !check.isRegistered(Self.name, table: layer.table) {
      try check.report(
        .error, .coverage(6), table: layer.table,
        "\(Self.name) is not registered in gpkg_extensions for it",
        repair: .extensionRow(
          ExtensionRow(name: Self.name, table: layer.table, column: "tile_data")))
    }
    try check.requireRows([Self.name], tables: [Self.coverages, Self.tiles], .coverage(6))
    try examineSystem()
    try examine(GPKGCoverageAncillary.self, .coverage(1)) { () throws(FieldpackError) in
      try examineCoverages(layers)
    }
    try examine(GPKGTileAncillary.self, .coverage(2)) { () throws(FieldpackError) in
      try examineTiles(layers)
    }
  }

  /// Examines a table that coverages need, and then its rows.
  private func examine<Table: SystemTable>(
    _: Table.Type, _ requirement: Requirement, rows: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard check.has(Table.table) else {
      return try check.report(.error, requirement, table: Table.table, "the table is missing")
    }
    try check.attempt(requirement, table: Table.table, "the table") { () throws(FieldpackError) in
      if try check.examine(Table.self, requirement) { try rows() }
    }
  }

  private func examineSystem() throws(FieldpackError) {
    let (table, code) = ("gpkg_spatial_ref_sys", Int64(Self.system.code))
    if check.lacksSystem(code) {
      try check.report(
        .error, .coverage(3), table: table, row: code,
        "srs_id \(code) is missing, which coverages need", repair: .coverageSystem)
    } else if check.systems != nil {
      try check.each(
        "SELECT organization, organization_coordsys_id FROM \(table) WHERE srs_id = \(code) "
          + "AND (upper(organization) <> 'EPSG' OR organization_coordsys_id <> srs_id)"
      ) { (row) throws(FieldpackError) in
        let name = "\(row[0].textValue ?? ""):\(row[1].integerValue ?? 0)"
        try check.report(
          .error, .coverage(3), table: table, row: code,
          "srs_id \(code) is \(name), not \(Self.system)")
      }
    }
  }

  private func examineCoverages(
    _ layers: [ConformanceCheck.ContentsRow]
  ) throws(FieldpackError) {
    var counts: [SQLName: Int] = [:]
    let names = Set(layers.map { SQLName($0.table) })
    try check.each(of: [GPKGCoverageAncillary.id, .tableName, .dataType]) {
      (row) throws(FieldpackError) in
      let table = row[.tableName].textValue ?? ""
      counts[SQLName(table), default: 0] += 1
      if !names.contains(SQLName(table)) {
        try check.report(
          .error, .coverage(7), table: Self.coverages, row: row[.id].integerValue,
          "'\(table)' is no coverage of gpkg_contents")
      }
      if !["integer", "float"].contains(row[.dataType].textValue) {
        try check.report(
          .error, .coverage(9), table: Self.coverages, row: row[.id].integerValue,
          "datatype '\(row[.dataType].textValue ?? "")' is neither integer nor float")
      }
    }
    for layer in layers where counts[SQLName(layer.table)] != 1 {
      try check.report(
        .error, .coverage(7), table: layer.table,
        "it has \(counts[SQLName(layer.table)] ?? 0) rows in \(Self.coverages), not 1")
    }
  }

  private func examineTiles(
    _ layers: [ConformanceCheck.ContentsRow]
  ) throws(FieldpackError) {
    for layer in layers {
      guard let object = check.table(layer.table), try check.hasColumns(["id"], in: object.name)
      else { continue }
      try check.each(
        "SELECT id FROM \(quoted(object.name)) WHERE id IS NULL OR id NOT IN (SELECT tpudt_id FROM "
          + "gpkg_2d_gridded_tile_ancillary WHERE lower(tpudt_name) = lower(?) "
          + "AND tpudt_id NOT NULL)", [.text(object.name)]
      ) { (row) throws(FieldpackError) in
        try check.report(
          .error, .coverage(10), table: object.name, row: row[0].integerValue,
          "the tile has no row in \(Self.tiles)")
      }
      try check.each(
        "SELECT id, tpudt_id FROM gpkg_2d_gridded_tile_ancillary WHERE "
          + "lower(tpudt_name) = lower(?) AND (tpudt_id IS NULL OR tpudt_id NOT IN "
          + "\(check.values(of: "id", in: object.name)))", [.text(object.name)]
      ) { (row) throws(FieldpackError) in
        try check.report(
          .error, .coverage(12), table: Self.tiles, row: row[0].integerValue,
          "tile \(row[1].integerValue ?? 0) is not in '\(object.name)'")
      }
    }
    let names = Set(layers.map { SQLName($0.table) })
    try check.each("SELECT DISTINCT tpudt_name FROM gpkg_2d_gridded_tile_ancillary") {
      (row) throws(FieldpackError) in
      guard let name = row[0].textValue, !names.contains(SQLName(name)) else { return }
      try check.report(
        .error, .coverage(11), table: Self.tiles, "'\(name)' is no coverage of gpkg_contents")
    }
  }
}
