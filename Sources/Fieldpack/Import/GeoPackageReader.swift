import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry

/// Reads the layers of a GeoPackage for an import into another one.
final class GeoPackageReader: FileReader {
  private let input: (path: String?, name: String, size: Int)
  private let options: ReadOptions
  /// Whether the layer gets another name.
  private let renames: Bool
  private var opened: GeoPackageSource?
  private var layers: [GeoPackageSource.SourceLayer] = []
  private var found: [FileLayer] = []
  /// The rows that are left out because the target has equal ones, with the ids of these, by the
  /// index of the layer.
  var equals: [Int: [Int64: [Int64]]] = [:]

  init(_ input: ByteInput, options: ReadOptions) {
    self.input = (input.path, input.name, input.size)
    self.options = options
    renames = options.prefixesLayers
  }

  /// The file, once ``assume()`` has been called.
  var source: GeoPackageSource {
    get throws(FieldpackError) {
      if let opened { return opened }
      guard let path = input.path else {
        throw FieldpackError(
          .invalidArgument, "a GeoPackage cannot be read from standard input")
      }
      let source = try GeoPackageSource(path: path, store: FileImport.storeID(of: path))
      opened = source
      return source
    }
  }

  func assume() throws(FieldpackError) -> [FileLayer] {
    guard options.idColumn == nil else {
      throw FieldpackError(
        .invalidArgument, "the features of \(input.name) have ids already, which stay",
        advice: .omitIDColumn)
    }
    layers = try source.layers(only: options.only)
    let named = try named()
    found = layers.indices.map { index in
      var schema = layers[index].schema
      if let srs = options.sourceSRS, schema.geometry?.srs.isUndefined == true {
        schema.geometry?.srs = srs
      }
      if index == named { schema.layer = options.layer }
      return FileLayer(schema: schema, ids: layers[index].hasIDs ? .file : .ordinal)
    }
    return found
  }

  /// The layer that gets another name; `nil` where all keep theirs. The media that come with a layer
  /// keep theirs.
  private func named() throws(FieldpackError) -> Int? {
    guard renames else { return nil }
    let asked = options.only.map { only in
      layers.indices.filter { index in
        only.contains { $0.lowercased() == layers[index].schema.layer.rawValue.lowercased() }
      }
    }
    let candidates = asked ?? Array(layers.indices)
    if candidates.count == 1 { return candidates[0] }
    let names = layers.map(\.schema.layer.rawValue).joined(separator: ", ")
    throw FieldpackError(
      .invalidArgument,
      "\(input.name) has \(layers.count.counting("layer")) (\(names)), and one name is given",
      advice: .nameSourceLayer(file: input.name))
  }

  /// The layers' reference systems as the file defines them, where the file's own count.
  func system(of index: Int, as layer: FileLayer) -> StoredSRS? {
    guard let system = layers[index].system, system.srs == layer.schema.geometry?.srs else {
      return nil
    }
    return system
  }

  /// The name that a layer has in the file.
  func name(of index: Int) -> LayerID { layers[index].schema.layer }

  /// The layers that come only because others are linked to them, by their indexes.
  var media: Set<Int> { Set(layers.indices.filter { layers[$0].comesAlong }) }

  func highestID(of index: Int) throws(FieldpackError) -> Int64? {
    try source.highestID(of: name(of: index))
  }

  func read(
    as asked: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    var result = FileReadResult(layers: found)
    for index in layers.indices {
      let first = input.size / layers.count * index
      var rows = MergedRows(
        sink: sink, schema: asked[index].schema, last: try highestID(of: index) ?? 0,
        bytes: first...(first + input.size / layers.count), progress: options.progress)
      rows.left = equals[index] ?? [:]
      let told = try source.scan(
        name(of: index), skipsErrors: options.skipsErrors, into: &rows)
      sink = rows.sink
      result.skipped.add(told.skipped)
      result.notes += told.notes
      result.counts[result.layers[index].schema.layer] = rows.count
    }
    let others = options.only == nil ? try source.leftBehind() : []
    if !others.isEmpty {
      result.notes.append(
        Note("only layers are imported, not \(others.joined(separator: ", "))"))
    }
    return result
  }
}

/// Gives rows on under the schema of the layer that they go into.
private struct MergedRows<Sink: FeatureSink>: FeatureSink {
  var sink: Sink
  let schema: Schema
  /// The last id of the layer, which tells how far the reading is.
  let last: Int64
  let bytes: ClosedRange<Int>
  let progress: (@Sendable (Int) throws(FieldpackError) -> Void)?
  /// The rows that are not given on.
  var left: [Int64: [Int64]] = [:]
  private(set) var count = 0

  init(
    sink: Sink, schema: Schema, last: Int64, bytes: ClosedRange<Int>,
    progress: (@Sendable (Int) throws(FieldpackError) -> Void)?
  ) {
    (self.sink, self.schema, self.last) = (sink, schema, last)
    (self.bytes, self.progress) = (bytes, progress)
  }

  mutating func begin(_: Schema) throws(FieldpackError) { try sink.begin(schema) }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    if !left.isEmpty, case .integer(let id) = row.id, left[id] != nil { return }
    try sink.feature(row)
    count += 1
    guard count & 4095 == 0 else { return }
    let part = min(1, Double(count) / Double(max(last, Int64(count))))
    try progress?(bytes.lowerBound + Int(Double(bytes.count - 1) * part))
  }
}
