import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation

/// Keeps every feature that it is given, by layer.
struct GPXCollector: FeatureSink {
  private(set) var begins: [LayerID] = []
  private(set) var features: [LayerID: [Feature]] = [:]
  private(set) var envelopes: [LayerID: Envelope] = [:]
  private var schema: Schema?

  mutating func begin(_ schema: Schema) throws(FieldpackError) {
    begins.append(schema.layer)
    self.schema = schema
    if features[schema.layer] == nil { features[schema.layer] = [] }
  }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    guard let schema else { throw FieldpackError(.invalidArgument, "a row before its layer") }
    let key = KeyTuple(store: "test", layer: schema.layer, feature: row.id)
    var attributes = Attributes()
    for (index, column) in schema.columns.enumerated() {
      let value = row.value(at: index, of: column.type)
      if !value.isNull { attributes[column.name] = value }
    }
    let geometry = try row.geometry(key: key)
    features[schema.layer, default: []].append(
      Feature(id: row.id, geometry: geometry, attributes: attributes))
    if let envelope = row.envelope {
      var whole = envelopes[schema.layer] ?? .empty
      whole.formUnion(envelope)
      envelopes[schema.layer] = whole
    }
  }
}

/// What reading a file gave in the end, after as many passes as it took.
struct GPXReading {
  var collector: GPXCollector
  var result: FileReadResult
  var passes: Int

  /// Runs the protocol of ``FileReader``.
  init(_ reader: some FileReader) throws {
    var reader = reader
    var layers = try reader.assume()
    passes = 0
    repeat {
      passes += 1
      collector = GPXCollector()
      result = try reader.read(as: layers, into: &collector)
      if result.layers == layers { return }
      layers = result.layers
    } while passes < 3
    throw FieldpackError(.invalidData, "the shape of the file is not settled after 3 passes")
  }

  func schema(_ layer: LayerID) -> Schema? {
    result.layers.first { $0.schema.layer == layer }?.schema
  }

  /// `name TYPE` for each column of a layer.
  func columns(_ layer: LayerID) -> [String] {
    schema(layer)?.columns.map { "\($0.name) \($0.type.sql)" } ?? []
  }

  func features(_ layer: LayerID) -> [Feature] { collector.features[layer] ?? [] }

  func values(_ layer: LayerID, _ column: String) -> [Value] {
    features(layer).map { $0.attributes[column] ?? .null }
  }
}

func readGPX(
  _ text: String, _ change: (inout ReadOptions) -> Void = { _ in }
) throws -> GPXReading {
  try readGPX(bytes: Array(text.utf8), change)
}

func readGPX(
  bytes: [UInt8], _ change: (inout ReadOptions) -> Void = { _ in }
) throws -> GPXReading {
  let folder = try TemporaryFolder()
  let url = folder.file("test.gpx")
  try Data(bytes).write(to: url)
  return try readGPX(url, change)
}

func readGPX(_ url: URL, _ change: (inout ReadOptions) -> Void = { _ in }) throws -> GPXReading {
  var options = ReadOptions(layer: "test")
  change(&options)
  return try GPXReading(GPXReader(ByteInput(path: url.path), options: options))
}

/// The text as a file; the file is gone from its folder at once, and its contents stay readable.
func gpxInput(_ text: String) throws -> ByteInput {
  let folder = try TemporaryFolder()
  return try ByteInput(path: folder.write(text, to: "test.gpx").path)
}
