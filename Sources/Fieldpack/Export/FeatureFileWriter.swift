import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// The writer of one file, whatever its format; takes batches.
enum FeatureFileWriter {
  case geoJSON(GeoJSONWriter, ByteOutput)
  case gpx(GPXWriter, ByteOutput)
  case csv(CSVWriter, ByteOutput)
  case geoPackage(GeoPackageExport)
  /// A writer that has failed or is at work.
  case closed

  /// What is written where.
  struct Plan: Sendable {
    var format: Format
    var targets: [ExportTarget]
    var options: ExportOptions
    /// The SRS asked for, where it is not the one of the format.
    var srs: SRS?
  }

  /// A writer to bytes.
  init(_ plan: Plan, to output: ByteOutput) throws(FieldpackError) {
    switch plan.format {
    case .geoJSON, .geoJSONSequence:
      self = .geoJSON(GeoJSONWriter(output, options: plan.geoJSON), output)
    case .gpx:
      var options = GPXWriter.Options()
      options.dialect = plan.options.gpxDialect
      options.skipsErrors = plan.options.skipsErrors
      self = .gpx(GPXWriter(output, options: options), output)
    case .csv:
      var options = CSVWriter.Options()
      options.keyStore = plan.keyStore
      options.decimals = plan.options.decimals
      options.skipsErrors = plan.options.skipsErrors
      self = .csv(CSVWriter(output, options: options), output)
    default:
      throw FieldpackError(
        .invalidArgument, "\(plan.format.title) can only be written to a file",
        advice: .writeToFile)
    }
  }

  /// A writer to a file, which appears when ``finish()`` has run.
  init(_ plan: Plan, to path: String) throws(FieldpackError) {
    if plan.format == .geoPackage {
      self = .geoPackage(try GeoPackageExport(creating: path, options: plan.options))
    } else {
      let output = try ByteOutput(replacing: path, overwrite: plan.options.overwrite)
      self = try FeatureFileWriter(plan, to: output)
    }
  }

  /// Announces a layer, which may stay without rows.
  mutating func begin(_ target: ExportTarget) throws(FieldpackError) {
    switch take() {
    case .geoJSON(var writer, let output):
      try writer.begin(target.schema)
      self = .geoJSON(writer, output)
    case .gpx(var writer, let output):
      try writer.begin(target.schema)
      self = .gpx(writer, output)
    case .csv(var writer, let output):
      try writer.begin(target.schema)
      self = .csv(writer, output)
    case .geoPackage(let export):
      try export.create(target)
      self = .geoPackage(export)
    case .closed: break
    }
  }

  mutating func write(_ batch: FeatureBatch) throws(FieldpackError) {
    switch take() {
    case .geoJSON(var writer, let output):
      try batch.drive(&writer)
      self = .geoJSON(writer, output)
    case .gpx(var writer, let output):
      try batch.drive(&writer)
      self = .gpx(writer, output)
    case .csv(var writer, let output):
      try batch.drive(&writer)
      self = .csv(writer, output)
    case .geoPackage(let export):
      try export.write(batch)
      self = .geoPackage(export)
    case .closed: break
    }
  }

  /// Encoders for pieces of the answer, in the format's own type.
  enum Encoder: Sendable {
    case geoJSON(GeoJSONEncoder)
    case gpx(GPXEncoder)
    case csv(CSVEncoder)
    case geoPackage(GeoPackageEncoder)

    var layer: LayerID? {
      switch self {
      case .geoJSON(let encoder): encoder.layer
      case .gpx(let encoder): encoder.layer
      case .csv(let encoder): encoder.layer
      case .geoPackage(let encoder): encoder.layer
      }
    }

    /// Features that were encoded.
    var count: Int {
      switch self {
      case .geoJSON(let encoder): encoder.count
      case .gpx(let encoder): encoder.count
      case .csv(let encoder): encoder.count
      case .geoPackage(let encoder): encoder.count
      }
    }
  }

  /// An encoder for the layers announced; `nil` where features have to come one by one.
  func encoder(skipsErrors: Bool) throws(FieldpackError) -> Encoder? {
    switch self {
    case .geoJSON(let writer, _): .geoJSON(writer.encoder())
    case .gpx(let writer, _):
      writer.options.dialect == .gpx11 ? .gpx(writer.encoder()) : nil
    case .csv(let writer, _): .csv(writer.encoder())
    case .geoPackage(let export):
      try export.encoder(skipsErrors: skipsErrors).map { .geoPackage($0) }
    case .closed: nil
    }
  }

  /// Writes what an encoder of this writer has made.
  mutating func take(_ encoder: Encoder) throws(FieldpackError) {
    switch (take(), encoder) {
    case (.geoJSON(var writer, let output), .geoJSON(var encoder)):
      try writer.take(from: &encoder)
      self = .geoJSON(writer, output)
    case (.gpx(var writer, let output), .gpx(var encoder)):
      try writer.take(from: &encoder)
      self = .gpx(writer, output)
    case (.csv(var writer, let output), .csv(var encoder)):
      try writer.take(from: &encoder)
      self = .csv(writer, output)
    case (.geoPackage(let export), .geoPackage(var encoder)):
      try export.take(from: &encoder)
      self = .geoPackage(export)
    case (let other, _): self = other
    }
  }

  /// Completes the file and puts it in its place.
  /// - Returns: what the user should know of the file's place.
  @discardableResult
  mutating func finish() throws(FieldpackError) -> [String] {
    switch take() {
    case .geoJSON(var writer, let output):
      try writer.finish()
      try output.finish()
    case .gpx(var writer, let output):
      try writer.finish()
      try output.finish()
    case .csv(_, let output): try output.finish()
    case .geoPackage(let export): return try export.finish()
    case .closed: break
    }
    return []
  }

  /// Takes the writer out, so that its buffers are changed in place and not copied.
  private mutating func take() -> FeatureFileWriter {
    let taken = self
    self = .closed
    return taken
  }

  /// The features passed over; a GeoPackage lists the first thousand.
  var skipped: SkippedFeatures {
    switch self {
    case .geoJSON(let writer, _): SkippedFeatures(writer.skipped)
    case .gpx(let writer, _): SkippedFeatures(writer.skipped)
    case .csv(let writer, _): SkippedFeatures(writer.skipped)
    case .geoPackage(let export): export.skipped
    case .closed: SkippedFeatures()
    }
  }

  var notes: [String] {
    if case .gpx(let writer, _) = self { return writer.notes }
    return []
  }

  /// Stops the work from any thread, where that takes more than to end the task.
  var interrupt: (@Sendable () -> Void)? {
    if case .geoPackage(let export) = self { return export.interrupt }
    return nil
  }
}

extension FeatureFileWriter.Plan {
  /// The store of the one layer, where its keys are written.
  fileprivate var keyStore: StoreID? { options.writesKeys ? targets.first?.store : nil }

  fileprivate var geoJSON: GeoJSONWriter.Options {
    var writing = GeoJSONWriter.Options()
    if format == .geoJSONSequence {
      writing.layout = options.writesRecordSeparators ? .sequence : .lines
    }
    writing.keyStore = keyStore
    writing.decimals = options.decimals
    writing.writesBoundingBoxes = options.writesBoundingBoxes
    writing.writesCRS = srs != nil
    writing.skipsErrors = options.skipsErrors
    if options.dialect == .spatialConnect {
      writing.spatialConnect = .init(store: targets.first?.store)
    }
    return writing
  }
}
