public import FieldpackCore
import FieldpackGeometry

/// Reads CSV after RFC 4180 as one layer; the first row names the columns.
///
/// - The geometry is in a column `wkt`, `geometry` or `geom`, as WKT or as WKB in hexadecimal, or in
///   two whose names say longitude and latitude, or x and y, in one of several languages, whatever
///   their case. Without them the layer has attributes alone, and a note says which columns may be
///   coordinates. More than one choice is an error, but degrees are taken before others. Those
///   columns are no attributes.
/// - The SRS is the one given, else WGS 84 where the names say degrees, else EWKT's, else undefined.
/// - A column is INTEGER, REAL, BOOLEAN (`true`, `false`), DATE or DATETIME where every value is
///   one, else TEXT unchanged: `007`, `+49` and integers beyond 64 bits stay text. An empty or
///   blank field is NULL, an empty one in quotes an empty text. Rows without any value are left out.
/// - All columns keep their names and their order; ids come from the column that is named for them,
///   ``ReadOptions/idColumn``, and from no other.
/// - Encoding, delimiter and decimal comma are found where the beginning of the file tells them for
///   certain; ``CSVOptions`` states them else.
///
/// Rows with a wrong number of fields, broken quotes, WKT or UTF-8 are errors with their line.
public struct CSVReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
  /// How much of a file is looked at to guess its columns.
  static let headLength = 1 << 20
  /// The delimiters that a reader tells from one another.
  static let delimiters: [UInt8] = [
    UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|"),
  ]

  public init(_ input: ByteInput, options: ReadOptions) {
    self.input = input
    self.options = options
  }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    var (scanner, header, dialect) = try open()
    var builder = CSVLayerBuilder(header, form: dialect.fields, options: options, asked: nil)
    while scanner.bytesRead <= Self.headLength, try scanner.nextRecord() {
      do throws(FieldpackError) {
        try builder.take(scanner)
      } catch {
        guard options.skipsErrors else { throw located(error, scanner, builder.count) }
      }
    }
    return [builder.found]
  }

  public mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    var (scanner, header, dialect) = try open()
    let asked = layers.first { $0.schema.layer == options.layer }
    for layer in layers { try sink.begin(layer.schema) }
    if let asked, layers.last != asked { try sink.begin(asked.schema) }
    var builder = CSVLayerBuilder(header, form: dialect.fields, options: options, asked: asked)
    var result = FileReadResult(
      layers: [], skipped: SkippedFeatures(limit: options.skippedLimit),
      notes: dialect.notes + header.notes)
    var bytesRead = 0
    while try scanner.nextRecord() {
      do throws(FieldpackError) {
        try builder.take(scanner)
      } catch {
        try pass(over: located(error, scanner, builder.count + result.skipped.count), &result)
        continue
      }
      try builder.rows.give(to: &sink)
      if scanner.bytesRead != bytesRead {
        bytesRead = scanner.bytesRead
        try options.progress?(bytesRead)
      }
    }
    result.layers = [builder.found]
    result.counts = [options.layer: builder.count]
    result.notes += builder.notes
    return result
  }

  private func pass(
    over error: FieldpackError, _ result: inout FileReadResult
  ) throws(FieldpackError) {
    guard options.skipsErrors else { throw error }
    result.skipped.add(SkippedFeature(error, position: error.position))
  }

  private func located(
    _ error: FieldpackError, _ scanner: CSVScanner, _ before: Int
  ) -> FieldpackError {
    error.adding(
      location: .init(layer: options.layer),
      position: FilePosition(file: input.name, line: scanner.recordLine, feature: before + 1))
  }

  /// Reads the header; the scanner then stands before the first row.
  private func open() throws(FieldpackError) -> (CSVScanner, CSVHeader, CSVDialect) {
    let position = FilePosition(file: input.name, line: 1)
    guard input.size > 0 else {
      throw FieldpackError(.invalidData, "the file is empty", position: position)
    }
    var dialect = try CSVDialect(of: input, options.csv)
    var scanner = try dialect.scanner(input)
    guard try scanner.nextRecord() else {
      throw FieldpackError(.invalidData, "the file has no header", position: position)
    }
    if let problem = scanner.problem {
      throw FieldpackError(
        .invalidData, "the header: \(problem)", advice: scanner.advice, position: position)
    }
    let names = scanner.texts
    let sample = try dialect.sniff(input, header: names)
    let header = try CSVHeader(names, sample: sample, options: options, file: input.name)
    return (scanner, header, dialect)
  }
}
