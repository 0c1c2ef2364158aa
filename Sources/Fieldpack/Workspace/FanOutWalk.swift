import FieldpackCore
import FieldpackGeometry

/// Walks the answers of several stores: one after the other, or merged in the query's order.
actor FanOutWalk {
  private let fanOut: FanOut
  private var streams: [Stream] = []
  private var opened = 0
  private var toSkip: Int
  private var toGive: Int
  private var isDone = false

  init(_ fanOut: FanOut) {
    self.fanOut = fanOut
    toSkip = fanOut.query.offset
    toGive = fanOut.query.limit ?? .max
  }

  /// The rows of one store that are read and not given yet.
  private struct Stream {
    let store: StoreID
    let batches: FeatureBatches
    let iterator: FeatureBatches.Iterator
    var batch: FeatureBatch?
    var index = 0
    /// Everything is read, and what its report says is taken over.
    var isOver = false
  }

  func next() async throws(FieldpackError) -> FeatureBatch? {
    guard !isDone else { return nil }
    let batch = !fanOut.query.isOrdered ? try await nextInTurn() : try await nextMerged()
    if batch == nil { finish() }
    return batch
  }

  /// Takes over what the streams report that the limit ended early, and gives their readers back.
  private func finish() {
    isDone = true
    for stream in streams where !stream.isOver { fanOut.report.merge(stream.batches.report) }
    streams = []
  }

  private func openNext() async throws(FieldpackError) -> Stream? {
    while opened < fanOut.parts.count {
      let part = fanOut.parts[opened]
      opened += 1
      do throws(FieldpackError) {
        let batches = try await part.prepared.batches()
        return Stream(
          store: part.store.id, batches: batches, iterator: batches.makeAsyncIterator())
      } catch {
        try fanOut.report(error, of: part.store.id)
      }
    }
    return nil
  }

  /// The next batch of a stream.
  private func read(_ number: Int) async throws(FieldpackError) -> FeatureBatch? {
    let stream = streams[number]
    guard !stream.isOver else { return nil }
    do throws(FieldpackError) {
      if let batch = try await stream.iterator.next() { return batch }
    } catch {
      try fanOut.report(error, of: stream.store)
    }
    fanOut.report.merge(stream.batches.report)
    streams[number].isOver = true
    return nil
  }

  // MARK: In turn

  private func nextInTurn() async throws(FieldpackError) -> FeatureBatch? {
    while toGive > 0 {
      if streams.isEmpty {
        guard let stream = try await openNext() else { return nil }
        streams = [stream]
      }
      guard let batch = try await read(0) else {
        streams = []
        continue
      }
      let cut = batch.cut(skipping: &toSkip, giving: &toGive)
      if !cut.isEmpty { return cut }
    }
    return nil
  }

  // MARK: Merged

  /// Rows of one store and layer, as many as come one after the other.
  private func nextMerged() async throws(FieldpackError) -> FeatureBatch? {
    while let stream = try await openNext() { streams.append(stream) }
    var result: FeatureBatch?
    while toGive > 0, let number = try await firstStream(), let batch = streams[number].batch {
      let schema = wanted(batch.schema)
      if let result, result.schema != schema || result.store != batch.store { return result }
      let row = batch[streams[number].index]
      streams[number].index += 1
      if toSkip > 0 {
        toSkip -= 1
        continue
      }
      if toGive != .max { toGive -= 1 }
      var rows = result ?? FeatureBatch(store: batch.store, schema: schema)
      result = nil
      rows.append(ProjectedRow(row: row, from: batch.schema, to: schema))
      result = rows
      if rows.isFull { return rows }
    }
    return result
  }

  /// The stream whose next row comes first; of equal ones the first in config order.
  private func firstStream() async throws(FieldpackError) -> Int? {
    var best: Int?
    for number in streams.indices {
      try await fill(number)
      guard streams[number].batch != nil else { continue }
      if let current = best, !precedes(number, current) { continue }
      best = number
    }
    return best
  }

  private func fill(_ number: Int) async throws(FieldpackError) {
    if let batch = streams[number].batch, streams[number].index < batch.count { return }
    streams[number].batch = try await read(number)
    streams[number].index = 0
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    if fanOut.query.nearest != nil { return distance(a).sorts(before: distance(b)) }
    for order in fanOut.query.order {
      let (left, right) = (key(a, order.column), key(b, order.column))
      if left.sorts(before: right) { return !order.isDescending }
      if right.sorts(before: left) { return order.isDescending }
    }
    return false
  }

  /// The value of the last column, which is the distance asked for.
  private func distance(_ number: Int) -> Value {
    guard let batch = streams[number].batch, let last = batch.schema.columns.indices.last else {
      return .null
    }
    return batch[streams[number].index].value(at: last, of: .double)
  }

  private func key(_ number: Int, _ column: String) -> Value {
    guard let batch = streams[number].batch else { return .null }
    let row = batch[streams[number].index]
    if let index = batch.schema.columnIndex(column) {
      return row.value(at: index, of: batch.schema.columns[index].type)
    }
    guard batch.schema.idColumn?.lowercased() == column.lowercased() else { return .null }
    switch row.id {
    case .integer(let id): return .integer(id)
    case .text(let id): return .text(id)
    }
  }

  /// The schema without the columns that were asked for only to sort.
  private func wanted(_ schema: Schema) -> Schema {
    guard fanOut.query.nearest == nil, let columns = fanOut.query.columns else { return schema }
    var narrowed = schema
    narrowed.columns = columns.compactMap { name in
      schema.columnIndex(name).map { schema.columns[$0] }
    }
    return narrowed
  }
}

/// A row with some of its columns.
private struct ProjectedRow: FeatureRow {
  let row: FeatureBatch.Row
  let columns: [Int]

  init(row: FeatureBatch.Row, from all: Schema, to some: Schema) {
    self.row = row
    columns = some.columns.compactMap { all.columnIndex($0.name) }
  }

  var id: FeatureID { row.id }
  var envelope: Envelope? { row.envelope }
  func kind(at column: Int) -> ValueKind { row.kind(at: columns[column]) }
  func integer(at column: Int) -> Int64 { row.integer(at: columns[column]) }
  func real(at column: Int) -> Double { row.real(at: columns[column]) }

  func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try row.withBytes(at: columns[column], body)
  }

  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    try row.withGeometry(body)
  }
}

extension FeatureBatch {
  /// The rows that are left when some are skipped and the count is bounded.
  fileprivate func cut(skipping: inout Int, giving: inout Int) -> FeatureBatch {
    let skipped = min(skipping, count)
    let given = min(giving, count - skipped)
    skipping -= skipped
    if giving != .max { giving -= given }
    return skipped == 0 && given == count ? self : rows(skipped..<skipped + given)
  }

  /// A batch of some of the rows.
  func rows(_ range: Range<Int>) -> FeatureBatch {
    var part = FeatureBatch(store: store, schema: schema)
    for index in range { part.append(self[index]) }
    return part
  }
}
