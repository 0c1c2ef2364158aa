public import FieldpackGeometry

/// Up to 1,024 features of one layer. One byte array holds all their texts, blobs and geometries.
public struct FeatureBatch: Sendable {
  public let store: StoreID
  public let schema: Schema
  @usableFromInline var rows: BatchRows

  public init(store: StoreID, schema: Schema) {
    self.store = store
    self.schema = schema
    rows = BatchRows(columns: schema.columns.count)
  }

  /// An empty batch of the same layer, with as much memory reserved as `batch` uses.
  package init(after batch: FeatureBatch) {
    self.init(store: batch.store, schema: batch.schema)
    rows.cells.reserveCapacity(batch.rows.cells.count)
    rows.bytes.reserveCapacity(batch.rows.bytes.count + batch.rows.bytes.count / 8)
  }

  @inlinable public var count: Int { rows.count }
  public var isEmpty: Bool { rows.count == 0 }
  public var ids: [FeatureID] { (0..<count).map { self[$0].id } }

  /// Bytes of texts, blobs and geometries.
  @inlinable public var byteCount: Int { rows.bytes.count }

  /// Whether the batch has 1,024 rows or 1 MiB of bytes, and should be handed on.
  @inlinable public var isFull: Bool { rows.count >= 1024 || rows.bytes.count >= 1 << 20 }

  /// The row at `index`, a view into the batch.
  @inlinable public subscript(index: Int) -> Row { Row(rows: rows, index: index) }

  /// Copies a row into the batch.
  @inlinable
  public mutating func append(_ row: borrowing some FeatureRow & ~Copyable) { rows.append(row) }

  /// The feature at `index` as a value, geometry decoded.
  public func feature(at index: Int) throws(FieldpackError) -> Feature {
    let row = self[index]
    var elements: [Attributes.Element] = []
    elements.reserveCapacity(schema.columns.count)
    for (columnIndex, column) in schema.columns.enumerated() {
      elements.append(.init(name: column.name, value: row.value(at: columnIndex, of: column.type)))
    }
    let key = KeyTuple(store: store, layer: schema.layer, feature: row.id)
    let geometry = try row.geometry(key: key)
    return Feature(key: key, geometry: geometry, attributes: Attributes(elements))
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
      let cell = rows.value(index, column)
      return cell.kind == .integer ? Int64(bitPattern: cell.bits) : 0
    }

    @inlinable public func real(at column: Int) -> Double {
      let cell = rows.value(index, column)
      return switch cell.kind {
      case .real: Double(bitPattern: cell.bits)
      case .integer: Double(Int64(bitPattern: cell.bits))
      default: .nan
      }
    }

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

/// The values of a batch, row by row: id, geometry, attributes.
@usableFromInline
struct BatchRows: Sendable {
  @usableFromInline
  struct Cell: Sendable {
    /// An integer, the bits of a real, or `offset << 32 | length` of a text, blob or geometry in
    /// `bytes`.
    @usableFromInline let bits: UInt64
    @usableFromInline let kind: ValueKind

    @inlinable init(_ bits: UInt64, _ kind: ValueKind) {
      self.bits = bits
      self.kind = kind
    }
  }

  /// The number of cells in a row.
  @usableFromInline let width: Int
  @usableFromInline var count = 0
  @usableFromInline var cells: [Cell] = []
  @usableFromInline var bytes: [UInt8] = []
  /// The envelope of each row; empty while no row has one.
  @usableFromInline var envelopes: [Envelope?] = []

  init(columns: Int) { width = columns + 2 }

  @inlinable func cell(_ row: Int, _ offset: Int) -> Cell { cells[row * width + offset] }

  @inlinable func value(_ row: Int, _ column: Int) -> Cell {
    precondition(column >= 0 && column + 2 < width, "no such column")
    return cells[row * width + column + 2]
  }

  @inlinable
  func withBytes<R, E: Error>(
    _ cell: Cell, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    guard cell.kind == .text || cell.kind == .blob else { return try body(RawSpan()) }
    let offset = Int(cell.bits >> 32)
    return try body(
      bytes.span.bytes.extracting(offset..<offset + Int(cell.bits & 0xFFFF_FFFF)))
  }

  @inlinable
  mutating func append(_ row: borrowing some FeatureRow & ~Copyable) {
    switch row.id {
    case .integer(let id): cells.append(Cell(UInt64(bitPattern: id), .integer))
    case .text(var id):
      id.withUTF8 { text in appendBytes(UnsafeRawBufferPointer(text), .text) }
    }
    let geometry: Void? = row.withGeometry { span in append(span, .blob) }
    if geometry == nil { cells.append(Cell(0, .null)) }
    for column in 0..<width - 2 {
      let kind = row.kind(at: column)
      switch kind {
      case .null: cells.append(Cell(0, .null))
      case .integer: cells.append(Cell(UInt64(bitPattern: row.integer(at: column)), kind))
      case .real: cells.append(Cell(row.real(at: column).bitPattern, kind))
      case .text, .blob: row.withBytes(at: column) { span in append(span, kind) }
      }
    }
    appendEnvelope(row.envelope)
    count += 1
  }

  @inlinable
  mutating func append(_ span: RawSpan, _ kind: ValueKind) {
    span.withUnsafeBytes { appendBytes($0, kind) }
  }

  @inlinable
  mutating func appendBytes(_ more: UnsafeRawBufferPointer, _ kind: ValueKind) {
    let offset = bytes.count
    bytes.append(contentsOf: more)
    cells.append(Cell(UInt64(offset) << 32 | UInt64(more.count), kind))
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
