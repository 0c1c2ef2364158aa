#if PostGIS
  import CPQ
  import FieldpackCore
  import FieldpackGeometry

  /// The values of one row of a result after another: id, geometry, attributes.
  ///
  /// A value is valid until the next row is taken, and as long as this object lives.
  final class RowFields {
    private let fields: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    /// The lengths that the values may have.
    private let lengths: UnsafeMutableBufferPointer<ValueLengths>
    /// Whether each value of the row has a length that its type can have.
    private(set) var hasRightLengths = true
    /// Keeps the memory of the values.
    private(set) var rows: PostgresRows?
    /// The result of ``rows``, which is not counted for each row.
    private var result: OpaquePointer?
    /// The row that comes next, of those that are here.
    private var next = 0
    private var count = 0
    /// Memory for a geometry in another system than the layer's.
    private var moved = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var movedEnvelope: Envelope?

    /// - Parameters:
    ///   - count: how many columns of the results are read.
    ///   - lengths: those that the values of the first columns may have.
    init(count: Int, lengths: [ValueLengths] = []) {
      fields = .allocate(capacity: max(1, count))
      fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
      self.lengths = .allocate(capacity: fields.count)
      self.lengths.initialize(repeating: .any)
      for (place, allowed) in lengths.prefix(count).enumerated() { self.lengths[place] = allowed }
    }

    deinit {
      fields.deallocate()
      lengths.deallocate()
      moved.deallocate()
    }

    /// Takes the next rows, of which none is lent yet; `nil` lets go of those that are here.
    func take(_ rows: PostgresRows?) {
      (self.rows, result) = (rows, rows?.result)
      (next, count) = (0, rows?.count ?? 0)
      fields.update(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Goes to the next row of those that were taken last; `false` behind the last one.
    @inline(__always)
    func advance() -> Bool {
      guard next < count, let result else { return false }
      hasRightLengths = lend(Int32(truncatingIfNeeded: next), of: result)
      next += 1
      movedEnvelope = nil
      return true
    }

    /// Takes where the values of a row lie; a NULL has no start.
    ///
    /// - Returns: whether they have right lengths.
    @inline(__always)
    private func lend(_ row: Int32, of result: OpaquePointer) -> Bool {
      let (fields, lengths) = (fields, lengths)
      var isRight = true
      for index in 0..<fields.count {
        let column = Int32(truncatingIfNeeded: index)
        let length = Int(max(0, PQgetlength(result, row, column)))
        if length == 0, PQgetisnull(result, row, column) == 1 {
          fields[index] = UnsafeRawBufferPointer(start: nil, count: 0)
          continue
        }
        if !lengths[index].allows(length) { isRight = false }
        fields[index] = UnsafeRawBufferPointer(
          start: PQgetvalue(result, row, column), count: length)
      }
      return isRight
    }

    /// Takes the geometry of the row in another system, until the next row.
    func move(to wkb: [UInt8], _ envelope: Envelope?) {
      if moved.count < wkb.count {
        moved.deallocate()
        moved = .allocate(byteCount: wkb.count, alignment: 8)
      }
      moved.copyBytes(from: wkb)
      fields[1] = UnsafeRawBufferPointer(rebasing: moved.prefix(wkb.count))
      movedEnvelope = envelope
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

    /// The first row of a result, which is valid as long as it lives.
    init(firstOf rows: PostgresRows, _ columns: RowColumns) {
      self.init(RowFields(count: rows.columnCount, lengths: columns.lengths), columns)
      fields.take(rows)
      _ = fields.advance()
    }

    var envelope: Envelope? { fields.movedEnvelope }

    @inline(__always)
    func field(_ place: Int) -> UnsafeRawBufferPointer? { fields[place] }
  }

  extension PostGISRow {
    /// - Throws: `.invalidData` where a value has not the length that its type has.
    func check(from connection: PostgresConnection) throws(FieldpackError) {
      guard !fields.hasRightLengths else { return }
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
