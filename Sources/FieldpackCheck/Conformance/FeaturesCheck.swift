import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Tables and views of features: clause 2.1.
struct FeaturesCheck {
  let check: ConformanceCheck
  private static let registry = "gpkg_geometry_columns"

  func run() throws(FieldpackError) {
    let layers = check.layers("features")
    if !layers.isEmpty, !check.has(Self.registry) {
      try check.report(
        .error, .core(21), table: Self.registry, "the table is missing",
        repair: .geometryColumnsTable)
    }
    try examineRegistry(layers)
    for layer in layers {
      try check.attempt(.core(18), table: layer.table, "the layer") { () throws(FieldpackError) in
        try examine(layer)
      }
    }
  }

  // MARK: Registry

  private func examineRegistry(
    _ layers: [ConformanceCheck.ContentsRow]
  ) throws(FieldpackError) {
    let names = Set(layers.map { SQLName($0.table) })
    for row in check.geometryColumns ?? [] {
      if check.contents != nil, !names.contains(SQLName(row.table)) {
        try check.report(
          .error, .core(23), table: row.table, column: row.column,
          "it is in gpkg_geometry_columns, but not as features in gpkg_contents")
      }
      try examineType(row)
      try examineSystem(row)
      for (requirement, name, value) in [(27, "z", row.z), (28, "m", row.m)]
      where !(0...2).contains(value ?? -1) {
        try check.report(
          .error, .core(requirement), table: row.table, column: row.column,
          "\(name) is \(value.map { "\($0)" } ?? "NULL"), not 0, 1 or 2",
          repair: .ordinates(table: row.table, column: name))
      }
    }
  }

  private func examineType(
    _ row: ConformanceCheck.GeometryColumnRow
  ) throws(FieldpackError) {
    let known = GeometryType(name: row.type)
    guard let known, known.rawValue <= GeometryType.surface.rawValue else {
      return try check.report(
        .error, .core(25), table: row.table, column: row.column,
        "geometry type '\(row.type)' is not known")
    }
    guard known.name != row.type else { return }
    try check.report(
      .error, .core(25), table: row.table, column: row.column,
      "geometry type '\(row.type)' is not written \(known.name)",
      repair: .typeName(table: row.table))
  }

  private func examineSystem(
    _ row: ConformanceCheck.GeometryColumnRow
  ) throws(FieldpackError) {
    let id = row.srsID.map { "\($0)" } ?? "NULL"
    if check.lacksSystem(row.srsID) {
      try check.report(
        .error, .core(26), table: row.table, column: row.column,
        "srs_id \(id) is not in gpkg_spatial_ref_sys")
    }
    guard let stated = check.contents(of: row.table), stated.srsID != row.srsID else { return }
    // The rule is from 1.3. Before, a missing srs_id meant nothing.
    let level: ConformanceFinding.Level =
      stated.srsID == nil && check.version < 10_300 ? .warning : .error
    try check.report(
      level, .core(146), table: row.table, column: "srs_id",
      "srs_id is \(stated.srsID.map { "\($0)" } ?? "NULL") in gpkg_contents and \(id) in "
        + "gpkg_geometry_columns",
      repair: check.lacksSystem(row.srsID) ? nil : .contentsSRS(table: row.table))
  }

  // MARK: Layers

