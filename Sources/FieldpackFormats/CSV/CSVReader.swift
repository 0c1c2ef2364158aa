public import FieldpackCore
import FieldpackGeometry

/// Reads CSV after RFC 4180 as one layer; the first row names the columns.
///
/// - The geometry is in a column `wkt`, `geometry` or `geom`, or in two named `lon`, `lng`,
///   `longitude` or `x`, and `lat`, `latitude` or `y`, whatever their case; without them the layer
///   has attributes alone. More than one choice is an error. Those columns are no attributes.
/// - The SRS is the one given, else WGS 84 where the names say degrees, else EWKT's, else undefined.
/// - A column is INTEGER, REAL, BOOLEAN (`true`, `false`), DATE or DATETIME where every value is
///   one, else TEXT unchanged: `007`, `+49` and integers beyond 64 bits stay text. An empty or
///   blank field is NULL, an empty one in quotes an empty text.
/// - A column `fid`, else `id`, of distinct integers gives the feature ids.
///
/// Rows with a wrong number of fields, broken quotes, WKT or UTF-8 are errors with their line.
public struct CSVReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
  /// How much of a file is looked at to guess its columns.
  static let headLength = 1 << 20
  /// The delimiters that a reader tells from one another.
  static let delimiters: [UInt8] = [
    UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"),
  ]

  public init(_ input: ByteInput, options: ReadOptions) {
    self.input = input
    self.options = options
  }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    var (scanner, header) = try open()
    var builder = CSVLayerBuilder(header, options: options, asked: nil)
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
    var (scanner, header) = try open()
    let asked = layers.first { $0.schema.layer == options.layer }
    for layer in layers { try sink.begin(layer.schema) }
    if let asked, layers.last != asked { try sink.begin(asked.schema) }
    var builder = CSVLayerBuilder(header, options: options, asked: asked)
    var result = FileReadResult(
      layers: [], skipped: SkippedFeatures(limit: options.skippedLimit),
      notes: header.notes.map { Note($0) })
    var bytesRead = 0
    while try scanner.nextRecord() {
      do throws(FieldpackError) {
        try builder.take(scanner)
      } catch {
        try pass(over: located(error, scanner, builder.count + result.skipped.count), &result)
        continue
      }
      if builder.rows.count > 0 {
        builder.rows.select(0)
        try sink.feature(builder.rows)
      }
      builder.rows.removeRows()
      if scanner.bytesRead != bytesRead {
        bytesRead = scanner.bytesRead
        try options.progress?(bytesRead)
      }
    }
    result.layers = [builder.found]
    result.counts = [options.layer: builder.count]
    if let note = builder.note { result.notes.append(Note(note)) }
    if let note = builder.geometry.note { result.notes.append(Note(note)) }
    if builder.geometry.lacksSRS {
      result.notes.append(
        Note("the file does not say its reference system", advice: .nameSourceSRS))
    }
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
  private func open() throws(FieldpackError) -> (CSVScanner, CSVHeader) {
    let position = FilePosition(file: input.name, line: 1)
    guard input.size > 0 else {
      throw FieldpackError(.invalidData, "the file is empty", position: position)
    }
    var scanner = try CSVScanner(input, delimiter: delimiter())
    guard try scanner.nextRecord() else {
      throw FieldpackError(.invalidData, "the file has no header", position: position)
    }
    if let problem = scanner.problem {
      throw FieldpackError(.invalidData, "the header: \(problem)", position: position)
    }
    let names = scanner.fields.map { String(decoding: scanner.text[$0.range], as: UTF8.self) }
    return (scanner, try CSVHeader(names, options: options, file: input.name))
  }

  /// The delimiter given, else the one that cuts most of the first rows like the header, then into
  /// most fields. A delimiter that leaves quotes inside unquoted names of the header is taken only
  /// where no other one cuts the header: writers put quotes around a name that holds a delimiter.
  private func delimiter() throws(FieldpackError) -> UInt8 {
    if let given = options.csv.delimiter { return given }
    var (best, bestRank) = (Self.delimiters[0], (0, 0.0, 1))
    for delimiter in Self.delimiters {
      var scanner = try CSVScanner(input, delimiter: delimiter)
      guard try scanner.nextRecord() else { break }
      let fields = scanner.fields.count
      guard fields > 1 else { continue }
      let headerRank = scanner.hasInnerQuote ? 0 : 1
      var (rows, equal) = (1, 1)
      while rows < 20, try scanner.nextRecord() {
        rows += 1
        if scanner.fields.count == fields { equal += 1 }
      }
      let rank = (headerRank, Double(equal) / Double(rows), fields)
      if rank > bestRank { (best, bestRank) = (delimiter, rank) }
    }
    return best
  }
}
