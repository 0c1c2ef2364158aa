public import FieldpackCore
import FieldpackGeometry

/// Writes one layer as CSV after RFC 4180: UTF-8, CRLF, a header, quotes where needed.
///
/// The columns are the key tuple if asked for, the feature id, the attributes in their order, and
/// the geometry. NULL is an empty field and an empty text `""`; booleans are `true` and `false`,
/// reals keep a `.0` that tells them from integers, blobs are Base64. Texts are not altered, also
/// where a spreadsheet takes them for a formula.
public struct CSVWriter: FeatureSink {
  /// How the geometry is written.
  public enum GeometryForm: Hashable, Sendable {
    /// One column `wkt`.
    case wkt
    /// Two columns `x` and `y`, for points; anything else is an error.
    case xy
  }

  public struct Options: Sendable {
    public var geometry = GeometryForm.wkt
    public var delimiter = UInt8(ascii: ",")
    /// Writes a first column `key` with the tuple of this store, the layer and the feature.
    public var keyStore: StoreID?
    /// Rounds coordinates to so many decimals; `nil` writes the shortest exact form.
    public var decimals: Int?
    /// Whether features that cannot be written are skipped and reported, instead of throwing.
    public var skipsErrors = false

    public init() {}
  }

  private let output: ByteOutput
  private var encoding: CSVEncoder
  private var hasHeader = false

  /// - Parameter output: gets the text. The caller finishes the output after the last feature.
  public init(_ output: ByteOutput, options: Options = Options()) {
    self.output = output
    encoding = CSVEncoder(options: options)
  }

  /// Writes the header.
  ///
  /// - Throws: `.invalidArgument` for a second layer.
  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    try encoding.begin(schema)
    guard !hasHeader else { return }
    hasHeader = true
    var header = encoder()
    header.appendHeader(schema)
    try take(from: &header)
  }

  public mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError)
  {
    // Swapped in and out, so that the output's buffer grows in place.
    swap(&encoding.bytes, &output.buffer)
    do throws(FieldpackError) {
      try encoding.feature(row)
    } catch {
      swap(&encoding.bytes, &output.buffer)
      throw error
    }
    swap(&encoding.bytes, &output.buffer)
    if let failure = encoding.failure { throw failure }
    try output.flushIfFull()
  }
}

extension CSVWriter: FeatureTextWriter {
  /// The features that were skipped.
  public var skipped: [SkippedFeature] { encoding.skipped }
  package var notes: [String] { [] }

  package func encoder() -> CSVEncoder {
    var fresh = encoding
    fresh.removeAll()
    return fresh
  }

  package mutating func take(from encoder: inout CSVEncoder) throws(FieldpackError) {
    encoding.skipped += encoder.skipped
    defer { encoder.removeAll() }
    try output.write(encoder.bytes)
    if let failure = encoder.failure { throw failure }
  }

  package mutating func finish() {}
}
