import FieldpackCore
import FieldpackFormats

extension ItemsRequest {
  /// A feature of the layer as GeoJSON and a line break; `nil` where there is none.
  ///
  /// - Parameter decimals: the decimals of the positions; `nil` for all.
  func bytes(
    of id: FeatureID, in snapshot: any SnapshotReading, decimals: Int? = nil
  ) throws(FieldpackError) -> [UInt8]? {
    var asked = self
    asked.filter = .compare(
      .column(layer.schema.idColumn ?? "fid"), .equal, .literal(id.columnValue))
    var sink = ItemSink(of: self, decimals: decimals)
    try snapshot.scan(asked.query(limit: 1, box: nil), into: &sink)
    if let failure = sink.encoder.failure { throw failure }
    return sink.encoder.count == 0 ? nil : sink.encoder.text
  }
}

/// Writes one feature. What all features of the layer repeat is worked out for the first one.
private struct ItemSink: FeatureSink {
  var encoder: GeoJSONEncoder
  private let request: ItemsRequest
  private let isKept: Bool

  init(of request: ItemsRequest, decimals: Int?) {
    self.request = request
    isKept = decimals == nil
    if isKept, let kept = request.layer.keptEncoders.encoder(for: request.crs) {
      encoder = kept
      return
    }
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.swapsAxes = request.swapsAxes
    options.usesFeatureIDs = true
    options.decimals = decimals
    encoder = GeoJSONEncoder(options: options)
  }

  mutating func begin(_ schema: Schema) throws(FieldpackError) {
    if encoder.schema == schema { return }
    encoder = GeoJSONEncoder(options: encoder.options)
    try encoder.begin(schema)
    if isKept { request.layer.keptEncoders.keep(encoder, for: request.crs) }
  }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    try encoder.feature(row)
  }
}

/// The encoders for single features of a layer, one for each of a few reference systems.
final class KeptEncoders: Sendable {
  private let encoders = Locked<[(crs: CRSName, encoder: GeoJSONEncoder)]>([])
  private static let mostSystems = 8

  func encoder(for crs: CRSName) -> GeoJSONEncoder? {
    encoders.withLock { encoders in encoders.first { $0.crs == crs }?.encoder }
  }

  func keep(_ encoder: GeoJSONEncoder, for crs: CRSName) {
    encoders.withLock { encoders in
      encoders.removeAll { $0.crs == crs }
      if encoders.count >= Self.mostSystems { encoders.removeAll() }
      encoders.append((crs, encoder))
    }
  }
}
