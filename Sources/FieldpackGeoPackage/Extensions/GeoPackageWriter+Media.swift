public import FieldpackCore
import FieldpackSQLite

extension GeoPackageWriter {
  /// Creates a layer for files, with an `id`, the bytes in `data`, their media type in
  /// `content_type`, and `columns`.
  public func createMediaLayer(
    _ layer: LayerID, columns: [ColumnDefinition] = []
  ) throws(FieldpackError) {
    let own = [
      ColumnDefinition(MediaColumns.data, .blob(), isNullable: false),
      ColumnDefinition(MediaColumns.contentType, .text(), isNullable: false),
    ]
    try createLayer(Schema(layer: layer, idColumn: "id", columns: own + columns))
  }

  /// Stores a file in a layer of media, and links it where a relation is given.
  ///
  /// The bytes are not copied before SQLite gets them. Nothing is stored where the link fails.
  /// - Parameters:
  ///   - contentType: the media type of the bytes, such as `image/jpeg`.
  ///   - base: the row of the relation's base that the file belongs to; given with `relation`.
  /// - Throws: `.notFound` for an unknown layer, row or relation, `.invalidArgument` where only one
  ///   of `base` and `relation` is given or the layer is no layer of media.
  @discardableResult
  public func addMedia(
    _ content: RawSpan, as contentType: String, attributes: Attributes = [:], to layer: LayerID,
    relatedTo base: FeatureID? = nil, by relation: Relation? = nil
  ) throws(FieldpackError) -> FeatureID {
    switch (base, relation) {
    case (let base?, let relation?):
      try file.connection.savepoint { () throws(FieldpackError) in
        let id = try insertMedia(content, contentType, attributes, to: layer)
        try link(base, to: id, by: relation)
        return id
      }
    case (nil, nil): try insertMedia(content, contentType, attributes, to: layer)
    default:
      throw FieldpackError(
        .invalidArgument, "a file is linked by a row and a relation together, not by one of both",
        location: .init(layer: layer))
    }
  }

  @discardableResult
  public func addMedia(
    _ content: [UInt8], as contentType: String, attributes: Attributes = [:], to layer: LayerID,
    relatedTo base: FeatureID? = nil, by relation: Relation? = nil
  ) throws(FieldpackError) -> FeatureID {
    try addMedia(
      content.span.bytes, as: contentType, attributes: attributes, to: layer, relatedTo: base,
      by: relation)
  }

  /// Stores a row of a layer of media.
  private func insertMedia(
    _ content: RawSpan, _ contentType: String, _ attributes: Attributes, to layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    var known = attributes
    known[MediaColumns.data] = nil
    known[MediaColumns.contentType] = .text(contentType)
    let table = try writable(layer)
    guard let index = table.schema.columnIndex(MediaColumns.data) else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(layer)' has no column 'data' and so is no layer of media. Try: createMediaLayer",
        location: .init(store: file.store, layer: layer))
    }
    let values = try FeatureEncoder(file: file, table: table).values(known)
    let names = [quoted(table.schema.columns[index].name)] + values.map(\.0)
    let marks = names.map { _ in "?" }.sqlList
    let sql =
      "INSERT INTO \(quoted(table.table)) (\(names.sqlList)) VALUES (\(marks))"
    touch(table)
    try file.prepare(sql, [.null] + values.map(\.1), in: layer).run(lending: content, at: 1)
    guard file.connection.changes == 1 else {
      throw file.ignored(nil, in: layer, table: table.table)
    }
    return .integer(file.connection.lastInsertRowID)
  }
}

extension GeoPackageSnapshot {
  /// Lends the bytes of a file in a layer of media, with their media type.
  ///
  /// - Returns: the result of `body`; `nil`, without a call, where there is no such row.
  public func withMedia<R>(
    _ id: FeatureID, in layer: LayerID,
    _ body: (RawSpan, _ contentType: String) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    guard let wanted = table.sqlValue(of: id) else { return nil }
    let statement = try file.prepare(
      "SELECT \(quoted(MediaColumns.data)), \(quoted(MediaColumns.contentType)) "
        + "FROM \(quoted(table.table)) WHERE \(table.publicID) = ?",
      [wanted], in: layer, feature: id)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let contentType = statement.row.string(1) ?? ""
    return try statement.row.withBytes(0) { (bytes) throws(FieldpackError) in
      try body(bytes, contentType)
    }
  }
}

extension GeoPackageSnapshot {
  /// The length of a file in a layer of media, in bytes; `nil` where there is no such row.
  package func mediaLength(
    _ id: FeatureID, in layer: LayerID
  ) throws(FieldpackError) -> Int? {
    guard let (table, row) = try mediaRow(id, in: layer) else { return nil }
    return try file.integer(
      "SELECT length(\(quoted(MediaColumns.data))) FROM \(quoted(table)) WHERE rowid = ?",
      [.integer(row)]
    ).map(Int.init)
  }

  /// Reads a range of a file in a layer of media, one piece after the other.
  ///
  /// - Parameter range: within the file.
  package func readMedia(
    _ id: FeatureID, in layer: LayerID, _ range: Range<Int>,
    _ body: ([UInt8]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard let (table, row) = try mediaRow(id, in: layer) else {
      throw FieldpackError(.notFound, "there is no such file", location: .init(layer: layer))
    }
    try file.connection.readBlob(
      MediaColumns.data, of: row, in: table, range, piece: 256 << 10, body)
  }

  private func mediaRow(
    _ id: FeatureID, in layer: LayerID
  ) throws(FieldpackError) -> (table: String, row: Int64)? {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    guard case .integer(let row)? = table.sqlValue(of: id) else { return nil }
    return (table.table, row)
  }
}

/// The columns that a layer of media has.
enum MediaColumns {
  static let data = "data"
  static let contentType = "content_type"
  static let all = [data, contentType]
}
