#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  /// A row of a result: id, geometry, attributes.
  struct PostGISRow: FeatureRow {
    let rows: PostgresRows
    let index: Int
    let columns: RowColumns
    /// The geometry in another system than the layer's; `nil` where it stays as it came.
    var moved: [UInt8]?
    var movedEnvelope: Envelope?

    init(_ rows: PostgresRows, _ index: Int, _ columns: RowColumns) {
      self.rows = rows
      self.index = index
      self.columns = columns
    }

    var id: FeatureID {
      if columns.hasTextID { return .text(rows.text(index, 0) ?? "") }
      return .integer(rows.integer(index, 0) ?? 0)
    }

    var envelope: Envelope? { movedEnvelope }

    private func place(_ column: Int) -> Int { columns.places[column] }

    func kind(at column: Int) -> ValueKind {
      let place = place(column)
      guard place >= 0, !rows.isNull(index, place) else { return .null }
      switch columns.kinds[column] {
      case .integer, .boolean: return rows.integer(index, place) == nil ? .null : .integer
      case .real: return rows.real(index, place).map { $0.isNaN ? .null : .real } ?? .null
      case .text, .date, .instant: return .text
      case .blob: return .blob
      }
    }

    func integer(at column: Int) -> Int64 {
      let place = place(column)
      guard place >= 0 else { return 0 }
      switch columns.kinds[column] {
      case .integer, .boolean: return rows.integer(index, place) ?? 0
      default: return 0
      }
    }

    func real(at column: Int) -> Double {
      let place = place(column)
      guard place >= 0 else { return .nan }
      switch columns.kinds[column] {
      case .real: return rows.real(index, place) ?? .nan
      case .integer, .boolean: return rows.integer(index, place).map { Double($0) } ?? .nan
      default: return .nan
      }
    }

    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      let place = place(column)
      let kind = columns.kinds[column]
      guard place >= 0, kind == .text || kind == .blob else {
        let text = (place < 0 ? nil : MomentText.text(rows, index, place, kind)) ?? []
        return try body(text.span.bytes)
      }
      let bytes = rows.bytes(index, place)
      return try withExtendedLifetime(rows) { () throws(E) in try body(bytes.bytes) }
    }

    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      guard columns.hasGeometry else { return nil }
      if let moved { return try body(moved.span.bytes) }
      guard !rows.isNull(index, 1) else { return nil }
      let bytes = rows.bytes(index, 1)
      return try withExtendedLifetime(rows) { () throws(E) in try body(bytes.bytes) }
    }
  }

  /// Where the columns of a schema stand in a result.
  final class RowColumns: Sendable {
    let hasTextID: Bool
    let hasGeometry: Bool
    /// The column of the result; -1 for a column that was not asked for.
    let places: [Int]
    let kinds: [PostGISColumn.Kind]
    /// The columns of the result whose values have lengths of their own, the id among them.
    let fixed: [(place: Int, kind: PostGISColumn.Kind)]

    init(hasTextID: Bool, hasGeometry: Bool, places: [Int], kinds: [PostGISColumn.Kind]) {
      self.hasTextID = hasTextID
      self.hasGeometry = hasGeometry
      self.places = places
      self.kinds = kinds
      let values = zip(places, kinds).filter { $0 >= 0 && $1 != .text && $1 != .blob }
      fixed = (hasTextID ? [] : [(0, .integer)]) + values.map { ($0, $1) }
    }

    /// The same columns of a result that has the geometry.
    var withGeometry: RowColumns {
      RowColumns(hasTextID: hasTextID, hasGeometry: true, places: places, kinds: kinds)
    }
  }

  extension PostGISRow {
    /// - Throws: `.invalidData` where a value has not the length that its type has.
    func check(from connection: PostgresConnection) throws(FieldpackError) {
      var isRight = true
      for (place, kind) in columns.fixed where !hasLength(of: kind, place) { isRight = false }
      guard !isRight else { return }
      throw connection.mistake("sends values of other lengths than their types have")
    }

    private func hasLength(of kind: PostGISColumn.Kind, _ place: Int) -> Bool {
      kind.isLength(rows.length(index, place)) || rows.isNull(index, place)
    }
  }

  extension PostGISColumn.Kind {
    /// Whether a value of the kind can have so many bytes.
    func isLength(_ count: Int) -> Bool {
      switch self {
      case .integer: count == 8 || count == 4 || count == 2
      case .boolean: count == 1
      case .real: count == 8 || count == 4
      case .date: count == 4
      case .instant: count == 8
      case .text, .blob: true
      }
    }
  }

  extension PostGISLayer {
    /// What the server has to send for the id.
    fileprivate var idTypes: Set<UInt32> {
      switch id {
      case .column(let column): column.sentTypes
      case .rowNumber: [PostgresType.int8]
      }
    }
  }

  extension LayerPlan {
    /// The columns of the answer.
    var answerColumns: RowColumns {
      RowColumns(
        hasTextID: layer.hasTextID, hasGeometry: shape.geometry != nil,
        places: answered.map { Self.leading + $0 },
        kinds: answered.map { layer.columns[fetched[$0]].kind })
    }

    /// The columns of the layer, as the evaluator knows them.
    var layerColumns: RowColumns {
      var places = Array(repeating: -1, count: layer.columns.count)
      for (place, column) in fetched.enumerated() { places[column] = Self.leading + place }
      return RowColumns(
        hasTextID: layer.hasTextID, hasGeometry: readsGeometry, places: places,
        kinds: layer.columns.map(\.kind))
    }

    /// - Throws: `.invalidData` where the server sends something else than was asked for.
    func check(_ rows: PostgresRows, from connection: PostgresConnection) throws(FieldpackError) {
      let sorting = order.map { self.column($0)?.sentTypes }
      let types: [Set<UInt32>?] =
        [layer.idTypes, [PostgresType.bytea]]
        + fetched.map { layer.columns[$0].sentTypes } + sorting
      let isRight =
        rows.columnCount == types.count
        && types.enumerated().allSatisfy { $1?.contains(rows.type(of: $0)) ?? true }
      guard !isRight else { return }
      throw connection.mistake("answers with other columns than layer '\(name)' has")
        .adding(location: .init(layer: name))
    }
  }
#endif
