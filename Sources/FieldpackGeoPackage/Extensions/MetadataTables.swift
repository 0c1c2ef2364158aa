import FieldpackCore
import FieldpackSQLite

/// `gpkg_metadata` and `gpkg_metadata_reference`.
struct MetadataTables {
  let file: GeoPackageSession

  private static let documents = GPKGMetadata.table
  private static let references = GPKGMetadataReference.table

  /// Whether both tables exist. One without the other is useless.
  var exists: Bool {
    get throws(FieldpackError) {
      guard try file.hasTable(Self.documents) else { return false }
      return try file.hasTable(Self.references)
    }
  }

  // MARK: Reading

  func all() throws(FieldpackError) -> [Metadata] {
    guard try file.hasTable(Self.documents) else { return [] }
    return try file.rows(of: GPKGMetadata.columns, " ORDER BY id").compactMap { row in
      guard let id = row[.id].integerValue else { return nil }
      return Metadata(
        id: id, scope: .init(rawValue: row[.scope].textValue ?? ""),
        standardURI: row[.standardURI].textValue ?? "",
        mediaType: row[.mediaType].textValue ?? "", content: row[.content].textValue ?? "")
    }
  }

  func count() throws(FieldpackError) -> Int {
    guard try file.hasTable(Self.documents) else { return 0 }
    return Int(try file.integer("SELECT count(*) FROM \(Self.documents)") ?? 0)
  }

  /// All references. One that names neither a table nor the file is skipped.
  func references() throws(FieldpackError) -> [MetadataReference] {
    guard try file.hasTable(Self.references) else { return [] }
    return try file.rows(of: GPKGMetadataReference.columns, " ORDER BY rowid").compactMap { row in
      guard let id = row[.metadata].integerValue, let subject = Self.subject(row) else {
        return nil
      }
      return MetadataReference(
        metadata: id, subject: subject, parent: row[.parent].integerValue,
        date: row[.timestamp].textValue.flatMap { Instant($0) })
    }
  }

  private static func subject(_ row: SystemRow<GPKGMetadataReference>) -> MetadataSubject? {
    let scope = row[.scope].textValue?.lowercased()
    if scope == "geopackage" { return .geoPackage }
    guard let layer = row[.tableName].textValue.map({ LayerID($0) }) else { return nil }
    switch (scope, row[.columnName].textValue, row[.rowID].integerValue) {
    case ("table", _, _): return .layer(layer)
    case ("column", let column?, _): return .column(column, of: layer)
    case ("row", _, let row?): return .row(.integer(row), of: layer)
    case ("row/col", let column?, let row?):
      return .value(column, row: .integer(row), of: layer)
    default: return nil
    }
  }

  // MARK: Writing

  func add(
    _ content: String, mediaType: String, standardURI: String, scope: Metadata.Scope
  ) throws(FieldpackError) -> Int64 {
    guard Metadata.Scope.all.contains(scope) else {
      throw FieldpackError(
        .invalidArgument, "'\(scope)' is no scope of metadata that the standard knows",
        location: .init(store: file.store))
    }
    try create()
    try file.execute(
      GPKGMetadata.insertion([.scope, .standardURI, .mediaType, .content]),
      [scope.rawValue, standardURI, mediaType, content].map(SQLiteValue.text))
    return file.connection.lastInsertRowID
  }

  private func create() throws(FieldpackError) {
    try file.ensure(GPKGMetadata.self)
    try file.ensure(GPKGMetadataReference.self)
    for table in [Self.documents, Self.references] {
      try LayerCreation(file: file).registerExtension(
        "gpkg_metadata", table: table, column: nil, scope: "read-write")
    }
  }

  func update(_ id: Int64, content: String) throws(FieldpackError) {
    try require(id)
    try file.execute(
      "UPDATE \(Self.documents) SET metadata = ? WHERE id = ?", [.text(content), .integer(id)])
  }

  private func require(_ id: Int64) throws(FieldpackError) {
    if try file.hasTable(Self.documents),
      try file.integer("SELECT 1 FROM \(Self.documents) WHERE id = ?", [.integer(id)]) != nil
    {
      return
    }
    throw FieldpackError(
      .notFound, "store '\(file.store)' has no metadata \(id)", location: .init(store: file.store))
  }

  /// The columns of a reference that name its subject.
  private struct Target {
    var scope: String
    var table: String?
    var column: String?
    var row: Int64?

    var values: [SQLiteValue] {
      [
        .text(scope), table.map(SQLiteValue.text) ?? .null,
        column.map(SQLiteValue.text) ?? .null, row.map(SQLiteValue.integer) ?? .null,
      ]
    }

    static let condition =
      "lower(reference_scope) = ? AND lower(table_name) IS lower(?) "
      + "AND lower(column_name) IS lower(?) AND row_id_value IS ?"
  }

  func attach(
    _ id: Int64, to subject: MetadataSubject, parent: Int64?
  ) throws(FieldpackError) {
    try require(id)
    if let parent { try require(parent) }
    guard parent != id else {
      throw FieldpackError(
        .invalidArgument, "metadata \(id) cannot be a part of itself",
        location: .init(store: file.store))
    }
    let target = try target(of: subject)
    try create()
    try detach(id, from: target)
    try file.execute(
      GPKGMetadataReference.insertion([
        .scope, .tableName, .columnName, .rowID, .metadata, .parent,
      ]),
      target.values + [.integer(id), parent.map(SQLiteValue.integer) ?? .null])
  }

