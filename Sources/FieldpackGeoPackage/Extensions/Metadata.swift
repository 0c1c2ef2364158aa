public import FieldpackCore

/// A document about the file, a layer, a column, a row or a single value, as stored by the Metadata
/// extension.
public struct Metadata: Hashable, Sendable {
  /// The kind of thing that the document describes, `md_scope` in the file.
  public struct Scope: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let undefined = Scope(rawValue: "undefined")
    public static let dataset = Scope(rawValue: "dataset")
    public static let series = Scope(rawValue: "series")
    public static let featureType = Scope(rawValue: "featureType")
    public static let feature = Scope(rawValue: "feature")
    public static let attributeType = Scope(rawValue: "attributeType")
    public static let attribute = Scope(rawValue: "attribute")
    public static let tile = Scope(rawValue: "tile")
    public static let model = Scope(rawValue: "model")
    public static let catalog = Scope(rawValue: "catalog")
    public static let schema = Scope(rawValue: "schema")
    public static let taxonomy = Scope(rawValue: "taxonomy")
    public static let software = Scope(rawValue: "software")
    public static let service = Scope(rawValue: "service")
    public static let fieldSession = Scope(rawValue: "fieldSession")
    public static let collectionSession = Scope(rawValue: "collectionSession")
    public static let collectionHardware = Scope(rawValue: "collectionHardware")
    public static let nonGeographicDataset = Scope(rawValue: "nonGeographicDataset")
    public static let dimensionGroup = Scope(rawValue: "dimensionGroup")
    public static let style = Scope(rawValue: "style")

    /// The scopes that the standard knows.
    public static let all: [Scope] = [
      .undefined, .dataset, .series, .featureType, .feature, .attributeType, .attribute, .tile,
      .model, .catalog, .schema, .taxonomy, .software, .service, .fieldSession, .collectionSession,
      .collectionHardware, .nonGeographicDataset, .dimensionGroup, .style,
    ]

    public var description: String { rawValue }
  }

  public var id: Int64
  public var scope: Scope
  /// The standard that the document follows, such as `http://www.isotc211.org/2005/gmd`.
  public var standardURI: String
  /// The media type, such as `text/xml` or `application/json`.
  public var mediaType: String
  public var content: String
}

/// What a metadata document is about.
public enum MetadataSubject: Hashable, Sendable {
  case geoPackage
  case layer(LayerID)
  case column(String, of: LayerID)
  case row(FeatureID, of: LayerID)
  /// The value of a column in a row.
  case value(String, row: FeatureID, of: LayerID)
}

/// A statement that a document is about a subject.
public struct MetadataReference: Hashable, Sendable {
  public var metadata: Int64
  public var subject: MetadataSubject
  /// The document that the referring one is a part of.
  public var parent: Int64?
  /// When the reference was made; `nil` where the file's text is no instant.
  public var date: Instant?
}
