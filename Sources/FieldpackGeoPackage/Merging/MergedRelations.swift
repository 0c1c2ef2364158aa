import FieldpackCore
import FieldpackSQLite

/// The relations whose both sides come from another GeoPackage, or of which one stands in the target
/// already.
struct MergedRelations {
  let merge: LayerMerge
  let target: GeoPackageSession

  /// One side of a relation.
  private struct End {
    /// The layer in the target, and the column whose values links hold.
    var layer: LayerID
    var table: String
    var column: String
    /// The layer that came, where links hold the ids of its rows.
    var part: LayerMerge.Part?
  }

  /// - Returns: the relations that do not come, in words.
  func copy(_ numbers: inout MergedIDs) throws(FieldpackError) -> [String] {
    var notes: [String] = []
    var used: Set<String> = []
    for relation in try RelationTables(file: merge.source).all() {
      let sides = [relation.base, relation.related]
      guard sides.contains(where: { merge.part($0) != nil }) else { continue }
      guard let base = try end(relation.base, relation.baseColumn),
        let related = try end(relation.related, relation.relatedColumn),
        try merge.source.hasTable(relation.mapping)
      else {
        notes.append(
          "the relation '\(relation.mapping)' of '\(relation.base)' and '\(relation.related)' is "
            + "left out: one of its sides is not here, or its rows have no ids of their own")
        continue
      }
      do throws(FieldpackError) {
        let columns = try linkColumns(of: relation)
        let mapping = try mapping(of: relation, base, related, columns, besides: used)
        used.insert(mapping)
        try copyLinks(relation, to: mapping, base, related, columns.map(\.name), &numbers)
      } catch  where error.code == .invalidArgument {
        notes.append("the relation '\(relation.mapping)' is left out: \(error.message)")
      }
    }
    return notes
  }

  /// The side as the target has it; `nil` where the target does not have it.
  private func end(_ layer: LayerID, _ column: String) throws(FieldpackError) -> End? {
    let part = merge.part(layer)
    guard let table = try target.catalogue().layer(part?.target ?? layer),
      let id = table.schema.idColumn
    else { return nil }
    let isID: Bool
    if let part {
      let sourceID = try merge.source.catalogue().layer(part.source)?.schema.idColumn
      isID = sourceID.map { SQLName($0) == SQLName(column) } ?? true
      if isID, case .unknown = part.ids { return nil }
    } else {
      isID = SQLName(id) == SQLName(column)
    }
    guard isID || table.schema.columnIndex(column) != nil else { return nil }
    return End(
      layer: table.layer.id, table: table.table, column: isID ? id : column,
      part: isID ? part : nil)
  }

  private func linkColumns(of relation: Relation) throws(FieldpackError) -> [ColumnDefinition] {
    let columns = try RelationTables(file: merge.source).linkColumns(relation.mapping)
    let schema = Schema(layer: LayerID(relation.mapping), idColumn: nil, columns: columns)
    return schema.copied(storedTypes: try merge.source.storedTypes(of: schema)).columns
  }

  /// The table of the links in the target: that of the same relation, else a new one.
  private func mapping(
    of relation: Relation, _ base: End, _ related: End, _ columns: [ColumnDefinition],
    besides used: Set<String>
  ) throws(FieldpackError) -> String {
    let tables = RelationTables(file: target)
    let name = SQLName(relation.mapping)
    let known = try tables.all().first { other in
      let mapping = SQLName(other.mapping)
      let isNamed = mapping == name || mapping.hasPrefix("\(name.lowercased)_")
      return isNamed && !used.contains(other.mapping) && other.kind == relation.kind
        && SQLName(other.base.rawValue) == SQLName(base.table)
        && SQLName(other.related.rawValue) == SQLName(related.table)
        && SQLName(other.baseColumn) == SQLName(base.column)
        && SQLName(other.relatedColumn) == SQLName(related.column)
    }
    if let known { return known.mapping }
    let free = try relation.mapping.numbered { (name) throws(FieldpackError) in
      try !target.hasTable(name)
    }
    let made = try tables.create(
      base.layer, related.layer, relation.kind, mapping: free, columns)
    try target.execute(
      "UPDATE \(RelationTables.table) SET base_primary_column = ?, related_primary_column = ? "
        + "WHERE mapping_table_name = ?",
      [.text(base.column), .text(related.column), .text(made.mapping)])
    target.forgetCatalogue()
    return made.mapping
  }

  /// Copies the links of rows that the target has.
  private func copyLinks(
    _ relation: Relation, to mapping: String, _ base: End, _ related: End, _ columns: [String],
    _ numbers: inout MergedIDs
  ) throws(FieldpackError) {
    let present = Set(
      try RelationTables(file: target).linkColumns(mapping).map { SQLName($0.name) })
    let own = columns.filter { present.contains(SQLName($0)) }
    let names = (["base_id", "related_id"] + own.map { quoted($0) }).sqlList
    let order = try merge.source.kind(of: relation.mapping) == "table" ? " ORDER BY rowid" : ""
    let links = try merge.source.prepare(
      "SELECT \(names) FROM \(quoted(relation.mapping))\(order)", in: LayerID(relation.mapping))
    defer { links.reset() }
    let marks = (1...(2 + own.count)).map { "?\($0)" }.sqlList
    let insertion = try target.prepare(
      "INSERT INTO \(quoted(mapping)) (\(names)) SELECT \(marks) "
        + "WHERE EXISTS (SELECT 1 FROM \(quoted(base.table)) WHERE \(quoted(base.column)) = ?1) "
        + "AND EXISTS (SELECT 1 FROM \(quoted(related.table)) "
        + "WHERE \(quoted(related.column)) = ?2) "
        + "AND NOT EXISTS (SELECT 1 FROM \(quoted(mapping)) WHERE base_id = ?1 "
        + "AND related_id = ?2)", in: LayerID(mapping))
    while try links.step() {
      var row = links.row.values
      let equals = row[1].integerValue.flatMap { related.part?.equals[$0] } ?? []
      guard let first = try key(row[0], base, &numbers),
        let second = try key(row[1], related, &numbers),
        try !isLinked(first, toOneOf: equals.dropFirst(), by: mapping)
      else { continue }
      (row[0], row[1]) = (first, second)
      for (index, value) in row.enumerated() { try insertion.bind(value, at: index + 1) }
      try insertion.run()
    }
  }

  /// Whether a row is linked to a row that is equal to the one that it would be linked to.
  private func isLinked(
    _ base: SQLiteValue, toOneOf equals: ArraySlice<Int64>, by mapping: String
  ) throws(FieldpackError) -> Bool {
    for id in equals {
      let count = try target.integer(
        "SELECT count(*) FROM \(quoted(mapping)) WHERE base_id = ? AND related_id = ?",
        [base, .integer(id)])
      if count ?? 0 > 0 { return true }
    }
    return false
  }

  private func key(
    _ value: SQLiteValue, _ end: End, _ numbers: inout MergedIDs
  ) throws(FieldpackError) -> SQLiteValue? {
    guard let part = end.part else { return value }
    guard let number = value.integerValue else { return nil }
    return try numbers.id(of: number, in: part).map(SQLiteValue.integer)
  }
}
