public import FieldpackCore

/// How many features of each layer were deleted, those that were named first.
public struct DeletedFeatures: Hashable, Sendable {
  public struct Layer: Hashable, Sendable {
    public var layer: LayerID
    public var count: Int
  }

  public private(set) var layers: [Layer] = []

  package init() {}

  package mutating func add(_ count: Int = 1, of layer: LayerID) {
    if let index = layers.firstIndex(where: { $0.layer == layer }) {
      layers[index].count += count
    } else if count > 0 {
      layers.append(Layer(layer: layer, count: count))
    }
  }

  /// How many features of a layer were deleted.
  public subscript(layer: LayerID) -> Int { layers.first { $0.layer == layer }?.count ?? 0 }
}

extension DeletedFeatures: CustomStringConvertible {
  /// `5 features deleted: track 1, track_points 4`.
  public var description: String {
    let count = layers.reduce(0) { $0 + $1.count }
    let list = layers.map { "\($0.layer) \($0.count)" }.joined(separator: ", ")
    return count.counting("feature") + " deleted" + (list.isEmpty ? "" : ": \(list)")
  }
}
