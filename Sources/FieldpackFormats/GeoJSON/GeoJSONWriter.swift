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

  /// SpatialConnect's additions to a Feature: text ids and the member `metadata`, as it was read,
  /// else with what is known here. Unlike SpatialConnect, 2D points get no third coordinate.
  public struct SpatialConnect: Hashable, Sendable {
    public var store: StoreID?
    /// The id of the device.
    public var client: String?
    public var createdAt: Instant?

    public init(store: StoreID? = nil, client: String? = nil, createdAt: Instant? = nil) {
      self.store = store
      self.client = client
      self.createdAt = createdAt
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
    /// Passes over features that cannot be written instead of throwing.
    public var skipsErrors = false

    public init() {}
  }

  let output: ByteOutput
  let options: Options
  var schema: Schema?
  /// Holds the bytes being written, which are the output's buffer while a feature is.
  var body: GeoJSONGeometryWriter
  /// `"name":` of each column, with the comma before it; `nil` for columns that are no property.
  var names: [[UInt8]?] = []
  var idPlace: Int?
  var metadataPlace: Int?
  /// The key tuple up to the feature's part.
  var keyPrefix = ""
  private var envelope = Envelope.empty
  /// Features written.
  public private(set) var count = 0
  /// The features passed over.
  public private(set) var skipped: [SkippedFeature] = []

  /// - Parameter output: the caller finishes it after `finish`.
  public init(_ output: ByteOutput, options: Options = Options()) {
    self.output = output
    self.options = options
    body = GeoJSONGeometryWriter(decimals: options.decimals)
  }

  /// Takes the columns of the layer.
  ///
  /// - Throws: `.invalidArgument` for a second layer.
  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    if let first = self.schema {
      guard first.layer == schema.layer else {
        throw FieldpackError(
          .invalidArgument, "GeoJSON takes one layer, not '\(first.layer)' and '\(schema.layer)'",
          location: .init(layer: schema.layer))
      }
      return
    }
    self.schema = schema
    prepare(schema)
    if options.layout == .collection { beginCollection() }
  }

  private func beginCollection() {
    output.buffer += "{\"type\":\"FeatureCollection\",".utf8
    if options.writesCRS, let srs = schema?.geometry?.srs, !srs.isUndefined {
      let name = "urn:ogc:def:crs:\(srs.organization)::\(srs.code)"
      output.buffer += "\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"\(name)\"}},".utf8
    }
    output.buffer += "\"features\":[".utf8
  }

  public mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError)
  {
    guard let schema else {
      throw FieldpackError(.invalidArgument, "a feature came before its layer")
    }
    let start = output.buffer.count
    // Swapped in and out, so that the output's buffer grows in place.
    swap(&body.bytes, &output.buffer)
    let failure = append(row, schema)
    swap(&body.bytes, &output.buffer)
    if let failure {
      output.buffer.removeSubrange(start...)
      let place = KeyTuple.Partial(layer: schema.layer, feature: row.id)
      guard options.skipsErrors else {
        throw FieldpackError(
          .invalidData, "feature \(row.id) cannot be written: \(failure)", location: place)
      }
      skipped.append(SkippedFeature(location: place, reason: failure))
      return
    }
    count += 1
    try output.flushIfFull()
  }

  /// Appends a feature; says why where it cannot be one.
  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ schema: Schema
  ) -> String? {
    switch options.layout {
    case .collection: body.bytes += (count == 0 ? "\n" : ",\n").utf8
    case .lines: break
    case .sequence: body.bytes.append(0x1E)
    }
    body.bytes += "{\"type\":\"Feature\"".utf8
    appendID(row)
    body.bytes += ",\"properties\":{".utf8
    appendProperties(row, schema)
    body.bytes += "}".utf8
    if options.spatialConnect != nil { appendMetadata(row, schema) }
    body.bytes += ",\"geometry\":".utf8
    if let failure = appendGeometry(row) { return failure }
    body.bytes += (options.layout == .collection ? "}" : "}\n").utf8
    return nil
  }

  private mutating func appendGeometry(
    _ row: borrowing some FeatureRow & ~Copyable
  ) -> String? {
    let start = body.bytes.count
    let outcome = row.withGeometry { span -> String? in
      do throws(GeometryError) {
        try body.write(span)
        return body.failure
      } catch {
        return "\(error)"
      }
    }
    guard let failure = outcome, !body.isEmptyPoint else {
      // RFC 7946 section 3.1: a geometry without coordinates MAY be taken for null.
      body.bytes.removeSubrange(start...)
      body.bytes += "null".utf8
      return nil
    }
    if failure == nil, options.writesBoundingBoxes, let box = body.envelope.envelope {
      body.bytes += ",\"bbox\":".utf8
      body.write(box: box)
      envelope.formUnion(box)
    }
    return failure
  }

  /// Writes what is still open. The output is left to the caller to finish.
  public mutating func finish() throws(FieldpackError) {
    guard options.layout == .collection else { return }
    if schema == nil { beginCollection() }
    output.buffer += (count == 0 ? "]" : "\n]").utf8
    if options.writesBoundingBoxes, !envelope.isEmpty {
      output.buffer += ",\"bbox\":".utf8
      swap(&body.bytes, &output.buffer)
      body.write(box: envelope)
      swap(&body.bytes, &output.buffer)
    }
    output.buffer += "}\n".utf8
    try output.flushIfFull()
  }
}
