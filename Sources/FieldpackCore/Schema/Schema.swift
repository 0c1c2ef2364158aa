public import FieldpackGeometry

/// An attribute column of a layer.
public struct ColumnDefinition: Hashable, Sendable {
  public var name: String
  public var type: ColumnType
  public var isNullable: Bool
  public var isUnique: Bool
  /// The default as an SQL expression.
  public var defaultSQL: String?
  /// Whether the column is generated: it can be read but not written.
  public var isGenerated: Bool
  /// Whether the column is part of the table's primary key without being the feature id.
  public var isPrimaryKey = false
  /// Whether the column holds the `id` members of the file that was imported; export writes them as
  /// `id`.
  public var isSourceID = false
  /// The column's `title` in `gpkg_data_columns`; ``description`` is the column of that name.
  public var title: String?
  public var description: String?
  /// The column's `name` in `gpkg_data_columns`: a short name for people, unique in a layer.
  public var shortName: String?
  /// The media type of the column's blobs, such as `image/jpeg`.
  public var mediaType: String?
  /// The values that the column may have; every write is checked.
  public var constraint: ColumnConstraint?
  /// What the column of an answer is of a feature's metadata; `nil` for a column of the layer.
  package var metadata: FeatureMetadata.Column?

  public init(
    _ name: String, _ type: ColumnType, isNullable: Bool = true, isUnique: Bool = false,
    defaultSQL: String? = nil, isGenerated: Bool = false, title: String? = nil,
    description: String? = nil, constraint: ColumnConstraint? = nil
  ) {
    self.name = name
    self.type = type
    self.isNullable = isNullable
    self.isUnique = isUnique
    self.defaultSQL = defaultSQL
    self.isGenerated = isGenerated
    self.title = title
    self.description = description
    self.constraint = constraint
  }
}

/// Whether geometries of a column have z or m: 0, 1 or 2 in `gpkg_geometry_columns`.
public enum OrdinateRule: Int64, Hashable, Sendable {
  case prohibited = 0
  case mandatory = 1
  case optional = 2
}

/// The column that holds the geometry of a feature layer.
public struct GeometryColumn: Hashable, Sendable {
  public var name: String
  public var type: GeometryType
  public var srs: SRS
  public var z: OrdinateRule
  public var m: OrdinateRule
  /// The moment at which positions in a dynamic SRS are valid, as a year such as 2024.5.
  public var epoch: Double?

  public init(
    _ name: String = "geom", type: GeometryType = .geometry, srs: SRS = .wgs84,
    z: OrdinateRule = .prohibited, m: OrdinateRule = .prohibited
  ) {
    self.name = name
    self.type = type
    self.srs = srs
    self.z = z
    self.m = m
  }
}

/// The columns of a layer, a query's answer or a file.
///
///     let visits = Schema(
///       layer: "visits", geometry: GeometryColumn(type: .point, srs: .wgs84),
///       columns: [ColumnDefinition("well", .text(), isNullable: false), .init("level", .double)])
///     try await store.write { (writer) throws(FieldpackError) in try writer.createLayer(visits) }
public struct Schema: Hashable, Sendable {
  /// The layer's name.
  public var layer: LayerID
  /// The column of the feature id; `nil` in a view without an id, whose ids are row numbers.
  public var idColumn: String?
  /// Whether GeoJSON has the feature id as a property with the name of its column, and not as `id`, as
  /// the file had it that was imported.
  public var idIsAttribute = false
  /// The geometry column; `nil` in a layer of attributes alone.
  public var geometry: GeometryColumn?
  /// The attribute columns in order, without id and geometry.
  public var columns: [ColumnDefinition]
  /// How the layer is drawn, where its store's config says so.
  public var style: LayerStyle?

  public init(
    layer: LayerID, idColumn: String? = "fid", geometry: GeometryColumn? = nil,
    columns: [ColumnDefinition] = []
  ) {
    self.layer = layer
    self.idColumn = idColumn
    self.geometry = geometry
    self.columns = columns
  }

  /// The index of a column in ``columns``, by exact name, else ignoring ASCII case as SQL does.
  public func columnIndex(_ name: String) -> Int? {
    if let exact = columns.firstIndex(where: { $0.name.hasSameBytes(as: name) }) { return exact }
    let folded = name.uppercasedASCII
    return columns.firstIndex { $0.name.uppercasedASCII.hasSameBytes(as: folded) }
  }
}

/// A layer of a store: its schema and facts about its contents.
public struct Layer: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    case features, attributes
  }

  public var schema: Schema
  public var kind: Kind
  /// A human-readable name and description from `gpkg_contents`.
  public var title: String?
  public var description: String?
  /// The number of features; `nil` where only counting would tell, see ``Store/layers()``.
  public var featureCount: Int?
  /// The extent of the geometries in the layer's own SRS; `nil` where there is no geometry.
  public var envelope: Envelope?
  /// Whether an R-tree indexes the geometries.
  public var hasSpatialIndex: Bool
  public var isView: Bool
  /// The store's name for the SRS of the geometries, such as `WGS 84 / UTM zone 32N`.
  public var srsName: String?
  /// Unusual facts about the layer, in words.
  public var notes: [Note]

  public init(
    schema: Schema, kind: Kind, title: String? = nil, description: String? = nil,
    featureCount: Int? = nil, envelope: Envelope? = nil, hasSpatialIndex: Bool = false,
    isView: Bool = false, notes: [Note] = []
  ) {
    self.schema = schema
    self.kind = kind
    self.title = title
    self.description = description
    self.featureCount = featureCount
    self.envelope = envelope
    self.hasSpatialIndex = hasSpatialIndex
    self.isView = isView
    self.notes = notes
  }

  public var id: LayerID { schema.layer }

  /// How the layer is drawn, where its store's config says so; see ``Schema/style``.
  public var style: LayerStyle? { schema.style }
}
