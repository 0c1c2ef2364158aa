public import FieldpackCore

extension GeoPackageWriter {
  /// Creates a relation with the table of its links, and registers it.
  ///
  /// - Parameters:
  ///   - mapping: the name of the table of links; `nil` for one made of both layers' names.
  ///   - columns: the attributes of a link, besides the two ids.
  /// - Throws: `.notFound` for an unknown layer, `.cannotCreate` where `mapping` is taken,
  ///   `.invalidArgument` where the related layer is not what `kind` requires.
  @discardableResult
  public func createRelation(
    from base: LayerID, to related: LayerID, as kind: Relation.Kind, mapping: String? = nil,
    columns: [ColumnDefinition] = []
  ) throws(FieldpackError) -> Relation {
    try whole { () throws(FieldpackError) in
      try RelationTables(file: file).create(base, related, kind, mapping: mapping, columns)
    }
  }

  /// Links a row of the relation's base to a related row. Links that exist already get the
  /// attributes.
  ///
  /// - Throws: `.notFound` for a row, or a relation, that does not exist.
  public func link(
    _ base: FeatureID, to related: FeatureID, by relation: Relation, attributes: Attributes = [:]
  ) throws(FieldpackError) {
    try RelationTables(file: file).link(base, related, relation, attributes)
  }

  /// Removes a link; returns whether there was one.
  @discardableResult
  public func unlink(
    _ base: FeatureID, from related: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> Bool {
    try RelationTables(file: file).unlink(base, related, relation)
  }

  /// Removes the relation with its links and everything that the file says of it. The related rows
  /// stay.
  public func removeRelation(_ relation: Relation) throws(FieldpackError) {
    try whole { () throws(FieldpackError) in
      try RelationTables(file: file).remove(relation)
    }
  }
}

extension GeoPackageSnapshot {
  /// The relations of the file, in the order of their creation.
  public func relations() throws(FieldpackError) -> [Relation] {
    try RelationTables(file: file).all()
  }

  /// The ids of the rows that a row of the relation's base is linked to, in the links' order.
  ///
  /// Links to deleted rows are skipped.
  public func related(
    to base: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> [FeatureID] {
    try RelationTables(file: file).related(to: base, relation)
  }

  /// The ids of the rows of the relation's base that are linked to a related row.
  public func bases(
    relatedTo related: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> [FeatureID] {
    try RelationTables(file: file).bases(of: related, relation)
  }

  /// All links of a relation, or those of one row of its base, with their attributes.
  public func links(
    by relation: Relation, of base: FeatureID? = nil
  ) throws(FieldpackError) -> [RelationLink] {
    try RelationTables(file: file).links(relation, of: base)
  }
}

extension GeoPackageStore {
  /// The relations of the file.
  public func relations() async throws(FieldpackError) -> [Relation] {
    try await read { (snapshot) throws(FieldpackError) in try snapshot.relations() }
  }
}
