public import FieldpackCore
public import FieldpackFormats
public import FieldpackGeoPackage
public import FieldpackGeometry

/// How features are exported.
public struct ExportOptions: Sendable {
  /// The members of GeoJSON beyond those of RFC 7946.
  public enum Dialect: String, Hashable, Sendable, CaseIterable {
    case rfc7946
    /// SpatialConnect's features: key tuples as `id`, and the members `metadata`, `bbox` and `crs`.
    case spatialConnect = "spatialconnect"
  }

  /// Whether a file that exists is replaced.
  public var overwrite = false
  /// Whether key tuples are written: as `id` in GeoJSON, as the first column in CSV. Other formats
  /// have no place for them.
  public var writesKeys = false
  public var dialect = Dialect.rfc7946
  /// The id of the device, and the moment, that ``Dialect/spatialConnect`` writes into `metadata`.
  public var client: String?
  public var createdAt: Instant?
  public var gpxDialect = GPXDialect.gpx11
  /// The decimals of coordinates in GeoJSON and CSV; `nil` writes the shortest exact form.
  public var decimals: Int?
  /// Whether GeoJSON gets a `bbox` for each feature and for the collection.
  public var writesBoundingBoxes = false
  /// Whether each line of a GeoJSON sequence begins with a record separator (RFC 8142).
  public var writesRecordSeparators = false
  /// The title of a map; by default the name of the only store's file, else `map`.
  public var title: String?
  /// The labels, colours and sizes of a map.
  public var map = MapOptions()
  /// The version of a GeoPackage.
  public var version = GeoPackageVersion.v14
  /// Whether each layer is named `STORE_LAYER` in a file that holds several layers, so that layers
  /// of one name in several stores go into one file. Maps show layers by their own names.
  public var prefixesStores = false
  /// Whether features that cannot be written and stores that do not answer are skipped and
  /// reported.
  public var skipsErrors = false
  /// Gets what is exported and how long it takes, but no values.
  public var logger = Logger.silent
  /// Called after each batch with the features written so far.
  public var progress: (@Sendable (Int) -> Void)?

  public init() {}
}

/// What an export did.
public struct ExportReport: Sendable {
  /// One layer that was written.
  public struct Exported: Hashable, Sendable {
    public var store: StoreID
    public var layer: LayerID
    /// Features written.
    public var count: Int

    package init(store: StoreID, layer: LayerID, count: Int) {
      self.store = store
      self.layer = layer
      self.count = count
    }
  }

  /// One file of an export that splits features by their values.
  public struct File: Hashable, Sendable {
    /// The file's name in the folder.
    public var name: String
    /// The value that its features share.
    public var value: Value
    /// Features written.
    public var count: Int
  }

  package init() {}

  public var layers: [Exported] = []
  /// The files of an export that splits features by their values, in the order of the values.
  public var files: [File] = []
  /// The features that were skipped, with the reason.
  public var skipped = SkippedFeatures(limit: .max)
  /// The stores that failed before or during their answer.
  public var failures: [StoreFailure] = []
  public var notes: [Note] = []
  /// The transformations of those layers that were transformed.
  public var transformations: [Transformed] = []

  /// A layer with the operation that transformed it.
  public struct Transformed: Hashable, Sendable {
    public var store: StoreID
    public var layer: LayerID
    public var report: TransformationReport
  }

  /// Features written.
  public var count: Int { layers.reduce(0) { $0 + $1.count } }
  /// Whether everything asked for was written.
  public var isComplete: Bool { skipped.count == 0 && failures.isEmpty }
}

extension ExportReport: CustomStringConvertible {
  /// `43 features exported: wells 40, zones 3`, and how many were skipped.
  public var description: String {
    var text = count.counting("feature") + " exported"
    if !layers.isEmpty {
      text += ": " + layers.map { "\($0.layer) \($0.count)" }.joined(separator: ", ")
    }
    let silent = failures.map(\.store.rawValue).joined(separator: ", ")
    return text + skipped.behindCount + (silent.isEmpty ? "" : "; no answer from \(silent)")
  }
}

/// The cause of an export that failed because stores did not answer.
public struct IncompleteExport: Error, Sendable {
  public let failures: [StoreFailure]
}

extension FieldpackError {
  /// The error that gives an export up because of stores that did not answer, if any.
  package init?(incomplete failures: [StoreFailure]) {
    guard let first = failures.first else { return nil }
    self.init(
      first.error.code,
      "store '\(first.store)' does not answer, so nothing was written: \(first.error.message)",
      advice: first.error.advice?.then(.skipErrorsOrNameStores) ?? .skipErrorsOrNameStores,
      location: .init(store: first.store), position: first.error.position,
      underlying: IncompleteExport(failures: failures))
  }
}