  func detach(_ id: Int64, from subject: MetadataSubject) throws(FieldpackError) -> Bool {
    guard try exists else { return false }
    return try detach(id, from: Self.unchecked(subject))
  }

  @discardableResult
  private func detach(_ id: Int64, from target: Target) throws(FieldpackError) -> Bool {
    try file.execute(
      "DELETE FROM \(Self.references) WHERE \(Target.condition) AND md_file_id = ?",
      target.values + [.integer(id)])
    return file.connection.changes > 0
  }

  private static func unchecked(_ subject: MetadataSubject) -> Target {
    func number(_ id: FeatureID) -> Int64? {
      if case .integer(let number) = id { number } else { nil }
    }
    switch subject {
    case .geoPackage: return Target(scope: "geopackage")
    case .layer(let layer): return Target(scope: "table", table: layer.rawValue)
    case .column(let column, let layer):
      return Target(scope: "column", table: layer.rawValue, column: column)
    case .row(let id, let layer):
      return Target(scope: "row", table: layer.rawValue, row: number(id))
    case .value(let column, let id, let layer):
      return Target(scope: "row/col", table: layer.rawValue, column: column, row: number(id))
    }
  }

  /// The target of an existing subject, by the names that the file has.
  private func target(of subject: MetadataSubject) throws(FieldpackError) -> Target {
    var target = Self.unchecked(subject)
    guard let asked = target.table else { return target }
    let table = try file.rows(
      "SELECT table_name FROM gpkg_contents WHERE lower(table_name) = lower(?)", [.text(asked)]
    ).first?.first?.textValue
    guard let table, try file.hasTable(table) else {
      throw file.missingLayer(LayerID(asked), in: try file.catalogue())
    }
    target.table = table
    if let column = target.column {
      target.column = try file.rows("PRAGMA table_xinfo(\(quoted(table)))")
        .compactMap { $0[1].textValue }.first { SQLName($0) == SQLName(column) }
      guard target.column != nil else {
        throw FieldpackError(
          .notFound, "'\(table)' has no column '\(column)'",
          location: .init(store: file.store, layer: LayerID(table)))
      }
    }
    if target.scope.hasPrefix("row") { try check(target.row, in: table) }
    return target
  }

  private func check(_ row: Int64?, in table: String) throws(FieldpackError) {
    let id = try file.catalogue().layer(LayerID(table))?.idExpression ?? "rowid"
    if let row,
      try file.integer("SELECT 1 FROM \(quoted(table)) WHERE \(id) = ?", [.integer(row)]) != nil
    {
      return
    }
    throw FieldpackError(
      .notFound, "'\(table)' has no row \(row.map(String.init) ?? "of that id")",
      location: .init(store: file.store, layer: LayerID(table)))
  }

  // MARK: Removing

  func remove(_ id: Int64) throws(FieldpackError) {
    try require(id)
    if try file.hasTable(Self.references) {
      try file.execute(
        "DELETE FROM \(Self.references) WHERE md_file_id = ?", [.integer(id)])
      try file.execute(
        "UPDATE \(Self.references) SET md_parent_id = NULL WHERE md_parent_id = ?", [.integer(id)])
    }
    try file.execute("DELETE FROM \(Self.documents) WHERE id = ?", [.integer(id)])
    try dropIfEmpty()
  }

  func isAbout(row: Int64, of table: String) throws(FieldpackError) -> Bool {
    try file.integer(
      "SELECT 1 FROM \(Self.references) WHERE lower(table_name) = lower(?) AND row_id_value = ?",
      [.text(table), .integer(row)]) != nil
  }

  /// Removes the metadata about a row.
  func forget(row: Int64, of table: String) throws(FieldpackError) {
    try forget("lower(table_name) = lower(?) AND row_id_value = ?", [.text(table), .integer(row)])
  }

  /// Removes the metadata about a column.
  func forget(column: String, of table: String) throws(FieldpackError) {
    guard try exists else { return }
    try forget(
      "lower(table_name) = lower(?) AND lower(column_name) = lower(?)",
      [.text(table), .text(column)])
  }

  /// Removes the metadata about a table.
  func forget(_ table: String) throws(FieldpackError) {
    guard try exists else { return }
    try forget("lower(table_name) = lower(?)", [.text(table)])
  }

  /// Removes references, and the documents that were about nothing else.
  private func forget(
    _ condition: String, _ values: [SQLiteValue]
  ) throws(FieldpackError) {
    let ids = try file.rows(
      "SELECT DISTINCT md_file_id FROM \(Self.references) WHERE \(condition)", values
    ).compactMap { $0.first?.integerValue }
    try file.execute("DELETE FROM \(Self.references) WHERE \(condition)", values)
    for id in ids {
      try file.execute(
        "DELETE FROM \(Self.documents) WHERE id = ?1 AND NOT EXISTS (SELECT 1 "
          + "FROM \(Self.references) WHERE md_file_id = ?1 OR md_parent_id = ?1)", [.integer(id)])
    }
    if !ids.isEmpty { try dropIfEmpty() }
  }

  /// Removes the extension's tables when the last document is gone.
  private func dropIfEmpty() throws(FieldpackError) {
    guard try exists,
      try file.integer(
        "SELECT EXISTS (SELECT 1 FROM \(Self.documents)) + EXISTS (SELECT 1 FROM "
          + "\(Self.references))") == 0
    else { return }
    for table in [Self.references, Self.documents] { try file.execute("DROP TABLE \(table)") }
    guard try file.hasTable("gpkg_extensions") else { return }
    try file.execute("DELETE FROM gpkg_extensions WHERE lower(extension_name) = 'gpkg_metadata'")
  }
}
