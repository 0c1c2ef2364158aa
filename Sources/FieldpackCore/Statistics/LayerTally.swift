/// Counts rows of one layer.
///
/// Used by one thread at a time; whoever hands it on does not touch it any more.
final class LayerTally: @unchecked Sendable {
  let schema: Schema
  private var count = 0
  private var geometry: GeometryTally?
  private var columns: [ColumnTally]
  private let indexes: [Int]
  /// Rows that wait to be counted. Going through one column of many rows at a time keeps its counts
  /// at hand.
  private var waiting = RowCells()
  private var waitingRows = 0

  private static let mostWaitingRows = 1024
  private static let mostWaitingBytes = 128 << 10

  init(_ schema: Schema) {
    self.schema = schema
    geometry = schema.geometry == nil ? nil : GeometryTally()
    columns = schema.columns.map { _ in ColumnTally() }
    indexes = Array(schema.columns.indices)
  }

  func add(_ row: borrowing some FeatureRow & ~Copyable) {
    count += 1
    geometry?.add(row)
    guard !indexes.isEmpty else { return }
    row.append(indexes, to: &waiting)
    waitingRows += 1
    if waitingRows >= Self.mostWaitingRows || waiting.bytes.count >= Self.mostWaitingBytes {
      countWaiting()
    }
  }

  func merge(_ other: LayerTally) {
    countWaiting()
    other.countWaiting()
    count += other.count
    if let others = other.geometry { geometry?.merge(others) }
    for (index, column) in other.columns.enumerated() { columns[index].merge(column) }
  }

  var statistics: LayerStatistics {
    countWaiting()
    return LayerStatistics(
      layer: schema.layer, count: count,
      geometry: schema.geometry.flatMap { geometry?.statistics(of: $0.name) },
      columns: zip(columns, schema.columns).map { $0.statistics(of: $1) })
  }

  private func countWaiting() {
    guard waitingRows > 0 else { return }
    let width = columns.count
    waiting.cells.withUnsafeBufferPointer { cells in
      waiting.bytes.withUnsafeBytes { bytes in
        for column in 0..<width {
          columns[column].add(cells, from: column, by: width, bytes)
        }
      }
    }
    waitingRows = 0
    waiting.removeAll(keptBytes: 4 * Self.mostWaitingBytes)
  }
}
