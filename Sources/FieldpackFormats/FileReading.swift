public import FieldpackCore
public import FieldpackGeometry

/// Reads one file as features of one or more layers.
///
/// A reader never needs the whole file before it can begin. `assume` looks at the head and guesses
/// what the layers are; `read` gives every feature in the shape it is told to and finds out on the
/// way what the shape should have been. Where the two differ the caller undoes the first pass and
/// reads again as the result says, which then holds:
///
///     var layers = try reader.assume()
///     var result = try reader.read(as: layers, into: &sink)
///     if result.layers != layers { layers = result.layers; result = try reader.read(…) }
public protocol FileReader {
  /// The layers as the beginning of the file suggests them.
  mutating func assume() throws(FieldpackError) -> [FileLayer]

  /// Reads the whole file from its start and gives each feature to `sink`.
  ///
  /// A member that `layers` does not know, or cannot hold, is left out of the row and shows in the
  /// result's layers. `begin` is called for each of `layers`, even one without features.
  mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult

  /// Lets the tracks and routes of the file count on from so many before them; called before `read`.
  mutating func numberPaths(after before: (tracks: Int, routes: Int))

  /// The tracks and routes of the file, known when it has been read.
  var pathsRead: (tracks: Int, routes: Int) { get }
}

/// Files without tracks and routes.
extension FileReader {
  public mutating func numberPaths(after before: (tracks: Int, routes: Int)) {}
  public var pathsRead: (tracks: Int, routes: Int) { (0, 0) }
}

/// A layer of a file, with its schema and the origin of its feature ids.
public struct FileLayer: Hashable, Sendable {
  public enum IDSource: Hashable, Sendable {
    /// The file has no usable ids. Rows are numbered from 1 in their order.
    case ordinal
    /// Every feature has a distinct integer of its own.
    case file
  }

  public var schema: Schema
  public var ids: IDSource

  public init(schema: Schema, ids: IDSource = .ordinal) {
    self.schema = schema
    self.ids = ids
  }
}

/// What reading a file found.
public struct FileReadResult: Sendable {
  /// The layers that hold everything in the file.
  public var layers: [FileLayer]
  /// How many features each layer gave.
  public var counts: [LayerID: Int]
  /// The features that were skipped; the first ``ReadOptions/skippedLimit`` are listed.
  public var skipped: SkippedFeatures
  /// Remarks, such as a renamed column.
  public var notes: [Note]

  public init(
    layers: [FileLayer], counts: [LayerID: Int] = [:], skipped: SkippedFeatures = .init(),
    notes: [Note] = []
  ) {
    self.layers = layers
    self.counts = counts
    self.skipped = skipped
    self.notes = notes
  }
}

/// How a file is read.
public struct ReadOptions: Sendable {
  /// The name of the layer, or with GPX the prefix of the layers' names where `prefixesLayers`.
  public var layer: LayerID
  public var prefixesLayers = false
  /// The layers to read of a file with several, named without prefix. The others are not even
  /// checked. `nil` reads all.
  public var only: Set<String>?
  /// The SRS of the coordinates; one that the file names itself is overridden, with a note.
  public var sourceSRS: SRS?
  /// Whether features that cannot be read are skipped and reported, instead of throwing.
  public var skipsErrors = false
  /// How many skipped features are listed; all are counted.
  public var skippedLimit = 1000
  /// The attribute whose integers become the feature ids; it is then no column.
  public var idColumn: String?
  public var csv = CSVOptions()
  /// Reads only features whose boxes touch one of these, in the SRS of the file, by the file's index.
  package var boxes: [Envelope]?
  /// Called now and then with the bytes read so far; throws to stop, as on cancellation.
  public var progress: (@Sendable (_ bytesRead: Int) throws(FieldpackError) -> Void)?

  public init(layer: LayerID) { self.layer = layer }
}

/// What a CSV file does not say itself.
public struct CSVOptions: Sendable, Hashable {
  /// The delimiter; `nil` detects `,`, `;` or tab.
  public var delimiter: UInt8?
  public var xColumn: String?
  public var yColumn: String?
  public var wktColumn: String?

  public init() {}
}
