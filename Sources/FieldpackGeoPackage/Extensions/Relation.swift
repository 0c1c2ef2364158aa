public import FieldpackCore

/// A relation between the rows of two tables, as stored by the Related Tables extension (OGC
/// 18-000). Any row of one table may be linked to any rows of the other.
///
///     let photos = try await store.write { (writer) throws(FieldpackError) in
///       try writer.createMediaLayer("photos")
///       let relation = try writer.createRelation(from: "wells", to: "photos", as: .media)
///       try writer.addMedia(jpeg, as: "image/jpeg", to: "photos", relatedTo: 7, by: relation)
///       return relation
///     }
///     let ids = try await store.read { (snapshot) throws(FieldpackError) in
///       try snapshot.related(to: 7, by: photos)
///     }
public struct Relation: Hashable, Sendable {
  /// The kind of the related rows, `relation_name` in the file.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Files such as pictures: a layer with the columns `data` and `content_type`.
    public static let media = Kind(rawValue: "media")
    /// Rows of texts and numbers.
    public static let simpleAttributes = Kind(rawValue: "simple_attributes")
    /// Features of a layer.
    public static let features = Kind(rawValue: "features")
    /// Rows of a layer without geometry.
    public static let attributes = Kind(rawValue: "attributes")
    /// Tiles of a pyramid.
    public static let tiles = Kind(rawValue: "tiles")

    public var description: String { rawValue }
  }

  /// The table that the relation starts from.
  public var base: LayerID
  /// The table of the related rows.
  public var related: LayerID
  public var kind: Kind
  /// The table that holds the links. It identifies the relation, because no other relation has it.
  public var mapping: String
  /// The columns whose values the links hold, usually the feature ids.
  public var baseColumn: String
  public var relatedColumn: String
}

/// Two rows that a relation links.
public struct RelationLink: Hashable, Sendable {
  public var base: FeatureID
  public var related: FeatureID
  /// The attributes of the link itself, in the mapping table's own columns.
  public var attributes: Attributes
}
