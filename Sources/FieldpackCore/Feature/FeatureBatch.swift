public import FieldpackGeometry

/// Up to 1,024 features of one layer. One byte array holds all their texts, blobs and geometries.
public struct FeatureBatch: Sendable {
  public let store: StoreID
  public package(set) var schema: Schema
  @usableFromInline var rows: BatchRows
  /// The indexes of all columns.
  @usableFromInline let columns: [Int]

  public init(store: StoreID, schema: Schema) {
    self.store = store
    self.schema = schema
    columns = Array(schema.columns.indices)
    rows = BatchRows(width: columns.count + 2)
  }

  /// An empty batch of the same layer, with as much memory reserved as `batch` uses.
  package init(after batch: FeatureBatch) {
    self.init(store: batch.store, schema: batch.schema)
    rows.values.cells.reserveCapacity(batch.rows.values.cells.count)
    rows.values.bytes.reserveCapacity(batch.byteCount + batch.byteCount / 8)
  }

  @inlinable public var count: Int { rows.count }
  public var isEmpty: Bool { rows.count == 0 }
  public var ids: [FeatureID] { (0..<count).map { self[$0].id } }

  /// Bytes of texts, blobs and geometries.
  @inlinable public var byteCount: Int { rows.values.bytes.count }

  /// Whether the batch has 1,024 rows or 1 MiB of bytes, and should be handed on.
  @inlinable public var isFull: Bool { rows.count >= 1024 || byteCount >= 1 << 20 }

  /// The row at `index`, a view into the batch.
  @inlinable public subscript(index: Int) -> Row { Row(rows: rows, index: index) }

  /// Copies a row into the batch.
  @inlinable
  public mutating func append(_ row: borrowing some FeatureRow & ~Copyable) {
    rows.append(row, columns)
  }

  /// The feature at `index` as a value, geometry decoded.
  public func feature(at index: Int) throws(FieldpackError) -> Feature {
    let row = self[index]
    var elements: [Attributes.Element] = []
    elements.reserveCapacity(schema.columns.count)
    var metadata = FeatureMetadata()
    for (columnIndex, column) in schema.columns.enumerated() {
      let value = row.value(at: columnIndex, of: column.type)
      if let member = column.metadata {
        metadata.set(member, to: value)
      } else {
        elements.append(.init(name: column.name, value: value))
      }
    }
    let key = KeyTuple(store: store, layer: schema.layer, feature: row.id)
    let geometry = try row.geometry(key: key)
    var feature = Feature(key: key, geometry: geometry, attributes: Attributes(elements))
    if !metadata.isEmpty { feature.metadata = metadata }
    return feature
  }

  /// Gives every row to `sink`, after a call of `begin` where `announcing`.
  public func drive(
    _ sink: inout some FeatureSink, announcing: Bool = true
  ) throws(FieldpackError) {
    if announcing { try sink.begin(schema) }
    for index in 0..<count { try sink.feature(self[index]) }
  }

  /// A row of a batch.
  public struct Row: FeatureRow {
    @usableFromInline let rows: BatchRows
    @usableFromInline let index: Int

    /// - Precondition: the batch has a row at `index`.
    @inlinable init(rows: BatchRows, index: Int) {
      precondition(index >= 0 && index < rows.count, "no such row")
      self.rows = rows
      self.index = index
    }

    @inlinable public var id: FeatureID {
      let cell = rows.cell(index, 0)
      if cell.kind == .integer { return .integer(Int64(bitPattern: cell.bits)) }
      return rows.withBytes(cell) { span in
        span.withUnsafeBytes { .text(String(decoding: $0, as: UTF8.self)) }
      }
    }

    @inlinable public var envelope: Envelope? {
      rows.envelopes.isEmpty ? nil : rows.envelopes[index]
    }

    @inlinable public func kind(at column: Int) -> ValueKind { rows.value(index, column).kind }

    @inlinable public func integer(at column: Int) -> Int64 {
      rows.value(index, column).integer
    }

    @inlinable public func real(at column: Int) -> Double { rows.value(index, column).real }

    @inlinable
    public func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      try rows.withBytes(rows.value(index, column), body)
    }

    @inlinable
    public func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      let cell = rows.cell(index, 1)
      guard cell.kind == .blob else { return nil }
      return try rows.withBytes(cell, body)
    }
  }
}

/// The values of a batch.
@usableFromInline
struct BatchRows: Sendable {
  /// The number of cells in a row.
  @usableFromInline let width: Int
  @usableFromInline var count = 0
  /// Row by row: id, geometry, attributes.
  @usableFromInline var values = RowCells()
  /// The envelope of each row; empty while no row has one.
  @usableFromInline var envelopes: [Envelope?] = []

  init(width: Int) { self.width = width }

  @inlinable func cell(_ row: Int, _ offset: Int) -> RowCells.Cell {
    values.cells[row * width + offset]
  }

  @inlinable func value(_ row: Int, _ column: Int) -> RowCells.Cell {
    precondition(column >= 0 && column + 2 < width, "no such column")
    return values.cells[row * width + column + 2]
  }

  @inlinable
  func withBytes<R, E: Error>(
    _ cell: RowCells.Cell, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try body(values.bytes.span.bytes.extracting(cell.range))
  }

  @inlinable
  mutating func append(_ row: borrowing some FeatureRow & ~Copyable, _ columns: [Int]) {
    switch row.id {
    case .integer(let id): values.append(integer: id)
    case .text(var id): id.withUTF8 { values.append(.text, UnsafeRawBufferPointer($0)) }
    }
    let geometry: Void? = row.withGeometry { span in
      span.withUnsafeBytes { values.append(.blob, $0) }
    }
    if geometry == nil { values.appendNull() }
    row.append(columns, to: &values)
    appendEnvelope(row.envelope)
    count += 1
  }

  @inlinable
  mutating func appendEnvelope(_ envelope: Envelope?) {
    if envelope == nil && envelopes.isEmpty { return }
    while envelopes.count < count { envelopes.append(nil) }
    envelopes.append(envelope)
  }
}

extension FeatureRow where Self: ~Copyable {
  /// The geometry, decoded; the error names `key`.
  public borrowing func geometry(key: KeyTuple) throws(FieldpackError) -> Geometry? {
    let location = KeyTuple.Partial(store: key.store, layer: key.layer, feature: key.feature)
    return try withGeometry { span throws(FieldpackError) in
      do {
        return try WKB.read(span)
      } catch {
        throw FieldpackError(
          .invalidData, "the geometry of feature \(key.feature) in layer '\(key.layer)': \(error)",
          location: location, underlying: error)
      }
    }
  }
}
