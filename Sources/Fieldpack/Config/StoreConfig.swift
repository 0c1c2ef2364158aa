public import FieldpackCore

/// What a config says about one store.
public struct StoreConfig: Hashable, Sendable {
  public var id: StoreID
  public var name: String
  /// `gpkg`, `geojson` and so on; empty where the config names none.
  public var type: String
  /// `1` where the config names none; it may contain dots.
  public var version: String
  public var uri: String
  /// The layers that a query asks when it names none; empty for all layers.
  public var defaultLayers: [LayerID]
  /// An array of Mapbox layer objects, as it stands.
  public var style: ConfigValue?
  /// The style that `style` describes, completed by the standard style; `nil` where it describes
  /// none.
  public var layerStyle: LayerStyle?
  public var options: ConfigValue?
  /// The members that Fieldpack does not know. They stay in the config.
  public var unknown: [ConfigMember]
  /// The folder that `uri` is relative to and must not leave; `nil` for a store that no config
  /// describes, whose uri is the user's own path.
  public var folder: String?
  /// Folders and files outside of `folder` that `uri` may lead to.
  public var allowing: [String]
  /// The folder of the files that the config's stores download, such as `survey.stores` beside
  /// `survey.scfg`; `nil` for a store that no config describes.
  public var storeFolder: String?
  /// Where the store stands in its config.
  public var position: FilePosition?

  public init(
    id: StoreID, name: String? = nil, type: String, version: String = "1", uri: String,
    defaultLayers: [LayerID] = [], style: ConfigValue? = nil, options: ConfigValue? = nil,
    unknown: [ConfigMember] = [], folder: String? = nil, allowing: [String] = [],
    position: FilePosition? = nil
  ) {
    self.id = id
    self.name = name ?? id.rawValue
    self.type = type
    self.version = version
    self.uri = uri
    self.defaultLayers = defaultLayers
    self.style = style
    self.options = options
    self.unknown = unknown
    self.folder = folder
    self.allowing = allowing
    self.position = position
  }

  /// The identifier of the store's type in a registry, such as `gpkg.1` or `wfs.1.1.0`.
  public var typeIdentifier: String { "\(type).\(version)" }

  /// An error about this store.
  public func failure(_ code: FieldpackError.Code, _ message: String) -> FieldpackError {
    failure(code, message, advice: nil)
  }

  func failure(
    _ code: FieldpackError.Code, _ message: String, advice: FieldpackError.Advice?
  ) -> FieldpackError {
    FieldpackError(
      code, message, advice: advice, location: .init(store: id), position: position)
  }
}
