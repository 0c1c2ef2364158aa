import FieldpackCore

/// The columns of one record batch, freed with it.
///
/// Filled by one thread at a time, and not at all once it was handed over.
final class ArrowColumns: @unchecked Sendable {
  fileprivate(set) var columns: [ArrowColumn]
  fileprivate(set) var count = 0
  /// Bytes of texts, blobs and geometries.
  fileprivate(set) var byteCount = 0
  /// The columns with values that became null because they are not of the type.
  fileprivate(set) var misfits: Set<Int> = []

  init(_ layout: ArrowLayout) {
    columns = layout.fields.map { ArrowColumn($0.type) }
  }

  deinit { for column in columns { column.free() } }
}

/// Takes rows into the columns of one record batch.
struct ArrowPiece: PieceSink {
  private let layout: ArrowLayout
  let batch: ArrowColumns

  private static let mostRows = 65_536
  /// Bounds memory, and keeps 32-bit offsets far from their end.
  private static let mostBytes = 2 << 20

  init(_ layout: ArrowLayout) {
    self.layout = layout
    batch = ArrowColumns(layout)
  }

  var isFull: Bool { batch.count >= Self.mostRows || batch.byteCount >= Self.mostBytes }

  func begin(_ schema: Schema) {}

  func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    try fill(&batch.columns, row)
    batch.count += 1
  }

  private func fill(
    _ columns: inout [ArrowColumn], _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    switch row.id {
    case .integer(let id):
      if columns[0].type == .int64 {
        columns[0].append(id)
      } else {
        try columns[0].append(text: "\(id)")
      }
    case .text(let id):
      if columns[0].type == .utf8 {
        try columns[0].append(text: id)
      } else {
        try columns[0].appendNull()
        batch.misfits.insert(0)
      }
    }
    for column in 0..<layout.columns {
      if try !columns[column + 1].append(row, column) { batch.misfits.insert(column + 1) }
    }
    if layout.hasGeometry { try appendGeometry(row, to: &columns[layout.columns + 1]) }
    batch.byteCount = columns.reduce(0) { $0 + $1.byteCount }
  }

  private func appendGeometry(
    _ row: borrowing some FeatureRow & ~Copyable, to column: inout ArrowColumn
  ) throws(FieldpackError) {
    let given: Void? = try row.withGeometry { wkb throws(FieldpackError) in
      try column.append(wkb)
    }
    if given == nil { try column.appendNull() }
  }
}
