#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  /// A row of a COPY, lent while its bytes lie in memory: id, geometry, attributes.
  struct CopyRow: SentRow {
    let bytes: UnsafeRawBufferPointer
    let fields: [Range<Int>?]
    let columns: RowColumns
    /// The geometry in another system than the layer's; `nil` where it stays as it came.
    var moved: [UInt8]?
    var envelope: Envelope?

    init(_ bytes: UnsafeRawBufferPointer, _ fields: [Range<Int>?], _ columns: RowColumns) {
      (self.bytes, self.fields, self.columns) = (bytes, fields, columns)
    }

    /// - Throws: `.invalidData` where a value has not the length that its type has.
    func check() throws(FieldpackError) {
      for (place, lengths) in columns.lengths.enumerated() {
        guard let field = field(place), !lengths.allows(field.count) else { continue }
        throw FieldpackError(
          .invalidData, "the server sends values of other types than it was asked for")
      }
    }

    func field(_ place: Int) -> UnsafeRawBufferPointer? {
      guard place >= 0, let range = fields[place] else { return nil }
      return UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      guard columns.hasGeometry else { return nil }
      if let moved { return try body(moved.span.bytes) }
      guard let field = field(1) else { return nil }
      return try body(field.bytes)
    }
  }
#endif
