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
  /// Which lengths the values of each column of the result may have, as far as the columns are read.
  let lengths: [ValueLengths]

  init(hasTextID: Bool, hasGeometry: Bool, places: [Int], kinds: [PostGISColumn.Kind]) {
    self.hasTextID = hasTextID
    self.hasGeometry = hasGeometry
    columns = zip(places, kinds).map { ($0, $1) }
    var lengths = Array(
      repeating: ValueLengths.any, count: max(LayerPlan.leading, 1 + (places.max() ?? 0)))
    if !hasTextID { lengths[0] = PostGISColumn.Kind.integer.lengths }
    for (place, kind) in columns where place >= 0 { lengths[place] = kind.lengths }
    self.lengths = lengths
  }

  /// The same columns of a result that has the geometry.
  var withGeometry: RowColumns {
    RowColumns(
      hasTextID: hasTextID, hasGeometry: true, places: columns.map(\.place),
      kinds: columns.map(\.kind))
  }
}

/// How many bytes a value can have.
struct ValueLengths {
  /// A bit for each length, the last one for 31 and more.
  private let bits: UInt32

  static let any = ValueLengths(bits: .max)

  private init(bits: UInt32) { self.bits = bits }

  /// - Parameter lengths: below 31.
  init(_ lengths: Int...) { bits = lengths.reduce(0) { $0 | 1 << $1 } }

  @inline(__always)
  func allows(_ count: Int) -> Bool { bits >> UInt32(truncatingIfNeeded: min(count, 31)) & 1 == 1 }
}

extension PostGISColumn.Kind {
  fileprivate var lengths: ValueLengths {
    switch self {
    case .integer: ValueLengths(2, 4, 8)
    case .boolean: ValueLengths(1)
    case .real: ValueLengths(4, 8)
    case .date: ValueLengths(4)
    case .instant: ValueLengths(8)
    case .text, .blob: .any
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
