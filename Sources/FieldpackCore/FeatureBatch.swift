public import FieldpackGeometry

/// Up to 1,024 features of one layer in columns: eight bytes a cell, texts, blobs and geometries in
/// one byte array beside them.
public struct FeatureBatch: Sendable {
  public let store: StoreID
  public let schema: Schema
  public internal(set) var ids: [FeatureID] = []
  var kinds: [ValueKind] = []
  /// An integer, the bits of a real, or `offset << 32 | length` of bytes; row by row.
  var cells: [UInt64] = []
  var geometries: [UInt64] = []
  var envelopes: [Envelope?] = []
  var bytes: [UInt8] = []

  static let noGeometry = UInt64.max

  public init(store: StoreID, schema: Schema) {
    self.store = store
    self.schema = schema
  }

  public var count: Int { ids.count }
  public var isEmpty: Bool { ids.isEmpty }

  /// Bytes of texts, blobs and geometries.
  public var byteCount: Int { bytes.count }

  /// The batch is full: 1,024 rows, or 1 MiB of bytes.
  public var isFull: Bool { count >= 1024 || bytes.count >= 1 << 20 }

  /// The row at `index`, a view into the batch.
  public subscript(index: Int) -> Row { Row(batch: self, index: index) }

  /// The feature at `index` as a value, geometry decoded.
  public func feature(at index: Int) throws(FieldpackError) -> Feature {
    let row = self[index]
    var elements: [Attributes.Element] = []
    elements.reserveCapacity(schema.columns.count)
    for (place, column) in schema.columns.enumerated() {
      elements.append(.init(name: column.name, value: row.value(at: place, of: column.type)))
    }
    let key = KeyTuple(store: store, layer: schema.layer, feature: row.id)
    let geometry = try row.geometry(key: key)
    return Feature(key: key, geometry: geometry, attributes: Attributes(elements))
  }

  /// Gives every row to `sink`, after `begin` when `announcing`.
  public func drive(
    _ sink: inout some FeatureSink, announcing: Bool = true
  ) throws(FieldpackError) {
    if announcing { try sink.begin(schema) }
    for index in 0..<count { try sink.feature(self[index]) }
  }

  /// A row of a batch.
  public struct Row: FeatureRow {
    let batch: FeatureBatch
    let index: Int

    public var id: FeatureID { batch.ids[index] }
    public var envelope: Envelope? { batch.envelopes[index] }

    private func cell(_ column: Int) -> Int { index * batch.schema.columns.count + column }

    public func kind(at column: Int) -> ValueKind { batch.kinds[cell(column)] }

    public func integer(at column: Int) -> Int64 {
      switch kind(at: column) {
      case .integer: Int64(bitPattern: batch.cells[cell(column)])
      default: 0
      }
    }

    public func real(at column: Int) -> Double {
      switch kind(at: column) {
      case .real: Double(bitPattern: batch.cells[cell(column)])
      case .integer: Double(Int64(bitPattern: batch.cells[cell(column)]))
      default: .nan
      }
    }

    public func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      switch kind(at: column) {
      case .text, .blob: try batch.withBytes(batch.cells[cell(column)], body)
      default: try batch.withBytes(0, body)
      }
    }

    public func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      let place = batch.geometries[index]
      guard place != FeatureBatch.noGeometry else { return nil }
      return try batch.withBytes(place, body)
    }
  }

  private func withBytes<R, E: Error>(
    _ place: UInt64, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let offset = Int(place >> 32)
    let length = Int(place & 0xFFFF_FFFF)
    return try body(bytes.span.bytes.extracting(offset..<offset + length))
  }
}

extension FeatureBatch {
  /// Copies a row into the batch.
  public mutating func append(_ row: borrowing some FeatureRow & ~Copyable) {
    ids.append(row.id)
    for column in schema.columns.indices {
      let kind = row.kind(at: column)
      kinds.append(kind)
      switch kind {
      case .null: cells.append(0)
      case .integer: cells.append(UInt64(bitPattern: row.integer(at: column)))
      case .real: cells.append(row.real(at: column).bitPattern)
      case .text, .blob:
        let place = row.withBytes(at: column) { span in appendBytes(span) }
        cells.append(place)
      }
    }
    let place = row.withGeometry { span in appendBytes(span) }
    geometries.append(place ?? Self.noGeometry)
    envelopes.append(row.envelope)
  }

  private mutating func appendBytes(_ span: RawSpan) -> UInt64 {
    let offset = bytes.count
    span.withUnsafeBytes { bytes.append(contentsOf: $0) }
    return UInt64(offset) << 32 | UInt64(span.byteCount)
  }
}

extension FeatureRow where Self: ~Copyable {
  /// The geometry, decoded; the error names `key`.
  public borrowing func geometry(key: KeyTuple) throws(FieldpackError) -> Geometry? {
    let place = KeyTuple.Partial(store: key.store, layer: key.layer, feature: key.feature)
    return try withGeometry { span throws(FieldpackError) in
      do {
        return try WKB.read(span)
      } catch {
        throw FieldpackError(
          .invalidData, "the geometry of feature \(key.feature) in layer '\(key.layer)': \(error)",
          location: place, underlying: error)
      }
    }
  }
}
