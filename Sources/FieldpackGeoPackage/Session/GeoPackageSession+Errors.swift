package import FieldpackCore

extension GeoPackageSession {
  package func missingLayer(_ layer: LayerID, in catalogue: Catalogue) -> FieldpackError {
    let known = catalogue.layers.map(\.layer.id.rawValue)
    let list = known.isEmpty ? "it has none" : "it has: \(known.joined(separator: ", "))"
    return FieldpackError(
      .notFound,
      "layer '\(layer)' is not in store '\(store)'\(NearNames.question(layer.rawValue, in: known)) "
        + "(\(list))",
      location: .init(store: store, layer: layer))
  }

  /// The error for a geometry that cannot be read.
  ///
  /// - Parameter advice: what to do about the reason.
  func damaged(
    _ reason: String, advice: FieldpackError.Advice? = nil, _ id: FeatureID?, in layer: LayerID
  ) -> FieldpackError {
    let passing: FieldpackError.Advice? = id == nil ? nil : .skipErrors
    let name = id.map { "the geometry of feature \($0)" } ?? "a geometry"
    return FieldpackError(
      .invalidData,
      "\(name) in layer '\(layer)' cannot be read: \(reason)",
      advice: advice?.then(passing) ?? passing,
      location: .init(store: store, layer: layer, feature: id),
      position: FilePosition(file: path))
  }
}

extension FieldpackError {
  /// Whether a view of the file took too long.
  package var isOverdue: Bool {
    code == .invalidData && (underlying as? FieldpackError)?.code == .interrupted
  }
}
