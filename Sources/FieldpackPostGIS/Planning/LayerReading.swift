import FieldpackCore

/// What the rows of a plan look like, made once for all copies of the plan.
final class LayerReading: Sendable {
  let layer: PostGISLayer
  /// The schema of the rows in the answer.
  let shape: Schema
  let readsGeometry: Bool
  /// The columns of the layer that are asked for, by their indexes.
  let fetched: [Int]
  let order: [Order]
  /// The columns of the answer.
  let answer: RowColumns
  /// The columns of the layer, as the evaluator knows them.
  let whole: RowColumns
  /// What the server has to send for each column; `nil` for any type.
  let types: [Set<UInt32>?]
  /// Tells the types of the columns apart, as statements are prepared with them.
  let form: Int
  /// The statement for few rows and its limit.
  private let few = Locked<(limit: Int, sql: String)?>(nil)

  /// - Parameter answered: how many of the columns asked for, from the first one on, are in the answer.
  init(
    _ layer: PostGISLayer, _ shape: Schema, readsGeometry: Bool, fetched: [Int], answered: Int,
    order: [Order]
  ) {
    (self.layer, self.shape, self.readsGeometry) = (layer, shape, readsGeometry)
    (self.fetched, self.order) = (fetched, order)
    answer = RowColumns(
      hasTextID: layer.hasTextID, hasGeometry: shape.geometry != nil,
      places: (0..<answered).map { LayerPlan.leading + $0 },
      kinds: fetched.prefix(answered).map { layer.columns[$0].kind })
    var places = Array(repeating: -1, count: layer.columns.count)
    for (place, column) in fetched.enumerated() { places[column] = LayerPlan.leading + place }
    whole = RowColumns(
      hasTextID: layer.hasTextID, hasGeometry: readsGeometry, places: places,
      kinds: layer.columns.map(\.kind))
    types =
      [layer.idTypes, [PostgresType.bytea]] + fetched.map { layer.columns[$0].sentTypes }
      + order.map { layer.column($0)?.sentTypes }
    var hasher = Hasher()
    hasher.combine(layer.id)
    for column in fetched { hasher.combine(layer.columns[column]) }
    for order in order { hasher.combine(layer.column(order)) }
    form = hasher.finalize()
  }

  /// The text of the statement for few rows, which does not change with the values that it binds.
  func few(_ limit: Int, _ make: () -> String) -> String {
    few.withLock { known in
      if let known, known.limit == limit { return known.sql }
      let sql = make()
      known = (limit, sql)
      return sql
    }
  }
}

/// Where the columns of a schema stand in a result.
final class RowColumns: Sendable {
  let hasTextID: Bool
  let hasGeometry: Bool
  /// The column of the result, -1 for a column that was not asked for, and its kind.
  let columns: [(place: Int, kind: PostGISColumn.Kind)]
  /// The columns of the result whose values have lengths of their own, the id among them: for each length
  /// that a value may have a bit.
  let fixed: [(place: Int, lengths: UInt16)]

  init(hasTextID: Bool, hasGeometry: Bool, places: [Int], kinds: [PostGISColumn.Kind]) {
    self.hasTextID = hasTextID
    self.hasGeometry = hasGeometry
    columns = zip(places, kinds).map { ($0, $1) }
    let values = columns.filter { $0.place >= 0 && $0.kind != .text && $0.kind != .blob }
    fixed =
      (hasTextID ? [] : [(0, PostGISColumn.Kind.integer.lengths)])
      + values.map { ($0.place, $0.kind.lengths) }
  }

  /// The same columns of a result that has the geometry.
  var withGeometry: RowColumns {
    RowColumns(
      hasTextID: hasTextID, hasGeometry: true, places: columns.map(\.place),
      kinds: columns.map(\.kind))
  }
}

extension PostGISColumn.Kind {
  /// How many bytes a value of the kind can have, of fewer than 16: a bit for each number.
  fileprivate var lengths: UInt16 {
    switch self {
    case .integer: 1 << 8 | 1 << 4 | 1 << 2
    case .boolean: 1 << 1
    case .real: 1 << 8 | 1 << 4
    case .date: 1 << 4
    case .instant: 1 << 8
    case .text, .blob: .max
    }
  }

  /// Appends a value, whose length was checked when it came.
  func append(_ field: UnsafeRawBufferPointer, to cells: inout RowCells) {
    switch self {
    case .integer, .boolean: cells.append(integer: field.sentInteger)
    case .real:
      let real = field.sentReal
      if real.isNaN { cells.appendNull() } else { cells.append(real: real) }
    case .text: cells.append(.text, field)
    case .blob: cells.append(.blob, field)
    case .date, .instant:
      withText(of: field) { text in text.withUnsafeBytes { cells.append(.text, $0) } }
    }
  }

  /// Lends the text of a date or an instant; no bytes for other kinds.
  @inline(__always)
  func withText<R, E: Error>(
    of field: UnsafeRawBufferPointer, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    var memory = InlineArray<40, UInt8>(repeating: 0)
    var span = memory.mutableSpan
    let count = span.withUnsafeMutableBytes { place -> Int in
      if self == .date, let day: Int32 = field.big(at: 0) {
        return BinaryTime.write(day: day, to: place)
      }
      guard self == .instant, let count: Int64 = field.big(at: 0) else { return 0 }
      return BinaryTime(microseconds: count).write(isUTC: true, to: place)
    }
    return try body(memory.span.bytes.extracting(first: count))
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
