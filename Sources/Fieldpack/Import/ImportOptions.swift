public import FieldpackCore
public import FieldpackFormats
public import FieldpackGeoPackage
public import FieldpackGeometry

/// What an import does with layers that exist.
public enum ImportMode: String, Hashable, Sendable, CaseIterable {
  /// Refuses them.
  case create
  /// Adds features, and columns that are missing; creates what does not exist.
  case append
  /// Removes them first, and nothing else.
  case replace
  /// Changes the features that have a row's id, or its value in ``ImportOptions/matchColumn``, and
  /// adds the others. A column that the file lacks stays as it is. Media that come with features of
  /// a GeoPackage change none: they are added where the target has no equal ones.
  case upsert
}

/// How files are imported.
public struct ImportOptions: Sendable {
  /// The layer's name; with GPX the prefix of its layers' names. By default the file's stem.
  public var layer: LayerID?
  public var mode = ImportMode.create
  /// Which layers of GPX files are read, such as `track_points`; `nil` reads all.
  public var only: Set<String>?
  /// The format of all files; `nil` detects it from contents and names.
  public var format: Format?
  /// Where features are wanted, in the file's SRS; only files with an index can tell.
  var boxes: [Envelope]?
  /// The SRS of files that name none.
  public var sourceSRS: SRS?
  /// The SRS of new layers. Features that are appended are transformed to the layer's own.
  public var srs: SRS?
  /// The attribute whose integers become the feature ids.
  public var idColumn: String?
  /// The column by whose values ``ImportMode/upsert`` finds features; `nil` is by their ids.
  public var matchColumn: String?
  /// The version of a file that is created.
  public var version = GeoPackageVersion.v14
  /// Whether the features of each layer are stored along a Hilbert curve, so that a box touches few
  /// pages. Layers that keep the file's ids, or whose ids others refer to, keep the file's order.
  public var clusters = false
  public var csv = CSVOptions()
  /// Whether features that cannot be read or stored are skipped and reported.
  public var skipsErrors = false
  /// How far an existing GeoPackage is trusted.
  public var profile = OpeningProfile.foreign
  /// Whether the import is undone at its end, as a trial.
  public var isDryRun = false
  /// Gets what is imported and how long it takes, but no values.
  public var logger = Logger.silent
  /// Called now and then with the file's name and how much of it is read.
  public var progress: (@Sendable (ImportProgress) -> Void)?

  public init(layer: LayerID? = nil, mode: ImportMode = .create) {
    self.layer = layer
    self.mode = mode
  }
}

/// The progress of an import.
public struct ImportProgress: Hashable, Sendable {
  public var file: String
  /// Bytes read of all files, and their sizes together.
  public var bytesRead: Int
  public var bytesInAll: Int
  /// The number of the pass. A second pass is needed where the beginning of a file was misleading.
  public var pass: Int
}

/// What an import did.
public struct ImportReport: Sendable {
  /// One layer of one file.
  public struct Imported: Sendable {
    public var file: String
    public var layer: LayerID
    public var schema: Schema
    public var count: Int
    /// Whether the ids of the features are those that the file has.
    package var hasOwnIDs = false
  }

  public var imported: [Imported] = []
  /// The layers as they were loaded, with the ids given.
  public var layers: [LoadedLayer] = []
  /// The features that were skipped, with the reason; the first 1,000 of each file are listed.
  public var skipped = SkippedFeatures(limit: .max)
  public var notes: [Note] = []
  public var transformations: [TransformationReport] = []
  public var isDryRun = false

  /// The number of features stored.
  public var count: Int { layers.reduce(0) { $0 + $1.count } }
  /// The number of those that changed a feature that was there.
  public var updatedCount: Int { layers.reduce(0) { $0 + $1.updatedCount } }
}

extension ImportReport: CustomStringConvertible {
  /// `43 features imported: wells 40, zones 3`, and how many were skipped.
  public var description: String {
    var text = count.counting("feature") + (isDryRun ? " would be imported" : " imported")
    if !layers.isEmpty {
      text += ": " + layers.map { "\($0.layer) \($0.count)" }.joined(separator: ", ")
    }
    return text + skipped.behindCount
  }
}
