import FieldpackCore
import FieldpackFormats

/// A format whose writer takes features as they are read.
protocol StreamedFormat: ExportedFormat {
  associatedtype Writer: FormatWriter
  var srsRule: SRSRule { get }
  /// Adds what the writer needs to know of the layers before the first feature.
  ///
  /// - Returns: what the user is to know of the export.
  func describe(
    _ targets: inout [ExportTarget], of run: ExportRun
  ) async throws(FieldpackError) -> [Note]
  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> Writer
}

extension StreamedFormat {
  func describe(
    _ targets: inout [ExportTarget], of run: ExportRun
  ) async throws(FieldpackError) -> [Note] { [] }

  func export(
    _ run: ExportRun, to place: ExportPlace
  ) async throws(FieldpackError) -> ExportReport {
    switch place {
    case .path(let path): try await run.write(as: self, toPath: path)
    case .output(let output): try await run.write(as: self, to: output)
    }
  }
}

/// Which SRS the coordinates of a format are in.
enum SRSRule {
  /// Each layer keeps its own.
  case ofEachLayer
  /// WGS 84 where no other is asked for; how a file in another one says so.
  case wgs84(elsewhere: String)
  /// WGS 84 and no other.
  case onlyWGS84
}

/// What is written, and how.
struct ExportPlan: Sendable {
  var targets: [ExportTarget]
  var options: ExportOptions
  /// The SRS asked for, where it is not WGS 84.
  var srs: SRS?

  /// The store of the one layer, where its keys are written.
  var keyStore: StoreID? { options.writesKeys ? targets.first?.store : nil }
}

/// Writes the features of one file, in batches or in pieces that encoders have made.
///
/// Batches and pieces are driven in the writer's own type: nothing is decided anew for each feature.
protocol FormatWriter {
  associatedtype Encoder: FeatureEncoder
  /// Announces a layer, which may stay without rows.
  mutating func begin(_ target: ExportTarget) throws(FieldpackError)
  mutating func write(_ batch: FeatureBatch) throws(FieldpackError)
  /// An encoder for the layers announced; `nil` where features have to come one by one.
  func encoder(skipsErrors: Bool) throws(FieldpackError) -> Encoder?
  /// Writes what an encoder of this writer has made.
  mutating func take(from encoder: inout Encoder) throws(FieldpackError)
  /// Completes the file and puts it in its place.
  ///
  /// - Returns: what the user should know of the file's place.
  mutating func finish() throws(FieldpackError) -> [String]
  /// The features passed over; a GeoPackage lists the first thousand.
  var skipped: SkippedFeatures { get }
  var notes: [String] { get }
  /// Stops the work from any thread, where that takes more than to end the task.
  var interrupt: (@Sendable () -> Void)? { get }
}

/// A writer of text with the output that it appends to.
struct TextFile<Text: FeatureTextWriter>: FormatWriter {
  private var text: Text
  private let output: ByteOutput
  private let takesPieces: Bool

  /// - Parameter takesPieces: whether encoders can make the text on several threads.
  init(
    _ place: ExportPlace, _ options: ExportOptions, takesPieces: Bool = true,
    _ make: (ByteOutput) -> Text
  ) throws(FieldpackError) {
    output = try place.output(options)
    text = make(output)
    self.takesPieces = takesPieces
  }

  mutating func begin(_ target: ExportTarget) throws(FieldpackError) {
    try text.begin(target.schema)
  }

  mutating func write(_ batch: FeatureBatch) throws(FieldpackError) { try batch.drive(&text) }

  func encoder(skipsErrors: Bool) -> Text.Encoder? { takesPieces ? text.encoder() : nil }

  mutating func take(from encoder: inout Text.Encoder) throws(FieldpackError) {
    try text.take(from: &encoder)
  }

  mutating func finish() throws(FieldpackError) -> [String] {
    try text.finish()
    try output.finish()
    return []
  }

  var skipped: SkippedFeatures { SkippedFeatures(text.skipped) }
  var notes: [String] { text.notes }
  var interrupt: (@Sendable () -> Void)? { nil }
}
