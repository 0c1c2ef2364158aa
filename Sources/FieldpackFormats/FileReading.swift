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
    /// Every feature has a distinct integer in the property `fid`, and none has an `id`. With ids of
    /// another origin the property is a column of this name.
    case property(column: String)
  }

  public var schema: Schema
  public var ids: IDSource

  public init(schema: Schema, ids: IDSource = .ordinal) {
    self.schema = schema
    self.ids = ids
  }

  /// The layer with ids of another origin, so that a property with ids is a column.
  package var withIDsAsColumn: FileLayer {
    guard case .property(let column) = ids else { return self }
    var layer = FileLayer(schema: schema)
    layer.schema.idIsAttribute = false
    layer.schema.columns.insert(ColumnDefinition(column, .integer), at: 0)
    return layer
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
  /// What a GPX file says of itself, as the element `metadata` of GPX 1.1.
  public var gpxMetadata: String?

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

extension FieldpackError {
  /// The error with the advice to pass over what is wrong, where it can be passed over.
  func advisingToSkip() -> FieldpackError {
    guard code == .invalidData, advice == nil else { return self }
    var error = self
    error.advice = .skipErrors
    return error
  }
}

extension SkippedFeature {
  /// What follows an error in a file that cannot be read beyond it.
  init(breakingOff error: FieldpackError, layer: LayerID? = nil) {
    self.init(
      location: .init(layer: layer), position: error.position,
      reason: "\(error.message): nothing is read from there on")
  }
}

/// What a CSV file does not say itself.
public struct CSVOptions: Sendable, Hashable {
  /// The delimiter; `nil` detects `,`, `;`, tab or `|`.
  public var delimiter: UInt8?
  /// The sign before the decimals of numbers; `nil` detects it where the delimiter is no comma.
  public var decimalSign: DecimalSign?
  /// The encoding, by a name that the system's iconv knows; `nil` detects UTF-8 and UTF-16, and
  /// Windows-1252 where all letters are of Western languages.
  public var encoding: String?
  /// How dates are written, in the letters of `strftime`: `%d.%m.%Y`, or with a time, in UTC,
  /// `%d/%m/%y %H:%M`. Dates of ISO 8601 are always read.
  public var dateFormat: String?
  public var xColumn: String?
  public var yColumn: String?
  public var wktColumn: String?

  public init() {}

  /// The sign before the decimals of a number.
  public enum DecimalSign: String, Hashable, Sendable, CaseIterable {
    case point = "."
    case comma = ","
  }
}

extension ByteInput {
  /// Refuses an empty file, and a column of ids for what is numbered as it comes.
  ///
  /// - Parameter numbers: the beginning of the sentence that says so.
  func check(_ options: ReadOptions, numbers: String) throws(FieldpackError) {
    guard size > 0 else {
      throw FieldpackError(
        .invalidData, "the file is empty", position: FilePosition(file: name))
    }
    guard options.idColumn == nil else {
      throw FieldpackError(
        .invalidArgument, "\(numbers) and cannot take their ids from a column",
        advice: .omitIDColumn, position: FilePosition(file: name))
    }
  }
}
