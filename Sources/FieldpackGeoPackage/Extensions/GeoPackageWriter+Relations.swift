public import FieldpackCore

extension FeatureWriter {
  /// Creates a relation with the table of its links, and registers it.
  ///
  /// - Parameters:
  ///   - mapping: the name of the table of links; `nil` for one made of both layers' names.
  ///   - columns: the attributes of a link, besides the two ids.
  /// - Throws: `.notFound` for an unknown layer, `.cannotCreate` where `mapping` is taken,
  ///   `.invalidArgument` where the related layer is not what `kind` requires, `.unsupported` where
  ///   the store is no GeoPackage.
  @discardableResult
  public mutating func createRelation(
    from base: LayerID, to related: LayerID, as kind: Relation.Kind, mapping: String? = nil,
    columns: [ColumnDefinition] = []
  ) throws(FieldpackError) -> Relation {
    let transaction = try geoPackage
    return try transaction.whole { () throws(FieldpackError) in
      try RelationTables(file: transaction.file).create(
        base, related, kind, mapping: mapping, columns)
    }
  }

  /// Links a row of the relation's base to a related row. Links that exist already get the
  /// attributes.
  ///
  /// - Throws: `.notFound` for a row, or a relation, that does not exist.
  public mutating func link(
    _ base: FeatureID, to related: FeatureID, by relation: Relation, attributes: Attributes = [:]
  ) throws(FieldpackError) {
    try RelationTables(file: geoPackage.file).link(base, related, relation, attributes)
  }

  /// Removes a link; returns whether there was one.
  @discardableResult
  public mutating func unlink(
    _ base: FeatureID, from related: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> Bool {
    try RelationTables(file: geoPackage.file).unlink(base, related, relation)
  }

  /// Removes the relation with its links and everything that the file says of it. The related rows
  /// stay.
  public mutating func removeRelation(_ relation: Relation) throws(FieldpackError) {
    let transaction = try geoPackage
    try transaction.whole { () throws(FieldpackError) in
      try RelationTables(file: transaction.file).remove(relation)
    }
  }

  public func relations() throws(FieldpackError) -> [Relation] {
    try RelationTables(file: geoPackage.file).all()
  }

  /// The ids of the rows that a row of the relation's base is linked to, in the links' order.
  public func related(
    to base: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> [FeatureID] {
    try RelationTables(file: geoPackage.file).related(to: base, relation)
  }

  // MARK: Media

  /// Creates a layer for files, with an `id`, the bytes in `data`, their media type in
  /// `content_type`, and `columns`.
  public mutating func createMediaLayer(
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
  public mutating func addMedia(
    _ content: RawSpan, as contentType: String, attributes: Attributes = [:], to layer: LayerID,
    relatedTo base: FeatureID? = nil, by relation: Relation? = nil
  ) throws(FieldpackError) -> FeatureID {
    let transaction = try geoPackage
    switch (base, relation) {
    case (let base?, let relation?):
      return try transaction.addMedia(
        content, contentType, attributes, to: layer, linkedTo: base, by: relation)
    case (nil, nil): return try transaction.addMedia(content, contentType, attributes, to: layer)
    default:
      throw FieldpackError(
        .invalidArgument, "a file is linked by a row and a relation together, not by one of both",
        location: .init(layer: layer))
    }
  }

  @discardableResult
  public mutating func addMedia(
    _ content: [UInt8], as contentType: String, attributes: Attributes = [:], to layer: LayerID,
    relatedTo base: FeatureID? = nil, by relation: Relation? = nil
  ) throws(FieldpackError) -> FeatureID {
    try addMedia(
      content.span.bytes, as: contentType, attributes: attributes, to: layer, relatedTo: base,
      by: relation)
  }
}

extension StoreSnapshot {
  /// The relations of the file, in the order of their creation; none where the store is no
  /// GeoPackage.
  public borrowing func relations() throws(FieldpackError) -> [Relation] {
    guard backing is GeoPackageReading else { return [] }
    return try RelationTables(file: geoPackage.file).all()
  }

  /// The ids of the rows that a row of the relation's base is linked to, in the links' order.
  ///
  /// Links to deleted rows are skipped.
  public borrowing func related(
    to base: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> [FeatureID] {
    try RelationTables(file: geoPackage.file).related(to: base, relation)
  }

  /// The ids of the rows of the relation's base that are linked to a related row.
  public borrowing func bases(
    relatedTo related: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> [FeatureID] {
    try RelationTables(file: geoPackage.file).bases(of: related, relation)
  }

  /// All links of a relation, or those of one row of its base, with their attributes.
  public borrowing func links(
    by relation: Relation, of base: FeatureID? = nil
  ) throws(FieldpackError) -> [RelationLink] {
    try RelationTables(file: geoPackage.file).links(relation, of: base)
  }

  /// Lends the bytes of a file in a layer of media, with their media type.
  ///
  /// - Returns: the result of `body`; `nil`, without a call, where there is no such row.
  public borrowing func withMedia<R>(
    _ id: FeatureID, in layer: LayerID,
    _ body: (RawSpan, _ contentType: String) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    try geoPackage.withMedia(id, in: layer, body)
  }
}

extension GeoPackageStore {
  /// The relations of the file.
  public func relations() async throws(FieldpackError) -> [Relation] {
    try await reading { (reading) throws(FieldpackError) in
      try RelationTables(file: reading.file).all()
    }
  }
}

/// The columns that a layer of media has.
enum MediaColumns {
  static let data = "data"
  static let contentType = "content_type"
}
