/// Which feature of which layer of which store: the name a feature keeps when it leaves.
///
/// The text form is `base64(store).base64(layer).base64(feature)`: standard alphabet with padding
/// over UTF-8, as SpatialConnect writes it. Reading tolerates line breaks and blanks, missing
/// padding and the URL-safe alphabet; the parts may hold any character, `.` included.
///
///     let key = KeyTuple(store: "survey", layer: "wells", feature: 127)
///     let text = key.description
///     let same = KeyTuple(text)
public struct KeyTuple: Hashable, Sendable {
  public var store: StoreID
  public var layer: LayerID
  public var feature: FeatureID

  public init(store: StoreID, layer: LayerID, feature: FeatureID) {
    self.store = store
    self.layer = layer
    self.feature = feature
  }

  /// A key tuple of which some parts may not be known.
  public struct Partial: Hashable, Sendable {
    public var store: StoreID?
    public var layer: LayerID?
    public var feature: FeatureID?

    public init(store: StoreID? = nil, layer: LayerID? = nil, feature: FeatureID? = nil) {
      self.store = store
      self.layer = layer
      self.feature = feature
    }
  }
}

extension KeyTuple: LosslessStringConvertible {
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let decoded = parts.compactMap {
      Base64.decode($0.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
    guard decoded.count == 3, decoded.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.init(
      store: StoreID(decoded[0]), layer: LayerID(decoded[1]), feature: FeatureID(decoded[2]))
  }

  public var description: String {
    [store.rawValue, layer.rawValue, feature.description]
      .map { Base64.encode($0.utf8) }.joined(separator: ".")
  }
}
