#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  /// A row of a COPY, lent while its bytes lie in memory: id, geometry, attributes.
  struct CopyRow: FeatureRow {
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
      // A view may have rows whose id is NULL.
      let id: PostGISColumn.Kind = columns.hasTextID ? .text : .integer
      var isRight = fields[0].map { id.isLength($0.count) } ?? true
      for (column, place) in columns.places.enumerated() where place >= 0 {
        guard let length = fields[place]?.count else { continue }
        if !columns.kinds[column].isLength(length) { isRight = false }
      }
      guard !isRight else { return }
      throw FieldpackError(
        .invalidData, "the server sends values of other types than it was asked for")
    }

    private func field(_ place: Int) -> UnsafeRawBufferPointer? {
      guard place >= 0, let range = fields[place] else { return nil }
      return UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    private func value(_ column: Int) -> UnsafeRawBufferPointer? { field(columns.places[column]) }

    // MARK: FeatureRow

    var id: FeatureID {
      guard let field = field(0) else { return columns.hasTextID ? .text("") : .integer(0) }
      return columns.hasTextID
        ? .text(String(decoding: field, as: UTF8.self)) : .integer(field.sentInteger)
    }

    func kind(at column: Int) -> ValueKind {
      guard let field = value(column) else { return .null }
      switch columns.kinds[column] {
      case .integer, .boolean: return .integer
      // NaN is no value of a GeoPackage.
      case .real: return field.sentReal.isNaN ? .null : .real
      case .text, .date, .instant: return .text
      case .blob: return .blob
      }
    }

    func integer(at column: Int) -> Int64 {
      switch columns.kinds[column] {
      case .integer, .boolean: value(column)?.sentInteger ?? 0
      default: 0
      }
    }

    func real(at column: Int) -> Double {
      switch columns.kinds[column] {
      case .real: value(column)?.sentReal ?? .nan
      case .integer, .boolean: value(column).map { Double($0.sentInteger) } ?? .nan
      default: .nan
      }
    }

    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      let kind = columns.kinds[column]
      let empty: [UInt8] = []
      guard let field = value(column) else { return try body(empty.span.bytes) }
      if kind == .text || kind == .blob { return try body(field.bytes) }
      var text: [UInt8] = []
      kind.appendText(of: field, to: &text)
      return try body(text.span.bytes)
    }

    func append(_ wanted: [Int], to cells: inout RowCells) {
      for column in wanted {
        guard let field = value(column) else {
          cells.appendNull()
          continue
        }
        columns.kinds[column].append(field, to: &cells)
      }
    }

    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      guard columns.hasGeometry else { return nil }
      if let moved { return try body(moved.span.bytes) }
      guard let field = field(1) else { return nil }
      return try body(field.bytes)
    }
  }
#endif
