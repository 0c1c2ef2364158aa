import FieldpackCore
import FieldpackSQLite

/// `gpkgext_relations` and the mapping tables that it names.
struct RelationTables {
  let file: GeoPackageSession

  static let table = GPKGRelations.table
  static let extensionName = "gpkg_related_tables"

  // MARK: Reading

  func all() throws(FieldpackError) -> [Relation] {
    guard try file.hasTable(Self.table) else { return [] }
    return try file.rows(of: GPKGRelations.columns, " ORDER BY id").compactMap { row in
      guard let base = row[.base].textValue, let related = row[.related].textValue,
        let mapping = row[.mapping].textValue
      else { return nil }
      return Relation(
        base: LayerID(base), related: LayerID(related),
        kind: .init(rawValue: row[.name].textValue ?? ""), mapping: mapping,
        baseColumn: row[.baseColumn].textValue ?? "id",
        relatedColumn: row[.relatedColumn].textValue ?? "id")
    }
  }

  /// The column with the content in a table of media; `nil` for another table.
  static func contentColumn(
    of table: String, in file: GeoPackageSession
  ) throws(FieldpackError) -> String? {
    let isMedia = try Self(file: file).all().contains {
      $0.kind == .media && SQLName($0.related.rawValue) == SQLName(table)
    }
    return isMedia ? "data" : nil
  }

  /// The columns of a table of links that hold ids of features, each with the layer of the features.
  func references(in mapping: String) throws(FieldpackError) -> [String: LayerID] {
    for relation in try all() where SQLName(relation.mapping) == SQLName(mapping) {
      var found: [String: LayerID] = [:]
      let ends = [
        ("base_id", relation.base, relation.baseColumn),
        ("related_id", relation.related, relation.relatedColumn),
      ]
      for (column, layer, key) in ends {
        guard let id = try file.catalogue().layer(layer)?.schema.idColumn,
          SQLName(id) == SQLName(key)
        else { continue }
        found[column] = layer
      }
      return found
    }
    return [:]
  }

  /// The relation as the file stores it.
  func stored(_ relation: Relation) throws(FieldpackError) -> Relation {
    let name = SQLName(relation.mapping)
    if let stored = try all().first(where: { SQLName($0.mapping) == name }) { return stored }
    throw FieldpackError(
      .notFound, "store '\(file.store)' has no relation '\(relation.mapping)'",
      location: .init(store: file.store))
  }

  /// The relation as the file stores it, and both of its ends.
  private func open(_ relation: Relation) throws(FieldpackError) -> Opened {
    let stored = try stored(relation)
    guard let kind = try file.kind(of: stored.mapping) else {
      throw FieldpackError(
        .invalidData,
        "the relation '\(stored.mapping)' has no table for its links", advice: .checkFile,
        location: .init(store: file.store))
    }
    return Opened(
      relation: stored, mapping: quoted(stored.mapping),
      order: kind == "table" ? "m.rowid" : "m.base_id, m.related_id",
      base: try end(stored.base, stored.baseColumn),
      related: try end(stored.related, stored.relatedColumn))
  }

  private struct Opened {
    var relation: Relation
    var mapping: String
    /// The order of the links in SQL. A view has no rowids, so its links are ordered by ids.
    var order: String
    var base: End
    var related: End
  }

  /// One side of a relation in SQL.
  private struct End {
    var layer: LayerID
    var table: String
    /// The feature id in SQL; `key` is the value that links hold.
    var id: String
    var key: String

    /// The value that links hold for a row; `nil` where the row does not exist.
    func key(of id: FeatureID, in file: GeoPackageSession) throws(FieldpackError) -> SQLiteValue? {
      guard case .integer(let number) = id else { return nil }
      return try file.rows(
        "SELECT \(key) FROM \(table) WHERE \(self.id) = ?", [.integer(number)]
      ).first?.first
    }

    func existingKey(
      of id: FeatureID, in file: GeoPackageSession
    ) throws(FieldpackError) -> SQLiteValue {
      if let key = try key(of: id, in: file) { return key }
      throw FieldpackError(
        .notFound, "'\(layer)' of store '\(file.store)' has no row \(id) to link",
        location: .init(store: file.store, layer: layer, feature: id))
    }
  }

  /// One end of a relation. Its table need not be a layer: tables of tiles and of other extensions
  /// have rowids, too.
  private func end(_ layer: LayerID, _ column: String) throws(FieldpackError) -> End {
    if let known = try file.catalogue().layer(layer), known.idSQL != nil {
      return End(
        layer: layer, table: quoted(known.table), id: known.idExpression, key: quoted(column))
    }
    let key = quoted(column)
    return End(layer: layer, table: quoted(layer.rawValue), id: key, key: key)
  }

  func related(
    to base: FeatureID, _ relation: Relation
  ) throws(FieldpackError) -> [FeatureID] {
    let opened = try open(relation)
    return try ids(
      of: opened.related, "related_id", where: "base_id", opened,
      try opened.base.key(of: base, in: file))
  }

  func bases(
    of related: FeatureID, _ relation: Relation
  ) throws(FieldpackError) -> [FeatureID] {
    let opened = try open(relation)
    return try ids(
      of: opened.base, "base_id", where: "related_id", opened,
      try opened.related.key(of: related, in: file))
  }

  private func ids(
    of end: End, _ wanted: String, where given: String, _ opened: Opened, _ key: SQLiteValue?
  ) throws(FieldpackError) -> [FeatureID] {
    guard let key else { return [] }
    return try file.rows(
      "SELECT t.\(end.id) FROM \(opened.mapping) m JOIN \(end.table) t ON t.\(end.key) = m.\(wanted) "
        + "WHERE m.\(given) = ? ORDER BY \(opened.order)", [key]
    ).compactMap { $0[0].integerValue.map(FeatureID.integer) }
  }

