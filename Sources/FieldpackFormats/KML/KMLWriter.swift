public import FieldpackCore
import FieldpackGeometry

/// Writes layers as one KML 2.2 document, each layer a document in it with its schema.
///
/// - Columns with the name of a field that ``KMLReader`` gives, whatever their case, become that element:
///   `name`, `description`, `timestamp`, `begin`, `end`, `visibility`, `altitudeMode`, and the colours of
///   simplestyle as a style. Others are extended data, typed by the schema; so is a value that
///   the element cannot have.
/// - A layer's own style, where it has one, is shared by its features.
/// - Coordinates are taken as WGS 84. Shells are written counterclockwise, holes clockwise; curves are
///   drawn with straight lines.
/// - A line whose m ascend and are Unix seconds from 1990 to 2100 is a `gx:Track` with these times, in
///   milliseconds, and several are a `gx:MultiTrack`. Other m is left out.
public struct KMLWriter: FeatureSink {
  public struct Options: Sendable {
    /// Whether features that cannot be written are skipped and reported, instead of throwing.
    public var skipsErrors = false

    public init() {}
  }

  private let output: ByteOutput
  private var encoding: KMLEncoder
  /// The layers that have been opened, and the one whose document is open.
  private var written: Set<Int> = []
  private var current: Int?
  private var hasHeader = false
  private var withM: Set<LayerID> = []
  public private(set) var skipped: [SkippedFeature] = []

  /// - Parameter output: gets the text. The caller finishes the output after ``finish()``.
  public init(_ output: ByteOutput, options: Options = Options()) {
    self.output = output
    encoding = KMLEncoder(skipsErrors: options.skipsErrors)
  }

  /// Notes on what KML has no place for.
  public var notes: [String] {
    encoding.layers.map(\.schema.layer).filter(withM.contains).map {
      "layer '\($0)': the m of its geometries is left out"
    }
  }

  public mutating func begin(_ schema: Schema) throws(FieldpackError) {
    try encoding.begin(schema)
  }

  public mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    try encoding.feature(row)
    if encoding.isFull { try takeEncoded() }
  }

  /// Completes the document.
  public mutating func finish() throws(FieldpackError) {
    try takeEncoded()
    writeHeader()
    endLayer()
    output.buffer.append(contentsOf: "</Document>\n</kml>\n".utf8)
    try output.flushIfFull()
  }

  private mutating func takeEncoded() throws(FieldpackError) {
    // Taken out, so that its buffers are not shared while they are emptied.
    var taken = encoding
    encoding.removeAll()
    defer {
      taken.removeAll()
      encoding = taken
    }
    try take(from: &taken)
  }

  private mutating func writeHeader() {
    guard !hasHeader else { return }
    hasHeader = true
    output.buffer.append(
      contentsOf: """
        <?xml version="1.0" encoding="UTF-8"?>
        <kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
        <Document>

        """.utf8)
  }

  private mutating func endLayer() {
    if current != nil { output.buffer.append(contentsOf: "</Document>\n".utf8) }
    current = nil
  }
}

extension KMLWriter: FeatureTextWriter {
  package func encoder() -> KMLEncoder {
    var fresh = encoding
    fresh.removeAll()
    return fresh
  }

  package mutating func take(from encoder: inout KMLEncoder) throws(FieldpackError) {
    defer { encoder.removeAll() }
    skipped += encoder.skipped
    withM.formUnion(encoder.withM)
    var start = 0
    for part in encoder.parts {
      writeHeader()
      if current != part.layer {
        endLayer()
        current = part.layer
        let isFirst = written.insert(part.layer).inserted
        encoder.layers[part.layer].appendHead(isFirst: isFirst, to: &output.buffer)
      }
      try output.write(Array(encoder.bytes[start..<part.end]))
      start = part.end
    }
    if let failure = encoder.failure { throw failure }
  }
}

/// Encodes features as placemarks; see ``KMLWriter``.
package struct KMLEncoder: FeatureTextEncoder {
  /// Placemarks of one layer, which end at `end` of ``bytes``.
  struct Part {
    var layer: Int
    var end: Int
  }

  private let skipsErrors: Bool
  private(set) var layers: [KMLWriteLayer] = []
  private var current = -1
  private(set) var bytes: [UInt8] = []
  private(set) var parts: [Part] = []
  package private(set) var count = 0
  private(set) var skipped: [SkippedFeature] = []
  private(set) var withM: Set<LayerID> = []
  package private(set) var failure: FieldpackError?

  init(skipsErrors: Bool) { self.skipsErrors = skipsErrors }

  package var layer: LayerID? { current < 0 ? nil : layers[current].schema.layer }
  package var byteCount: Int { bytes.count }

  /// Forgets the features, not the layers.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    parts.removeAll(keepingCapacity: true)
    count = 0
    skipped = []
    failure = nil
  }

  package mutating func begin(_ schema: Schema) throws(FieldpackError) {
    if let known = layers.firstIndex(where: { $0.schema == schema }) {
      current = known
      return
    }
    layers.append(KMLWriteLayer(schema, number: layers.count + 1))
    current = layers.count - 1
  }

  package mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard current >= 0 else {
      throw FieldpackError(.invalidArgument, "a feature came before its layer")
    }
    guard failure == nil else { return }
    let start = bytes.count
    do throws(FieldpackError) {
      if try layers[current].append(row, to: &bytes) { withM.insert(layers[current].schema.layer) }
      count += 1
    } catch {
      bytes.removeSubrange(start...)
      let location = KeyTuple.Partial(layer: layers[current].schema.layer, feature: row.id)
      guard skipsErrors else {
        failure = error.adding(location: location)
        return
      }
      skipped.append(
        SkippedFeature(location: location, reason: error.message, advice: error.advice))
      return
    }
    if let last = parts.indices.last, parts[last].layer == current {
      parts[last].end = bytes.count
    } else {
      parts.append(Part(layer: current, end: bytes.count))
    }
  }
}
