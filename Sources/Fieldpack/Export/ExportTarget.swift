package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackGeometry

/// A layer that a query is about, as its rows will come.
package struct ExportTarget: Hashable, Sendable {
  package var store: StoreID
  package var schema: Schema
  /// Whether the feature ids are texts, which a GeoPackage cannot keep as ids.
  package var hasTextIDs = false
  /// Whether the query transforms its geometries, so that their envelopes are computed.
  package var isTransformed = false
  /// The system of its geometries as the store's file defines it.
  package var system: StoredSRS?
  /// Types for the columns that are declared with none of the standard's types.
  package var storedTypes: [String: ColumnType] = [:]
  /// What a GPX file is to say of itself.
  var gpxMetadata: String?

  package init(store: StoreID, schema: Schema) {
    self.store = store
    self.schema = schema
  }

  package var layer: LayerID { schema.layer }

  var hasUndefinedSRS: Bool { schema.geometry?.srs.isUndefined ?? false }
}

extension PreparedQuery {
  /// The layers that answer, in order, as an export takes them.
  package var targets: [ExportTarget] {
    layers.map { layer in
      var target = ExportTarget(store: layer.store, schema: layer.schema)
      target.isTransformed = layer.transformation != nil
      return target
    }
  }

  /// The layers that are transformed, and how.
  package var moved: [ExportReport.Transformed] {
    layers.compactMap { layer in
      layer.transformation.map {
        ExportReport.Transformed(store: layer.store, layer: layer.schema.layer, report: $0)
      }
    }
  }

  /// The store that all layers are of; `nil` where there are several or none.
  var onlyStore: StoreID? {
    let stores = Set(layers.map(\.store))
    return stores.count == 1 ? stores.first : nil
  }
}

extension [ExportTarget] {
  /// Refuses what `format` has no place for.
  func check(
    for format: some ExportedFormat, _ options: ExportOptions
  ) throws(FieldpackError) {
    if !format.holdsLayers, count > 1 {
      throw FieldpackError(
        .invalidArgument,
        "\(format.title) takes one layer, \(count) are asked for: \(names). "
          + "Try: name one of them")
    }
    try format.checkKeys(options)
    func name(_ target: ExportTarget) -> LayerID {
      options.name(of: target.layer, in: target.store)
    }
    for (index, target) in enumerated() {
      let folded = name(target).rawValue.lowercased()
      guard let other = self[..<index].first(where: { name($0).rawValue.lowercased() == folded })
      else { continue }
      let nameStore = FieldpackError.Advice.nameStore(other.store)
      throw FieldpackError(
        .invalidArgument,
        "layer '\(name(target))' is in the stores '\(other.store)' and '\(target.store)'",
        advice: options.prefixesStores ? nameStore : .prefixStores.then(nameStore),
        location: .init(layer: target.layer))
    }
  }

  private var names: String {
    let stores = Set(map(\.store))
    return map { stores.count > 1 ? "\($0.store)/\($0.layer)" : $0.layer.rawValue }
      .joined(separator: ", ")
  }
}

extension ExportOptions {
  /// The name that a layer gets in a file that holds several layers.
  func name(of layer: LayerID, in store: StoreID) -> LayerID {
    prefixesStores ? LayerID("\(store)_\(layer)") : layer
  }
}

extension ExportedFormat {
  /// Refuses key tuples where there is no place for them.
  func checkKeys(_ options: ExportOptions) throws(FieldpackError) {
    guard options.writesKeys, !holdsKeys else { return }
    throw FieldpackError(
      .invalidArgument, "\(title) has no place for key tuples", advice: .omitKeys)
  }
}
