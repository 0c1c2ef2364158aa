import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// `query --json`: features of all layers and what there is to say of them, as one document that
/// is written while features are read.
struct QueryDocument {
  let invocation: Invocation
  let source: OpenedSource
  let query: Query

  func print() async throws(FieldpackError) -> Int32 {
    let prepared = try await prepared()
    let targets = prepared.targets
    let batches = try await prepared.batches()
    var counts = [Int](repeating: 0, count: targets.count)
    let output = invocation.output
    output.buffer.append(contentsOf: "{\"features\":[".utf8)
    var failure: FieldpackError?
    do throws(FieldpackError) {
      try await appendFeatures(of: batches, targets, &counts)
    } catch {
      // What is printed already has to become a whole document.
      guard error.isPartialFailure else { throw error }
      failure = error
    }
    output.buffer.append(contentsOf: "\n],".utf8)
    let report = batches.report.current
    let rest: JSONValue = [
      "layers": .array(zip(targets, counts).map { Self.layer($0, count: $1) }),
      "stores": .stores(of: source.workspace, asked: query.stores, failures: report.failures),
      "skipped": JSONValue(report.skipped),
      "transformations": .array(prepared.moved.map { JSONValue($0) }),
      "notes": JSONValue(report.notes),
      "error": failure.map { JSONValue(reason: $0) } ?? nil,
    ]
    output.buffer.append(contentsOf: rest.text.utf8.dropFirst())
    output.buffer.append(UInt8(ascii: "\n"))
    try output.flush()
    if let failure { throw failure }
    return invocation.finish(report, skipsErrors: query.skipsErrors)
  }

  private func appendFeatures(
    of batches: FeatureBatches, _ targets: [ExportTarget], _ counts: inout [Int]
  ) async throws(FieldpackError) {
    var separator = "\n"
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.skipsErrors = query.skipsErrors
    let iterator = batches.makeAsyncIterator()
    while let batch = try await iterator.next() {
      let number = targets.firstIndex {
        $0.store == batch.store && $0.layer == batch.schema.layer
      }
      let line = ByteOutput()
      var writer = GeoJSONWriter(line, options: options)
      defer { if let number { counts[number] += writer.count } }
      try writer.begin(batch.schema)
      for index in 0..<batch.count {
        try writer.feature(batch[index])
        if line.buffer.isEmpty { continue }
        try append(line.buffer, batch, index, &separator)
        line.buffer.removeAll(keepingCapacity: true)
      }
      for skipped in writer.skipped { batches.report.add(skipped: skipped) }
    }
  }

  /// In longitude and latitude as GeoJSON is, where every layer can be.
  private func prepared() async throws(FieldpackError) -> PreparedQuery {
    let prepared = try await source.workspace.prepare(query)
    let systems = prepared.layers.compactMap(\.schema.geometry?.srs)
    guard query.srs == nil, systems.contains(where: { $0 != .wgs84 }),
      !systems.contains(where: \.isUndefined)
    else { return prepared }
    return try await source.workspace.prepare(query.transformed(to: .wgs84))
  }

  /// Appends a GeoJSON feature with the members `store`, `layer` and `key` before the others.
  private func append(
    _ feature: [UInt8], _ batch: FeatureBatch, _ index: Int, _ separator: inout String
  ) throws(FieldpackError) {
    let (store, layer) = (batch.store, batch.schema.layer)
    let key = KeyTuple(store: store, layer: layer, feature: batch[index].id)
    let members: JSONValue = [
      "store": .text(store.rawValue), "layer": .text(layer.rawValue),
      "key": .text(key.description),
    ]
    let output = invocation.output
    output.buffer.append(contentsOf: separator.utf8)
    separator = ",\n"
    output.buffer.append(contentsOf: members.text.utf8.dropLast())
    output.buffer.append(UInt8(ascii: ","))
    output.buffer.append(contentsOf: feature.dropFirst().dropLast())
    try output.flushIfFull()
  }

  private static func layer(_ target: ExportTarget, count: Int) -> JSONValue {
    let geometry = target.schema.geometry
    return [
      "store": .text(target.store.rawValue), "layer": .text(target.layer.rawValue),
      "count": JSONValue(count), "geometry_type": JSONValue(geometry?.type.name),
      "srs": JSONValue(geometry?.srs.description),
      "columns": .array(target.schema.columns.map { JSONValue($0) }),
    ]
  }
}

extension JSONValue {
  /// How many features were passed over, and the first of them.
  init(_ skipped: SkippedFeatures) {
    self = [
      "count": JSONValue(skipped.count), "features": .array(skipped.listed.map { JSONValue($0) }),
    ]
  }

  init(_ transformed: ExportReport.Transformed) {
    self = [
      "store": .text(transformed.store.rawValue), "layer": .text(transformed.layer.rawValue),
      "transformation": JSONValue(transformed.report),
    ]
  }
}
