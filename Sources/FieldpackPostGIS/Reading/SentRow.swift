#if PostGIS
  import FieldpackCore

  /// A row as PostgreSQL sends it: id, geometry, attributes.
  protocol SentRow: FeatureRow {
    var columns: RowColumns { get }
    /// The bytes of a value by its place in the answer; `nil` for NULL and for a place that was not asked
    /// for.
    func field(_ place: Int) -> UnsafeRawBufferPointer?
  }

  extension SentRow {
    @inline(__always)
    func value(_ column: Int) -> UnsafeRawBufferPointer? { field(columns.columns[column].place) }

    // MARK: FeatureRow

    /// A view may have rows whose id is NULL.
    var id: FeatureID {
      let field = field(0)
      if columns.hasTextID { return .text(field.map { String(decoding: $0, as: UTF8.self) } ?? "") }
      return .integer(field?.sentInteger ?? 0)
    }

    func kind(at column: Int) -> ValueKind {
      let (place, kind) = columns.columns[column]
      guard let field = field(place) else { return .null }
      switch kind {
      case .integer, .boolean: return .integer
      // NaN is no value of a GeoPackage.
      case .real: return field.sentReal.isNaN ? .null : .real
      case .text, .date, .instant: return .text
      case .blob: return .blob
      }
    }

    func integer(at column: Int) -> Int64 {
      switch columns.columns[column].kind {
      case .integer, .boolean: value(column)?.sentInteger ?? 0
      default: 0
      }
    }

    func real(at column: Int) -> Double {
      switch columns.columns[column].kind {
      case .real: value(column)?.sentReal ?? .nan
      case .integer, .boolean: value(column).map { Double($0.sentInteger) } ?? .nan
      default: .nan
      }
    }

    @inline(__always)
    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      let (place, kind) = columns.columns[column]
      guard let field = field(place) else { return try body(RawSpan()) }
      if kind == .text || kind == .blob { return try body(field.bytes) }
      return try kind.withText(of: field, body)
    }

    func append(_ wanted: [Int], to cells: inout RowCells) {
      for column in wanted {
        guard let field = value(column) else {
          cells.appendNull()
          continue
        }
        columns.columns[column].kind.append(field, to: &cells)
      }
    }

    @inline(__always)
    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      guard columns.hasGeometry, let field = field(1) else { return nil }
      return try body(field.bytes)
    }
  }
#endif
