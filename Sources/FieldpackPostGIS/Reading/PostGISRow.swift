#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  /// The values of one row of a result after another: id, geometry, attributes.
  ///
  /// A value is valid until the next row is taken, and as long as this object lives.
  final class RowFields {
    private let fields: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    /// Keeps the memory of the values.
    private(set) var rows: PostgresRows?
    /// The geometry in another system than the layer's; `nil` where it stays as it came.
    var moved: [UInt8]?
    var movedEnvelope: Envelope?
    /// Memory for the text of a date or an instant.
    fileprivate var text: [UInt8] = []

    /// - Parameter count: how many columns of the results are read.
    init(count: Int) {
      fields = .allocate(capacity: max(1, count))
      fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    deinit { fields.deallocate() }

    /// Takes the next rows, of which none is lent yet; `nil` lets go of those that are here.
    func take(_ rows: PostgresRows?) {
      self.rows = rows
      fields.update(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Goes to a row of those that were taken last.
    func go(to index: Int) {
      rows?.lend(index, to: fields)
      if moved != nil { (moved, movedEnvelope) = (nil, nil) }
    }

    /// The bytes of a value; `nil` for NULL.
    @inline(__always)
    subscript(place: Int) -> UnsafeRawBufferPointer? {
      guard place >= 0, place < fields.count else { return nil }
      let field = fields[place]
      return field.baseAddress == nil ? nil : field
    }
  }

  /// A row of a result: id, geometry, attributes.
  struct PostGISRow: SentRow {
    let fields: RowFields
    let columns: RowColumns

    init(_ fields: RowFields, _ columns: RowColumns) {
      self.fields = fields
      self.columns = columns
    }

    /// A row that is valid as long as it lives.
    init(_ rows: PostgresRows, _ index: Int, _ columns: RowColumns) {
      self.init(RowFields(count: rows.columnCount), columns)
      fields.take(rows)
      fields.go(to: index)
    }

    var envelope: Envelope? { fields.movedEnvelope }
    var moved: [UInt8]? { fields.moved }

    @inline(__always)
    func field(_ place: Int) -> UnsafeRawBufferPointer? { fields[place] }

    /// As for every row, but texts of moments are made in memory that is used again.
    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      let kind = columns.kinds[column]
      if let field = value(column), kind == .text || kind == .blob {
        return try body(field.bytes)
      }
      // `body` may ask for another column.
      var text: [UInt8] = []
      swap(&text, &fields.text)
      defer { swap(&text, &fields.text) }
      text.removeAll(keepingCapacity: true)
      if let field = value(column) { kind.appendText(of: field, to: &text) }
      return try body(text.span.bytes)
    }
  }

  extension PostGISRow {
    /// - Throws: `.invalidData` where a value has not the length that its type has.
    func check(from connection: PostgresConnection) throws(FieldpackError) {
      guard !hasRightLengths else { return }
      throw connection.mistake("sends values of other lengths than their types have")
    }
  }

  /// That rows have other columns than the catalogue says.
  struct OtherColumns: Error {}

  extension LayerPlan {
    /// - Throws: `.invalidData` where the server sends something else than was asked for.
    func check(_ rows: PostgresRows, from connection: PostgresConnection) throws(FieldpackError) {
      let types = reading.types
      let isRight =
        rows.columnCount == types.count
        && types.indices.allSatisfy { types[$0]?.contains(rows.type(of: $0)) ?? true }
      guard !isRight else { return }
      throw FieldpackError(
        .invalidData,
        "\(connection.address.shown) answers with other columns than layer '\(name)' has",
        location: .init(layer: name), underlying: OtherColumns())
    }
  }
#endif
