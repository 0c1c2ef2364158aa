package import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

extension WFSStore {
  /// Writes the features of layers, all pages of them, to a new GeoPackage.
  ///
  /// A column that is marked as the source's holds the ids of features. Where a layer has none, a
  /// feature is known by its contents.
  /// - Parameters:
  ///   - layers: the layers to copy; empty is all.
  ///   - maximumLength: the size of the largest file that is accepted, in bytes.
  package func copy(
    _ layers: [LayerID], to path: String, maximumLength: Int = .max
  ) async throws(FieldpackError) {
    let plan = try await plan(Query(layers: layers))
    let operations = try await service.operations()
    let pending = try PendingFile(target: path, overwrite: true)
    let writer = try GeoPackageBulkWriter(filling: pending, store: id)
    writer.keepsNames = true
    for layer in plan.layers {
      let pages = FeaturePages(layer, operations, of: service, limit: nil, skip: nil)
      var rows = try await pages.next()
      let hasIDs = pages.haveIDs
      var schema = GatheredAnswer.stored(layer.schema)
      if hasIDs { schema.columns[schema.columns.count - 1].isSourceID = true }
      if !hasIDs { schema.columns.removeLast() }
      try writer.create(schema, ids: hasIDs ? .assigned : .hashed)
      try writer.loader.begin(schema)
      while let page = rows {
        guard pages.haveIDs == hasIDs else { throw mixed(layer.layer) }
        for var row in page {
          if hasIDs { row.values.append(.text(row.id.description)) }
          try writer.loader.feature(row)
        }
        guard FileSystem.size(pending.path) ?? 0 <= maximumLength else {
          throw FieldpackError(
            .invalidData, "the service gives more than \(maximumLength) bytes",
            location: .init(store: id, layer: layer.layer), underlying: HTTPFailure.tooLong)
        }
        rows = try await pages.next()
      }
    }
    _ = try writer.commit()
    try pending.commit()
  }

  private func mixed(_ layer: LayerID) -> FieldpackError {
    FieldpackError(
      .invalidData, "some features of the layer have ids, and others have none",
      location: .init(store: id, layer: layer))
  }
}