  private func examine(_ layer: ConformanceCheck.ContentsRow) throws(FieldpackError) {
    guard let object = check.table(layer.table) else { return }
    let registered = check.geometryColumns(of: layer.table)
    let columns = try check.columns(of: object.name)
    if registered.isEmpty, check.geometryColumns != nil {
      let candidates = columns.filter { GeometryType(name: $0.type) != nil }
      try check.report(
        .error, .core(22), table: layer.table, "it has no row in gpkg_geometry_columns",
        repair: candidates.count == 1 ? .geometryColumn(table: layer.table) : nil)
    }
    if registered.count > 1 {
      try check.report(
        .error, .core(30), table: layer.table, "it has \(registered.count) geometry columns")
    }
    try KeyCheck(check: check, object: object, key: .core(29), view: .core(150)).run()
    if let geometry = registered.first { try examineColumn(geometry, of: object, columns) }
    let geometry = registered.first { row in
      columns.contains { SQLName($0.name) == SQLName(row.column) }
    }
    for column in columns where SQLName(column.name) != geometry.map({ SQLName($0.column) }) {
      // With no geometry column registered, that finding covers a column of geometries.
      if geometry == nil, GeometryType(name: column.type) != nil { continue }
      try ColumnTypes.examine(column, of: object.name, in: check)
    }
    try LayerRows(check: check, object: object, layer: layer, geometry: geometry).run()
  }

  private func examineColumn(
    _ row: ConformanceCheck.GeometryColumnRow, of object: ConformanceCheck.SchemaObject,
    _ columns: [ConformanceCheck.TableColumn]
  ) throws(FieldpackError) {
    let name = SQLName(row.column)
    guard let column = columns.first(where: { SQLName($0.name) == name }) else {
      return try check.report(
        .error, .core(24), table: row.table, column: row.column, "there is no such column")
    }
    // A view's column has a type only where it comes directly from a table's column.
    if object.isView, column.type.isEmpty { return }
    if GeometryType(name: column.type)?.name != column.type {
      try check.report(
        .error, .core(25), table: row.table, column: row.column,
        "its declared type '\(column.type)' is no geometry type in capitals")
    }
    if column.type.uppercased() != row.type.uppercased() {
      try check.report(
        .error, .core(31), table: row.table, column: row.column,
        "its declared type is \(column.type), and \(row.type) in gpkg_geometry_columns")
    } else if column.type != row.type {
      try check.report(
        .error, .core(31), table: row.table, column: row.column,
        "its declared type is \(column.type), and \(row.type) in gpkg_geometry_columns",
        repair: column.type == row.type.uppercased() ? .typeName(table: row.table) : nil)
    }
    if let type = GeometryType(name: row.type), type.isCurved {
      try Self.examineCurves(type, row, in: check)
    }
  }

  /// Reports a nonlinear type that `gpkg_extensions` does not register for the column.
  static func examineCurves(
    _ type: GeometryType, _ row: ConformanceCheck.GeometryColumnRow, in check: ConformanceCheck
  ) throws(FieldpackError) {
    let name = "gpkg_geom_\(type.name)"
    guard !check.isRegistered(name, table: row.table, column: row.column) else { return }
    try check.report(
      .error, .core(68), table: row.table, column: row.column,
      "\(type.name) is in use, and \(name) is not in gpkg_extensions",
      repair: .extensionRow(ExtensionRow(name: name, table: row.table, column: row.column)))
  }
}

/// Checks the key of a table, or the column that serves as the key of a view.
struct KeyCheck {
  let check: ConformanceCheck
  let object: ConformanceCheck.SchemaObject
  let key: Requirement
  let view: Requirement

  func run() throws(FieldpackError) {
    let columns = try check.columns(of: object.name)
    guard object.isView else {
      let keys = columns.filter { $0.keyPosition > 0 }
      if keys.count != 1 || keys[0].type.uppercased() != "INTEGER" {
        let found = keys.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        try check.report(
          .error, key, table: object.name,
          keys.isEmpty
            ? "it has no primary key" : "its primary key is (\(found)), not one INTEGER")
      }
      return
    }
    guard let first = columns.first else { return }
    guard first.type.uppercased() == "INTEGER" else {
      return try check.report(
        .error, view, table: object.name, column: first.name, "the first column is not INTEGER")
    }
    let name = quoted(first.name)
    let repeated = try check.integer(
      "SELECT count(*) - count(DISTINCT \(name)) FROM \(quoted(object.name))")
    if let repeated, repeated != 0 {
      try check.report(
        .error, view, table: object.name, column: first.name,
        "\(repeated) of its values are NULL or there before")
    }
  }
}
