import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// The related tables extension: OGC 18-000.
struct RelationsCheck {
  let check: ConformanceCheck
  private static let table = GPKGRelations.table
  private static let names = ["gpkg_related_tables", "related_tables"]

  func run() throws(FieldpackError) {
    try check.attempt(.related(1), "the related tables extension") { () throws(FieldpackError) in
      try check.requireTables(Self.names, tables: [Self.table], .related(1))
      try check.requireScope(Self.names, .related(1))
      try check.requireRows(Self.names, tables: [Self.table], .related(1))
    }
    guard check.has(Self.table) else { return }
    try check.attempt(.related(4), table: Self.table, "the table") { () throws(FieldpackError) in
      guard try check.examine(GPKGRelations.self, .related(4)) else { return }
      try check.each(of: GPKGRelations.columns) { (row) throws(FieldpackError) in
        try examine(Relation(row))
      }
    }
  }

  private struct Relation {
    var id: Int64?
    var base: Side
    var related: Side
    var name: String
    var mapping: String

    struct Side {
      var table: String
      var key: String
    }

    init(_ row: SystemRow<GPKGRelations>) {
      func text(_ column: GPKGRelations) -> String { row[column].textValue ?? "" }
      id = row[.id].integerValue
      base = Side(table: text(.base), key: text(.baseColumn))
      related = Side(table: text(.related), key: text(.relatedColumn))
      name = text(.name)
      mapping = text(.mapping)
    }
  }

  private func report(
    _ requirement: Int, _ relation: Relation, _ reason: String, repair: Repair? = nil
  ) throws(FieldpackError) {
    try check.report(
      .error, .related(requirement), table: Self.table, row: relation.id, reason, repair: repair)
  }

  private func examine(_ relation: Relation) throws(FieldpackError) {
    let hasBase = try examine(relation.base, "base", 5, relation)
    let hasRelated = try examine(relation.related, "related", 6, relation)
    try examineName(relation)
    guard let mapping = check.table(relation.mapping) else {
      return try report(7, relation, "there is no mapping table '\(relation.mapping)'")
    }
    try examineRegistration(mapping.name, relation)
    let hasColumns = try check.examine(GPKGMapping.self, .related(9), in: mapping.name)
    guard hasColumns else { return }
    try check.attempt(.related(10), table: mapping.name, "the mappings") {
      () throws(FieldpackError) in
      if hasBase { try examineIDs(GPKGMapping.base.sql, mapping.name, relation.base, 10) }
      if hasRelated { try examineIDs(GPKGMapping.related.sql, mapping.name, relation.related, 11) }
    }
    if hasRelated { try examineRelated(relation) }
  }

  private func examine(
    _ side: Relation.Side, _ what: String, _ requirement: Int, _ relation: Relation
  ) throws(FieldpackError) -> Bool {
    guard let object = check.table(side.table) else {
      try report(requirement, relation, "there is no \(what) table '\(side.table)'")
      return false
    }
    guard try check.column(side.key, of: object.name) != nil else {
      try report(
        requirement, relation, "\(what) table '\(side.table)' has no column '\(side.key)'")
      return false
    }
    if check.contents != nil, check.contents(of: side.table) == nil {
      try report(requirement, relation, "\(what) table '\(side.table)' is not in gpkg_contents")
    }
    return true
  }

  private static let relationNames: Set = [
    "features", "simple_attributes", "media", "attributes", "tiles",
  ]

  private func examineName(_ relation: Relation) throws(FieldpackError) {
    let name = relation.name
    let parts = name.dropFirst(2).split(separator: "_", maxSplits: 1)
    let isPrivate = name.hasPrefix("x-") && parts.count == 2
    guard !Self.relationNames.contains(name), !isPrivate else { return }
    try report(8, relation, "'\(name)' is no kind of relation, and not of the form x-author_name")
  }

  private func examineRegistration(
    _ mapping: String, _ relation: Relation
  ) throws(FieldpackError) {
    guard !Self.names.contains(where: { check.isRegistered($0, table: mapping) }) else { return }
    try report(
      2, relation, "mapping table '\(mapping)' is not registered in gpkg_extensions",
      repair: .extensionRow(ExtensionRow(name: Self.names[0], table: mapping)))
  }

  private func examineIDs(
    _ column: String, _ mapping: String, _ side: Relation.Side, _ requirement: Int
  ) throws(FieldpackError) {
    let key = try check.rowID(of: mapping) ?? "NULL"
    try check.each(
      "SELECT \(key), \(column) FROM \(quoted(mapping)) WHERE \(column) IS NULL OR \(column) "
        + "NOT IN \(check.values(of: side.key, in: side.table))"
    ) { (row) throws(FieldpackError) in
      let id = row[1] == .null ? "NULL" : "\(row[1].integerValue.map { "\($0)" } ?? "?")"
      try check.report(
        .error, .related(requirement), table: mapping, column: column, row: row[0].integerValue,
        "\(column) \(id) is no \(side.key) of table '\(side.table)'")
    }
  }

  private func examineRelated(_ relation: Relation) throws(FieldpackError) {
    let columns = try check.columns(of: relation.related.table)
    switch relation.name {
    case "media":
      for (name, type) in [("data", "BLOB"), ("content_type", "TEXT")] {
        let found = columns.first { SQLName($0.name) == SQLName(name) }
        guard found?.type.uppercased() != type || found?.isNotNull != true else { continue }
        try check.report(
          .error, .related(13), table: relation.related.table, column: name,
          found == nil ? "the column is missing" : "it is not \(type) NOT NULL")
      }
    case "simple_attributes":
      for column in columns {
        let type = column.type.uppercased()
        if column.keyPosition > 0, type == "INTEGER" { continue }
        let isBlob = type.hasPrefix("BLOB") || GeometryType(name: type) != nil
        guard isBlob || !column.isNotNull else { continue }
        try check.report(
          .error, .related(15), table: relation.related.table, column: column.name,
          isBlob ? "it is \(column.type), which is no text or number" : "it may be NULL")
      }
    default: break
    }
  }
}