  func links(
    _ relation: Relation, of base: FeatureID?
  ) throws(FieldpackError) -> [RelationLink] {
    let opened = try open(relation)
    let columns = try linkColumns(opened.relation.mapping)
    var (condition, values): (String, [SQLiteValue]) = ("", [])
    if let base {
      guard let key = try opened.base.key(of: base, in: file) else { return [] }
      (condition, values) = (" WHERE m.base_id = ?", [key])
    }
    let own = columns.map { ", m.\(quoted($0.name))" }.joined()
    return try file.rows(
      "SELECT b.\(opened.base.id), r.\(opened.related.id)\(own) FROM \(opened.mapping) m "
        + "JOIN \(opened.base.table) b ON b.\(opened.base.key) = m.base_id "
        + "JOIN \(opened.related.table) r ON r.\(opened.related.key) = m.related_id"
        + condition + " ORDER BY \(opened.order)", values
    ).compactMap { row in
      guard let base = row[0].integerValue, let related = row[1].integerValue else { return nil }
      let attributes = zip(columns, row.dropFirst(2)).map { column, value in
        Attributes.Element(name: column.name, value: column.type.value(Value(value)))
      }
      return RelationLink(
        base: .integer(base), related: .integer(related), attributes: Attributes(attributes))
    }
  }

  /// The mapping table's columns besides its ids.
  func linkColumns(_ mapping: String) throws(FieldpackError) -> [ColumnDefinition] {
    let ids = Set(["base_id", "related_id"].map { SQLName($0) })
    return try TableReader(file: file, table: mapping, isView: false).columns([])
      .map(\.definition).filter { !$0.isPrimaryKey && !ids.contains(SQLName($0.name)) }
  }

  // MARK: Linking

  func link(
    _ base: FeatureID, _ related: FeatureID, _ relation: Relation, _ attributes: Attributes
  ) throws(FieldpackError) {
    let opened = try open(relation)
    let keys = [
      try opened.base.existingKey(of: base, in: file),
      try opened.related.existingKey(of: related, in: file),
    ]
    let values = try linkValues(attributes, opened.relation.mapping)
    let known = try file.integer(
      "SELECT rowid FROM \(opened.mapping) WHERE base_id = ? AND related_id = ?", keys)
    if let known {
      guard !values.isEmpty else { return }
      let assignments = values.map { "\($0.0) = ?" }.sqlList
      return try file.execute(
        "UPDATE \(opened.mapping) SET \(assignments) WHERE rowid = ?",
        values.map(\.1) + [.integer(known)])
    }
    let names = ["base_id", "related_id"] + values.map(\.0)
    let marks = names.map { _ in "?" }.sqlList
    try file.execute(
      "INSERT INTO \(opened.mapping) (\(names.sqlList)) VALUES (\(marks))",
      keys + values.map(\.1))
  }

  private func linkValues(
    _ attributes: Attributes, _ mapping: String
  ) throws(FieldpackError) -> [(String, SQLiteValue)] {
    guard !attributes.isEmpty else { return [] }
    let schema = Schema(
      layer: LayerID(mapping), idColumn: nil, columns: try linkColumns(mapping))
    let table = LayerTable(layer: Layer(schema: schema, kind: .attributes), table: mapping)
    return try FeatureEncoder(file: file, table: table).values(attributes)
  }

  func unlink(
    _ base: FeatureID, _ related: FeatureID, _ relation: Relation
  ) throws(FieldpackError) -> Bool {
    let opened = try open(relation)
    guard let baseKey = try opened.base.key(of: base, in: file),
      let relatedKey = try opened.related.key(of: related, in: file)
    else { return false }
    try file.execute(
      "DELETE FROM \(opened.mapping) WHERE base_id = ? AND related_id = ?", [baseKey, relatedKey])
    return file.connection.changes > 0
  }

  /// The statements that delete the links of a row which will be deleted.
  ///
  /// Links that cannot be found are kept: those of a view, and those of a mapping table without a
  /// column that the standard requires.
  /// - Parameter id: the row's id in SQL.
  func unlinking(
    _ number: Int64, of table: String, id: String
  ) throws(FieldpackError) -> [SQLFragment] {
    var statements: [SQLFragment] = []
    for relation in try all() {
      let ends = [
        (relation.base, relation.baseColumn, "base_id"),
        (relation.related, relation.relatedColumn, "related_id"),
      ].filter { SQLName($0.0.rawValue) == SQLName(table) }
      guard !ends.isEmpty, try file.kind(of: relation.mapping) == "table" else { continue }
      let links = try columnNames(of: relation.mapping)
      let own = try columnNames(of: table)
      for (_, column, name) in ends
      where links.contains(SQLName(name)) && own.contains(SQLName(column)) {
        statements.append(
          """
          DELETE FROM \(quoted(relation.mapping)) WHERE \(name) = (SELECT \(quoted(column)) \
          FROM \(quoted(table)) WHERE \(id) = \(bind: .integer(number)))
          """)
      }
    }
    return statements
  }

  private func columnNames(of table: String) throws(FieldpackError) -> Set<SQLName> {
    let rows = try file.rows("SELECT name FROM pragma_table_xinfo(?)", [.text(table)])
    return Set(rows.compactMap { $0[0].textValue.map { SQLName($0) } })
  }
}
