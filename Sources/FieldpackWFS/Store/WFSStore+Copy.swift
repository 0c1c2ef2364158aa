package import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

extension WFSStore {
  /// Writes the features of layers, all pages of them, to a new GeoPackage.
  ///
  /// The ids of a layer stay where all of them are integers, each of one feature. Else a column that is
  /// marked as the source's holds them. Where a layer has none, a feature is known by its contents.
  /// - Parameters:
  ///   - layers: the layers to copy; empty is all.
  ///   - maximumLength: the size of the largest file that is accepted, in bytes.
  package func copy(
    _ layers: [LayerID], to path: String, maximumLength: Int = .max
  ) async throws(FieldpackError) {
    let plan = try await plan(Query(layers: layers))
    let pending = try PendingFile(target: path, overwrite: true)
    // Only the last page tells what the ids of a layer are.
    var texts: Set<LayerID> = []
    var isWhole = false
    while !isWhole {
      do throws(FieldpackError) {
        let other = try await copy(plan, to: pending, maximumLength, texts)
        if let other { texts.insert(other) }
        isWhole = other == nil
      } catch {
        // A layer whose ids are not of one feature each.
        guard error.code == .constraint, let layer = error.location.layer,
          texts.insert(layer).inserted
        else { throw error }
      }
    }
    try pending.commit()
  }

  /// - Parameter texts: the layers whose ids are held in a column.
  /// - Returns: a further one of these, where the copy is not whole for it.
  private func copy(
    _ plan: WFSPlan, to pending: PendingFile, _ maximumLength: Int, _ texts: Set<LayerID>
  ) async throws(FieldpackError) -> LayerID? {
    let operations = try await service.operations()
    let writer = try GeoPackageBulkWriter(filling: pending, store: id)
    writer.keepsNames = true
    for layer in plan.layers {
      let pages = FeaturePages(layer, operations, of: service, limit: nil, skip: nil)
      var rows = try await pages.next()
      let hasTexts = texts.contains(layer.layer) || rows?.contains(where: \.hasTextID) == true
      let ids: LoadedIDs = pages.haveIDs ? (hasTexts ? .assigned : .given) : .hashed
      var schema = GatheredAnswer.stored(layer.schema)
      if ids == .assigned {
        schema.columns[schema.columns.count - 1].isSourceID = true
      } else {
        schema.columns.removeLast()
      }
      try writer.create(schema, ids: ids)
      try writer.loader.begin(schema)
      while let page = rows {
        guard pages.haveIDs == (ids != .hashed) else { throw mixed(layer.layer) }
        for var row in page {
          if ids == .given, row.hasTextID { return layer.layer }
          if ids == .assigned { row.values.append(.text(row.id.description)) }
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
    return nil
  }

  private func mixed(_ layer: LayerID) -> FieldpackError {
    FieldpackError(
      .invalidData, "some features of the layer have ids, and others have none",
      location: .init(store: id, layer: layer))
  }
}

extension ValueRow {
  fileprivate var hasTextID: Bool { if case .text = id { true } else { false } }
}
