public import FieldpackCore
import FieldpackGeometry

/// Writes features as GeoJSON (RFC 7946): one FeatureCollection, or a Feature a line.
///
/// Rings follow the right-hand rule, curves are drawn with straight lines, M is dropped, and 2D
/// stays 2D. Integers keep their 64 bits, doubles their shortest form, and reals a `.0` that tells
/// them from integers; NaN and the infinities are null. Columns of JSON are nested again, blobs are
/// Base64, dates and times stand as stored. POINT EMPTY is null, as readers take it. The `id` is the column that keeps the ids of the
/// features' source, else the feature id, or the key tuple where asked for.
///
/// Coordinates are written as they come: RFC 7946 wants WGS 84, so transform before, or ask for the
/// member `crs`.
public struct GeoJSONWriter: FeatureSink {
  public enum Layout: Hashable, Sendable {
    /// One FeatureCollection, a Feature a line.
    case collection
    /// A Feature a line and nothing else, often called GeoJSONL or NDJSON.
    case lines
    /// A GeoJSON text sequence (RFC 8142): lines that begin with a record separator.
    case sequence
  }

  /// SpatialConnect's additions to a Feature: text ids, the member `metadata`, as it was read, else
  /// made from store, layer and client, and for one with a geometry a `bbox` of four numbers and
  /// the member `crs`. Unlike SpatialConnect, 2D points get no third coordinate.
  public struct SpatialConnect: Hashable, Sendable {
    public var store: StoreID?
    /// The id of the device.
    public var client: String?
    public var createdAt: Instant?
    /// The id of the edit that made the feature, by which a receiver knows it again, and who made it.
    public var editID: String?
    public var author: String?

    public init(
      store: StoreID? = nil, client: String? = nil, createdAt: Instant? = nil,
      editID: String? = nil, author: String? = nil
    ) {
      (self.store, self.client, self.createdAt) = (store, client, createdAt)
      (self.editID, self.author) = (editID, author)
    }
  }

  public struct Options: Sendable {
    public var layout = Layout.collection
    /// Writes the key tuple of this store, the layer and the feature as `id`.
    public var keyStore: StoreID?
    /// Rounds coordinates to so many decimals; `nil` writes the shortest exact form.
    public var decimals: Int?
    /// Writes the `bbox` of each feature and of the collection.
    public var writesBoundingBoxes = false
    /// Writes the member `crs` of GeoJSON before RFC 7946; only collections have a place for it.
    public var writesCRS = false
    public var spatialConnect: SpatialConnect?
    /// Whether features that cannot be written are skipped and reported, instead of throwing.
    public var skipsErrors = false
    /// Writes y before x, for reference systems that have latitude or northing first.
    package var swapsAxes = false
    /// Writes the feature id as `id` also where a column keeps the ids of the features' source, which is a
    /// property then.
    package var usesFeatureIDs = false

    public init() {}
  }

  private let output: ByteOutput
  private let options: Options
  private var encoding: GeoJSONEncoder
  private var hasBegun = false

  /// - Parameter output: gets the text. The caller finishes the output after ``finish()``.
  public init(_ output: ByteOutput, options: Options = Options()) {
    self.output = output
    self.options = options
    encoding = GeoJSONEncoder(options: options)
  }

  /// Begins the layer with its columns.
  ///
  /// - Throws: `.invalidArgument` for a second layer.
  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    try encoding.begin(schema)
    beginCollection()
  }

  private mutating func beginCollection() {
    guard !hasBegun else { return }
    hasBegun = true
    guard options.layout == .collection else { return }
    output.buffer += "{\"type\":\"FeatureCollection\",".utf8
    if options.writesCRS || options.spatialConnect != nil,
      let member = options.crsMember(encoding.schema?.geometry?.srs)
    {
      output.buffer += (member + ",").utf8
    }
    output.buffer += "\"features\":[".utf8
  }

  public mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError)
  {
    // Swapped in and out, so that the output's buffer grows in place.
    swap(&encoding.body.bytes, &output.buffer)
    do throws(FieldpackError) {
      try encoding.feature(row)
    } catch {
      swap(&encoding.body.bytes, &output.buffer)
      throw error
    }
    swap(&encoding.body.bytes, &output.buffer)
    if let failure = encoding.failure { throw failure }
    try output.flushIfFull()
  }

  /// Completes the document. The caller finishes the output.
  public mutating func finish() throws(FieldpackError) { try finish(with: []) }

  /// As ``finish()``.
  ///
  /// - Parameter members: more members of a collection, each behind a comma.
  package mutating func finish(with members: [UInt8]) throws(FieldpackError) {
    beginCollection()
    guard options.layout == .collection else { return }
    output.buffer += (count == 0 ? "]" : "\n]").utf8
    if options.writesBoundingBoxes, !encoding.envelope.isEmpty {
      output.buffer += ",\"bbox\":".utf8
      var box = GeoJSONGeometryWriter(decimals: options.decimals)
      box.write(box: encoding.envelope)
      output.buffer += box.bytes
    }
    output.buffer += members
    output.buffer += "}\n".utf8
    try output.flushIfFull()
  }
}

extension GeoJSONWriter.Options {
  /// The member `crs` of GeoJSON before RFC 7946, which SpatialConnect writes without a URN.
  func crsMember(_ srs: SRS?) -> String? {
    guard let srs, !srs.isUndefined else { return nil }
    let name =
      spatialConnect == nil
      ? "urn:ogc:def:crs:\(srs.organization)::\(srs.code)" : "\(srs.organization):\(srs.code)"
    return "\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"\(name)\"}}"
  }
}

extension GeoJSONWriter: FeatureTextWriter {
  /// Features written.
  public var count: Int { encoding.count }
  /// The features that were skipped.
  public var skipped: [SkippedFeature] { encoding.skipped }
  package var notes: [String] { [] }

  package func encoder() -> GeoJSONEncoder {
    var fresh = encoding
    fresh.removeAll()
    return fresh
  }

  package mutating func take(from encoder: inout GeoJSONEncoder) throws(FieldpackError) {
    // Every encoder leaves out the comma before its first feature.
    if options.layout == .collection, count > 0, encoder.count > 0 {
      output.buffer.append(UInt8(ascii: ","))
    }
    encoding.count += encoder.count
    encoding.skipped += encoder.skipped
    encoding.envelope.formUnion(encoder.envelope)
    defer { encoder.removeAll() }
    try output.write(encoder.body.bytes)
    if let failure = encoder.failure { throw failure }
  }
}
