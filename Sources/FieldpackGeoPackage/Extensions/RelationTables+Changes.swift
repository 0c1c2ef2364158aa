import FieldpackCore
import FieldpackSQLite

extension RelationTables {

  // MARK: Creating

  func create(
    _ base: LayerID, _ related: LayerID, _ kind: Relation.Kind, mapping: String?,
    _ columns: [ColumnDefinition]
  ) throws(FieldpackError) -> Relation {
    let (baseName, baseColumn) = try key(of: base)
    let (relatedName, relatedColumn) = try key(of: related, asTiles: kind == .tiles)
    try check(related, kind)
    let name = try mappingName(mapping, base, related)
    let relation = Relation(
      base: baseName, related: relatedName, kind: kind, mapping: name, baseColumn: baseColumn,
      relatedColumn: relatedColumn)
    try file.ensure(GPKGRelations.self)
    try createMapping(name, columns)
    try file.execute(
      GPKGRelations.insertion(Array(GPKGRelations.columns.dropFirst())),
      [baseName.rawValue, baseColumn, relatedName.rawValue, relatedColumn, kind.rawValue, name]
        .map(SQLiteValue.text))
    for table in [Self.table, name] {
      try LayerCreation(file: file).registerExtension(
        Self.extensionName, table: table, column: nil, scope: "read-write")
    }
    try SchemaExtension(file: file).describe(columns, of: name)
    if try EditLog(of: baseName.rawValue, in: file) != nil {
      try EditLog.enableRelations(of: baseName.rawValue, in: file)
    }
    return relation
  }

  /// A table's name in the file, and its id column.
  private func key(
    of layer: LayerID, asTiles: Bool = false
  ) throws(FieldpackError) -> (LayerID, String) {
    if asTiles {
      let pyramid = try TileTables(file: file).pyramid(layer)
      return (pyramid.name, "id")
    }
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    guard !table.layer.isView, let column = table.schema.idColumn, table.textID == nil else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(layer)' has no column of integer ids, which a relation is kept by",
        location: .init(store: file.store, layer: layer))
    }
    return (LayerID(table.table), column)
  }

  /// Refuses a related layer that is not what the standard requires of the kind.
  private func check(_ related: LayerID, _ kind: Relation.Kind) throws(FieldpackError) {
    guard kind != .tiles, let schema = try file.catalogue().layer(related)?.schema else { return }
    func has(_ name: String, _ isRight: (ColumnType) -> Bool) -> Bool {
      schema.columnIndex(name).map { isRight(schema.columns[$0].type) } ?? false
    }
    let problem: String? =
      switch kind {
      case .features: schema.geometry == nil ? "has no geometry" : nil
      case .attributes, .simpleAttributes, .media:
        if schema.geometry != nil {
          "has geometry"
        } else if kind == .simpleAttributes, schema.columns.contains(where: \.type.isBlob) {
          "has a column of blobs"
        } else if kind == .media, !has(MediaColumns.data, \.isBlob) {
          "has no column 'data' of blobs"
        } else if kind == .media, !has(MediaColumns.contentType, \.isText) {
          "has no column 'content_type' of texts"
        } else {
          nil
        }
      default: nil
      }
    guard let problem else { return }
    throw FieldpackError(
      .invalidArgument, "layer '\(related)' \(problem), so it cannot be related as \(kind)",
      location: .init(store: file.store, layer: related))
  }

  private func mappingName(
    _ asked: String?, _ base: LayerID, _ related: LayerID
  ) throws(FieldpackError) -> String {
    if let asked {
      try LayerCreation(file: file).checkName(LayerID(asked))
      guard try !file.hasTable(asked) else {
        throw FieldpackError(
          .cannotCreate,
          "there is a table '\(asked)' already, so it cannot hold a relation's links",
          location: .init(store: file.store))
      }
      return asked
    }
    return try "\(base)_\(related)".numbered { (name) throws(FieldpackError) in
      try !file.hasTable(name)
    }
  }

  private func createMapping(
    _ name: String, _ columns: [ColumnDefinition]
  ) throws(FieldpackError) {
    let own = columns.map { ", \(LayerCreation.columnSQL($0))" }.joined()
    try file.execute(
      "CREATE TABLE \(quoted(name)) (id INTEGER PRIMARY KEY AUTOINCREMENT, "
        + "\(GPKGMapping.base.rawValue), \(GPKGMapping.related.rawValue)\(own), "
        + "UNIQUE (base_id, related_id))")
    // The index serves the way back, and deleting a related row.
    try file.execute(
      "CREATE INDEX \(quoted("\(name)_related_id")) ON \(quoted(name)) (related_id)")
  }

  // MARK: Removing

  func remove(_ relation: Relation) throws(FieldpackError) {
    let mapping = try stored(relation).mapping
    try removeAll(of: mapping)
    try dropMapping(mapping)
  }

  /// Removes the relations of which a table is one end or the mapping table. The table itself is
  /// not changed.
  ///
  /// A mapping table may be one end of another relation, which is then removed, too.
  func removeAll(of table: String) throws(FieldpackError) {
    var touching: [SQLName: [String]] = [:]
    for relation in try all() {
      for name in [relation.base.rawValue, relation.related.rawValue, relation.mapping] {
        touching[SQLName(name), default: []].append(relation.mapping)
      }
    }
    var tables = [SQLName(table)]
    var seen: Set<SQLName> = []
    var mappings: [String] = []
    while let name = tables.popLast() {
      for mapping in touching.removeValue(forKey: name) ?? [] {
        guard seen.insert(SQLName(mapping)).inserted else { continue }
        mappings.append(mapping)
        tables.append(SQLName(mapping))
      }
    }
    // The relations are removed first. Otherwise dropping a mapping table as a layer would find
    // them again.
    try removeRows(of: mappings)
    for mapping in mappings where SQLName(mapping) != SQLName(table) { try dropMapping(mapping) }
  }

  /// Drops a mapping table that no relation uses any more.
  private func dropMapping(_ name: String) throws(FieldpackError) {
    if let layer = try file.catalogue().layer(LayerID(name)) {
      return try LayerChange(file: file).remove(layer)
    }
    try EditLog(of: name, in: file)?.remove()
    try LayerChange(file: file).forget(name)
    try file.drop(name)
  }

  /// Removes the relations, and the extension with the last one.
  private func removeRows(of mappings: [String]) throws(FieldpackError) {
    guard !mappings.isEmpty else { return }
    for mapping in mappings {
      try file.execute(
        "DELETE FROM \(Self.table) WHERE lower(mapping_table_name) = lower(?)", [.text(mapping)])
    }
    guard try file.integer("SELECT count(*) FROM \(Self.table)") == 0 else { return }
    try file.execute("DROP TABLE \(Self.table)")
    guard try file.hasTable("gpkg_extensions") else { return }
    try file.execute(
      "DELETE FROM gpkg_extensions WHERE lower(table_name) = ?", [.text(Self.table)])
  }
}

extension ColumnType {
  fileprivate var isBlob: Bool {
    if case .blob = self { true } else { false }
  }

  fileprivate var isText: Bool {
    if case .text = self { true } else { false }
  }
}
