import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Checks the rows of a layer, and what the file says about them: R-tree, extent and count.
struct LayerRows {
  let check: ConformanceCheck
  let object: ConformanceCheck.SchemaObject
  let layer: ConformanceCheck.ContentsRow
  let geometry: ConformanceCheck.GeometryColumnRow?

  func run() throws(FieldpackError) {
    guard object.isView else { return try scan() }
    try check.limitingViews { () throws(FieldpackError) in try scan() }
  }

  private func scan() throws(FieldpackError) {
    let scan = try RowScan(check, object, geometry: geometry)
    if let geometry, !object.isView,
      let rtree = try IndexCheck(check: check, table: object.name, geometry: geometry).run(),
      scan.isOrdered
    {
      var audit = IndexAudit(
        check: check, table: object.name, column: geometry.column, rtree: rtree)
      try audit.run(against: scan)
    }
    while try scan.next() != nil {}
    if let geometry {
      for type in scan.curves.sorted(by: { $0.rawValue < $1.rawValue })
      where type != GeometryType(name: geometry.type) {
        try FeaturesCheck.examineCurves(type, geometry, in: check)
      }
    }
    guard scan.isComplete else { return }
    if scan.hasGeometry { try examineExtent(scan.extent) }
    try examineCount(scan.count)
  }

  // MARK: Extent

  private func examineExtent(_ found: Envelope?) throws(FieldpackError) {
    let stated = layer.extent.map(\.realValue)
    let known = stated.compactMap { $0 }
    let repair = Repair.extent(table: layer.table)
    guard known.count == 4 else {
      let isPartial = !known.isEmpty
      guard isPartial || found != nil else { return }
      return try check.report(
        isPartial ? .warning : .note, .extent, table: layer.table,
        isPartial ? "the extent in gpkg_contents is not complete" : "gpkg_contents has no extent",
        repair: repair)
    }
    let envelope = Envelope(minX: known[0], minY: known[1], maxX: known[2], maxY: known[3])
    guard let found else {
      guard known != [0, 0, 0, 0], !envelope.isEmpty else { return }
      return try check.report(
        .note, .extent, table: layer.table, "gpkg_contents has an extent, and no row a geometry",
        repair: repair)
    }
    let size = known.reduce(0) { max($0, abs($1)) }
    if !envelope.grown(by: 1e-9 * size).contains(found) {
      // Some writers keep only six digits.
      let isRounded = envelope.grown(by: 1e-5 * size).contains(found)
      try check.report(
        isRounded ? .note : .warning, .extent, table: layer.table,
        isRounded
          ? "the extent in gpkg_contents is rounded, and does not hold all geometries"
          : "the extent in gpkg_contents does not hold all geometries", repair: repair)
    } else if !found.grown(by: 1e-9 * size).contains(envelope) {
      try check.report(
        .note, .extent, table: layer.table,
        "the extent in gpkg_contents is larger than that of the geometries", repair: repair)
    }
  }

  // MARK: Count

  private func examineCount(_ found: Int) throws(FieldpackError) {
    let registry = "gpkg_ogr_contents"
    guard !object.isView, check.has(registry),
      try check.hasColumns(["table_name", "feature_count"], in: registry)
    else { return }
    let rows = try check.rows(
      "SELECT feature_count FROM gpkg_ogr_contents WHERE lower(table_name) = lower(?)",
      [.text(object.name)])
    let names = FeatureCount(file: check.file, table: object.name).triggerNames
    let hasTriggers = names.allSatisfy { check.triggers[SQLName($0)] != nil }
    let repair = Repair.count(table: object.name)
    guard let row = rows.first else {
      guard hasTriggers else { return }
      return try check.report(
        .note, .count, table: object.name, "gpkg_ogr_contents has no row for it", repair: repair)
    }
    guard let stated = row[0].integerValue else { return }
    if stated != found {
      try check.report(
        .warning, .count, table: object.name,
        "gpkg_ogr_contents counts \(stated) rows, and there are \(found)", repair: repair)
    } else if !hasTriggers {
      try check.report(
        .warning, .count, table: object.name,
        "no triggers keep its count in gpkg_ogr_contents true", repair: repair)
    }
  }
}

/// Tables and views of attributes: clause 2.4.
struct AttributesCheck {
  let check: ConformanceCheck

  func run() throws(FieldpackError) {
    for layer in check.layers("attributes", "aspatial") {
      guard let object = check.table(layer.table) else { continue }
      try check.attempt(.core(119), table: layer.table, "the table") { () throws(FieldpackError) in
        try KeyCheck(check: check, object: object, key: .core(119), view: .core(151)).run()
        for column in try check.columns(of: object.name) {
          try ColumnTypes.examine(column, of: object.name, in: check)
        }
        try LayerRows(check: check, object: object, layer: layer, geometry: nil).run()
      }
    }
  }
}
