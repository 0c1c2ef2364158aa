package import FieldpackCore
package import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// `gpkg_spatial_ref_sys`. A file may have the columns of the CRS WKT extension, or needs them:
/// `definition_12_063` for WKT 2, and `epoch` for the coordinate epoch (version 1.1).
package struct ReferenceSystems {
  let file: GeoPackageSession

  package init(file: GeoPackageSession) {
    self.file = file
  }

  private typealias Column = GPKGSpatialRefSys

  private static let table = Column.table
  private static let wkt2 = Column.wkt2.sql

  /// The names of the table's columns.
  private func columns() throws(FieldpackError) -> [String] {
    try file.rows("PRAGMA table_info(\(Self.table))").compactMap { $0[1].textValue?.lowercased() }
  }

  // MARK: Reading

  var exist: Bool { get throws(FieldpackError) { try file.hasTable(Self.table) } }

  func all() throws(FieldpackError) -> Catalogue.Systems {
    let (columns, rows) = try file.table(Self.table)
    let indexes = Column.allCases.map { columns.firstIndex(of: $0.sql) }
    guard Column.columns.allSatisfy({ $0 == .description || columns.contains($0.sql) }) else {
      throw FieldpackError(
        .invalidData, "the table \(Self.table) lacks a column that every GeoPackage has there",
        location: .init(store: file.store), position: FilePosition(file: file.path))
    }
    var systems: Catalogue.Systems = []
    for values in rows {
      let values = indexes.map { $0.map { values[$0] } ?? .null }
      let row = SystemRow(Column.allCases, values[...])
      guard let id = row[.id].integerValue else { continue }
      var system = Catalogue.SystemRow(
        srs: .undefinedCartesian, name: row[.name].textValue ?? "",
        definition: row[.definition].textValue ?? "")
      system.description = row[.description].textValue
      system.wkt2 = row[.wkt2].textValue.flatMap { Self.isUndefined($0) ? nil : $0 }
      system.epoch = row[.epoch].realValue
      let identity = SystemIdentity(
        id: id, name: system.name, organization: row[.organization].textValue ?? "NONE",
        code: row[.code].integerValue ?? id, definition: system.bestDefinition)
      system.srs = identity.srs
      systems.append((id, system))
    }
    guard zip(systems, systems.dropFirst()).contains(where: { $0.id >= $1.id }) else {
      return systems
    }
    // Only a table without its primary key can have an id twice. The last row counts.
    return Dictionary(systems.map { ($0.id, $0.row) }, uniquingKeysWith: { $1 })
      .map { (id: $0.key, row: $0.value) }.sorted { $0.id < $1.id }
  }

  package static func isUndefined(_ definition: String) -> Bool {
    ["", "undefined"].contains(definition.lowercased())
  }

  // MARK: Writing

  /// The `srs_id` of a system in this file. A missing system is added with PROJ's WKT.
  func ensure(_ srs: SRS, epoch: Double? = nil) throws(FieldpackError) -> Int64 {
    if srs == .undefinedCartesian { return -1 }
    if srs == .undefinedGeographic { return 0 }
    if let found = try find(srs, epoch) { return found }
    return try add(srs, epoch: epoch)
  }

  /// Adds a system with PROJ's WKT, under its code where that is free.
  package func add(_ srs: SRS, epoch: Double? = nil) throws(FieldpackError) -> Int64 {
    let definition = try definition(of: srs)
    var row = Catalogue.SystemRow(
      srs: srs, name: definition.name, definition: definition.wkt1 ?? "undefined")
    row.description = definition.areaOfUse?.name
    row.epoch = epoch
    // WKT 2 is stored where WKT 1 cannot describe the system, or where the table has the column
    // anyway.
    row.wkt2 = definition.wkt2
    return try insert(row, needsWKT2: definition.wkt1 == nil)
  }

  private func definition(of srs: SRS) throws(FieldpackError) -> SRSDefinition {
    do throws(ProjectionError) {
      return try file.systems.definition(of: srs)
    } catch {
      throw FieldpackError(error, location: .init(store: file.store))
    }
  }

  /// The `srs_id` of a system in another file's definition. A missing system is added with that
  /// definition, where PROJ does not know it.
  func ensure(_ row: Catalogue.SystemRow) throws(FieldpackError) -> Int64 {
    do throws(FieldpackError) {
      return try ensure(row.srs, epoch: row.epoch)
    } catch  where error.code == .invalidArgument {
      return try insert(row, needsWKT2: Self.isUndefined(row.definition) && row.wkt2 != nil)
    }
  }

  /// The name of another file's system in this file. A missing system is added, under another code
  /// where a different system has its code.
  func adopt(_ system: Catalogue.SystemRow) throws(FieldpackError) -> SRS {
    var system = system
    let isKnown = system.srs.isUndefined || (try? file.systems.definition(of: system.srs)) != nil
    guard !isKnown else {
      _ = try ensure(system)
      return system.srs
    }
    let others = try all().map { $0.row }.filter {
      $0.srs.organization == system.srs.organization && $0.epoch == system.epoch
    }
    if let same = others.first(where: { $0.isDefined(as: system) }) { return same.srs }
    if others.contains(where: { $0.srs.code == system.srs.code }) {
      let highest = others.map { $0.srs.code }.max() ?? 0
      system.srs = SRS(
        system.srs.organization, Int32(clamping: try freeID(near: Int64(highest) + 1)))
    }
    _ = try insert(
      system, needsWKT2: Self.isUndefined(system.definition) && system.wkt2 != nil)
    return system.srs
  }

  private func find(_ srs: SRS, _ epoch: Double?) throws(FieldpackError) -> Int64? {
    let hasEpochs = try columns().contains("epoch")
    if epoch != nil, !hasEpochs { return nil }
    return try file.integer(
      "SELECT srs_id FROM \(Self.table) WHERE upper(organization) = ?1 "
        + "AND organization_coordsys_id = ?2 \(hasEpochs ? "AND epoch IS ?3" : "") "
        + "ORDER BY srs_id LIMIT 1",
      [.text(srs.organization), .integer(Int64(srs.code))]
        + (hasEpochs ? [epoch.map(SQLiteValue.real) ?? .null] : []))
  }

  private func freeID(near code: Int64) throws(FieldpackError) -> Int64 {
    let taken = try file.integer(
      "SELECT 1 FROM \(Self.table) WHERE srs_id = ?", [.integer(code)])
    if taken == nil, code > 0 { return code }
    let highest = try file.integer(
      "SELECT max(srs_id) FROM \(Self.table) WHERE srs_id <= ?", [.integer(Int64(Int32.max))])
    let free = max(highest ?? 0, 99_999) + 1
    // The header of a geometry has 32 bits for the srs_id.
    guard free <= Int32.max else {
      throw FieldpackError(
        .invalidData, "\(Self.table) has no srs_id left for another reference system",
        location: .init(store: file.store), position: FilePosition(file: file.path))
    }
    return free
  }

  private func insert(
    _ row: Catalogue.SystemRow, needsWKT2: Bool
  ) throws(FieldpackError) -> Int64 {
    if needsWKT2 || row.epoch != nil { try addWKT2() }
    if row.epoch != nil { try addEpoch() }
    let names = try columns()
    let id = try freeID(near: Int64(row.srs.code))
    var values: [(Column, SQLiteValue)] = [
      (.name, .text(row.name)), (.id, .integer(id)),
      (.organization, .text(row.srs.organization)), (.code, .integer(Int64(row.srs.code))),
      (.definition, .text(row.definition)),
      (.description, row.description.map(SQLiteValue.text) ?? .null),
    ]
    if names.contains(Self.wkt2) { values.append((.wkt2, .text(row.wkt2 ?? "undefined"))) }
    if let epoch = row.epoch { values.append((.epoch, .real(epoch))) }
    try file.execute(Column.insertion(values.map(\.0)), values.map(\.1))
    file.forgetCatalogue()
    return id
  }

  // MARK: The extension's columns

  /// Adds the column for WKT 2 to the table, and fills in each system's text.
  private func addWKT2() throws(FieldpackError) {
    let names = try columns()
    if !names.contains(Self.wkt2) {
      if names == Column.columns.map(\.sql) {
        try rebuild()
      } else {
        // Further columns belong to another program, so a table that has some is not rebuilt.
        try file.execute(
          "ALTER TABLE \(Self.table) ADD COLUMN \(Column.wkt2.rawValue) DEFAULT 'undefined'")
      }
      try fillWKT2()
    }
    let hasExtensions = try file.hasTable("gpkg_extensions")
    let isLater =
      hasExtensions
      ? try file.integer(
        "SELECT 1 FROM gpkg_extensions WHERE extension_name = 'gpkg_crs_wkt_1_1'") : nil
    guard isLater == nil else { return }
    try LayerCreation(file: file).registerExtension(
      "gpkg_crs_wkt", table: Self.table, column: Self.wkt2, scope: "read-write")
  }

  /// Rebuilds the table, because ALTER TABLE adds a NOT NULL column only with a default, and the
  /// standard has none.
  private func rebuild() throws(FieldpackError) {
    let triggers = try file.rows(
      "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = ?",
      [.text(Self.table)]
    ).compactMap { $0[0].textValue }
    let list = Column.list(Column.columns)
    try file.execute("PRAGMA defer_foreign_keys = ON")
    try file.execute(
      "CREATE TEMP TABLE fieldpack_systems AS SELECT \(list) FROM main.\(Self.table)")
    try file.execute("DROP TABLE main.\(Self.table)")
    try file.execute(Column.creation(Column.columns + [.wkt2]))
    try file.execute(
      "INSERT INTO main.\(Self.table) SELECT \(list), 'undefined' FROM temp.fieldpack_systems")
    try file.execute("DROP TABLE temp.fieldpack_systems")
    for trigger in triggers { try file.execute(trigger) }
  }

  private func fillWKT2() throws(FieldpackError) {
    for (id, system) in try all() where system.wkt2 == nil && !system.srs.isUndefined {
      guard let known = try? file.systems.definition(of: system.srs) else { continue }
      try file.execute(
        "UPDATE \(Self.table) SET \(Self.wkt2) = ? WHERE srs_id = ?",
        [.text(known.wkt2), .integer(id)])
    }
  }

  /// Adds the column for coordinate epochs to the table, and registers version 1.1.
  private func addEpoch() throws(FieldpackError) {
    if try !columns().contains("epoch") {
      try file.execute("ALTER TABLE \(Self.table) ADD COLUMN \(Column.epoch.rawValue)")
    }
    try file.execute(
      "DELETE FROM gpkg_extensions WHERE extension_name = 'gpkg_crs_wkt'")
    for column in [Self.wkt2, "epoch"] {
      try LayerCreation(file: file).registerExtension(
        "gpkg_crs_wkt_1_1", table: Self.table, column: column, scope: "read-write")
    }
  }
}

extension Catalogue.SystemRow {
  /// Whether both rows have one definition, whatever they are called.
  fileprivate func isDefined(as other: Catalogue.SystemRow) -> Bool {
    if ReferenceSystems.isUndefined(definition) { return wkt2 != nil && wkt2 == other.wkt2 }
    return definition == other.definition
  }
}
