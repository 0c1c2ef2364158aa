package import FieldpackCore
package import FieldpackGeoPackage
package import FieldpackGeometry

/// A store that takes whole layers in one transaction, faster than one feature after another.
package protocol LayerLoading: WritableStore {
  /// Copies layers of other stores into this one: all of them, or none when it throws.
  func load(
    _ parts: [LayerPart], _ options: LayerLoadOptions
  ) async throws(FieldpackError) -> LayerLoadReport
}

/// A layer that is to be copied.
package struct LayerPart: Sendable {
  package var source: any Store
  /// The layer in the source.
  package var layer: LayerID
  /// The name that it gets.
  package var name: LayerID
  /// Whether the ids of its rows mean something, and are kept where they are free.
  package var keepsIDs: Bool

  package init(from source: any Store, _ layer: LayerID, as name: LayerID, keepsIDs: Bool) {
    (self.source, self.layer, self.name, self.keepsIDs) = (source, layer, name, keepsIDs)
  }
}

/// How layers are copied.
package struct LayerLoadOptions: Sendable {
  package var mode = ImportMode.create
  /// The SRS of new layers; `nil` keeps that of the source.
  package var srs: SRS?
  package var matchColumn: String?
  package var skipsErrors = false
  /// Whether everything is undone at the end.
  package var isDryRun = false
  /// Called now and then with the number of features so far.
  package var progress: (@Sendable (Int) -> Void)?

  package init() {}
}

/// What was copied.
package struct LayerLoadReport: Sendable {
  package var layers: [LoadedLayer] = []
  package var skipped = SkippedFeatures(limit: .max)
  package var notes: [Note] = []
  package var transformations: [TransformationReport] = []

  package init() {}
}
