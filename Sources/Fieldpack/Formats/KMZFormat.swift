import FieldpackArchive
import FieldpackCore
import FieldpackFormats

extension Format {
  /// KML in a ZIP archive.
  public static let kmz = Format(KMZFormat())
}

private struct KMZFormat: ImportedFormat, StreamedFormat {
  let name = "kmz"
  let title = "KMZ"
  let extensions = ["kmz"]
  let holdsLayers = true
  let srsRule = SRSRule.onlyWGS84

  /// A ZIP archive by that extension, or one with KML among its first entries.
  func recognition(of head: FileHead) -> Recognition {
    guard Packing(head: head.bytes) == .zip else { return .none }
    return head.fileExtension == "kmz" || head.contains(".kml") ? .certain : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> KMZReader {
    KMZReader(input, options: options)
  }

  func writer(_ plan: ExportPlan, to place: ExportPlace) throws(FieldpackError) -> KMZFile {
    try KMZFile(place, plan.options)
  }
}

/// Reads the KML in an archive: `doc.kml`, else the first entry of that extension.
struct KMZReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
  private var opened: KMLReader?

  init(_ input: ByteInput, options: ReadOptions) {
    self.input = input
    self.options = options
  }

  private mutating func reader() throws(FieldpackError) -> KMLReader {
    if let opened { return opened }
    let archive = try ZipReader(input)
    let documents = archive.entries.filter { $0.name.lowercased().hasSuffix(".kml") }
    guard
      let entry = documents.first(where: { $0.name.lowercased() == "doc.kml" })
        ?? documents.first
    else {
      throw FieldpackError(
        .invalidData, "the archive has no entry that ends in .kml",
        position: FilePosition(file: input.name))
    }
    let progress = options.progress
    let contents = try archive.open(entry) { () throws(FieldpackError) in try progress?(0) }
    let made = KMLReader(contents, options: options)
    opened = made
    return made
  }

  mutating func assume() throws(FieldpackError) -> [FileLayer] {
    var reader = try reader()
    defer { opened = reader }
    return try reader.assume()
  }

  mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    var reader = try reader()
    return try reader.read(as: layers, into: &sink)
  }
}

/// A KML writer whose text goes into an archive as `doc.kml`.
struct KMZFile: FormatWriter {
  private var text: KMLWriter
  private let document: ByteOutput
  private let archive: ZipWriter
  private let output: ByteOutput

  init(_ place: ExportPlace, _ options: ExportOptions) throws(FieldpackError) {
    output = try place.output(options)
    archive = try ZipWriter()
    document = archive.output("doc.kml")
    text = KMLWriter(document, options: KMLWriter.Options(options))
  }

  mutating func begin(_ target: ExportTarget) throws(FieldpackError) {
    try text.begin(target.schema)
  }

  mutating func write(_ batch: FeatureBatch) throws(FieldpackError) { try batch.drive(&text) }

  func encoder(skipsErrors: Bool) -> KMLEncoder? { text.encoder() }

  mutating func take(from encoder: inout KMLEncoder) throws(FieldpackError) {
    try text.take(from: &encoder)
  }

  mutating func finish() throws(FieldpackError) -> [String] {
    try text.finish()
    try document.finish()
    try archive.finish(into: output)
    try output.finish()
    return []
  }

  var skipped: SkippedFeatures { SkippedFeatures(text.skipped) }
  var notes: [String] { text.notes }
  var interrupt: (@Sendable () -> Void)? { nil }
}
