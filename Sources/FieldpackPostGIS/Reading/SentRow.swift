#if PostGIS
  import FieldpackCore

  /// A row as PostgreSQL sends it: id, geometry, attributes.
  protocol SentRow: FeatureRow {
    var columns: RowColumns { get }
    /// The geometry in another system than the layer's; `nil` where it stays as it came.
    var moved: [UInt8]? { get }
    /// The bytes of a value by its place in the answer; `nil` for NULL and for a place that was not asked
    /// for.
    func field(_ place: Int) -> UnsafeRawBufferPointer?
  }

  extension SentRow {
    /// Whether each value has a length that its type can have.
    var hasRightLengths: Bool {
      columns.fixed.allSatisfy { place, kind in field(place).map { kind.isLength($0.count) } ?? true
      }
    }

    @inline(__always)
    func value(_ column: Int) -> UnsafeRawBufferPointer? { field(columns.places[column]) }

    // MARK: FeatureRow

    /// A view may have rows whose id is NULL.
    var id: FeatureID {
      let field = field(0)
      if columns.hasTextID { return .text(field.map { String(decoding: $0, as: UTF8.self) } ?? "") }
      return .integer(field?.sentInteger ?? 0)
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
      let field = value(column)
      if let field, kind == .text || kind == .blob { return try body(field.bytes) }
      var text: [UInt8] = []
      if let field { kind.appendText(of: field, to: &text) }
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
