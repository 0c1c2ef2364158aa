import FieldpackCore
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite

/// Rows of one layer, ready to be bound, with the boxes for the R-tree and the extent.
///
/// A ``RowEncoder`` fills them on any thread, and ``BulkLoader/append(_:to:)`` takes them over.
package struct EncodedRows: Sendable {
  package private(set) var count = 0
  /// The id of the first row where rows have no ids of their own; the other rows count on from it.
  var firstID: Int64 = 0
  private(set) var givenIDs: [Int64] = []
  /// The parameters of each row, without its id.
  var values = RowCells()
  /// The boxes of the rows that have one. The ids of the entries are the rows' indexes.
  private(set) var entries: [RTreeEntry] = []
  private(set) var extent = Envelope.empty
  /// The nonlinear types among the geometries.
  var curves: CurveTypes = []
  /// The types and ordinates of the geometries.
  var kinds = GeometryKinds()

  package init() {}

  /// Whether there are enough rows to hand over.
  package var isFull: Bool { count >= 512 || values.bytes.count >= 1 << 19 }

  package mutating func removeAll() {
    count = 0
    givenIDs.removeAll(keepingCapacity: true)
    // One huge geometry must not keep its memory for ever.
    values.removeAll(keptBytes: 1 << 22)
    entries.removeAll(keepingCapacity: true)
    extent = .empty
    curves = []
    kinds = GeometryKinds()
  }

  func id(_ row: Int) -> Int64 { givenIDs.isEmpty ? firstID &+ Int64(row) : givenIDs[row] }

  /// Gives a row that brought an id another one.
  mutating func renumber(_ row: Int, as id: Int64) { givenIDs[row] = id }

  /// Gives rows that brought no ids their own.
  mutating func number(_ ids: [Int64]) { givenIDs = ids }

  // MARK: Filling

  /// Ends the row whose parameters were appended.
  mutating func close(givenID: Int64?, envelope: Envelope?) {
    if let givenID { givenIDs.append(givenID) }
    if let envelope {
      if envelope.hasInfiniteBounds {
        // The extent holds what has a place.
      } else if envelope.z == nil, envelope.m == nil {
        extent.extend(x: envelope.minX, y: envelope.minY)
        extent.extend(x: envelope.maxX, y: envelope.maxY)
      } else {
        extent.formUnion(envelope)
      }
      entries.append(RTreeEntry(Int64(count), envelope))
    }
    count += 1
  }

  /// Ends a row with a rounded box. The caller knows the extent.
  mutating func close(box: RTreeEntry?) {
    if let box { entries.append(box.withID(Int64(count))) }
    count += 1
  }

  /// Removes the parameters of an incomplete row.
  mutating func undo(parameters: Int, bytesFrom start: Int) {
    values.cut(to: count * parameters, bytes: start)
  }

  // MARK: Binding

  /// Binds `rows` rows from `first` on to one statement. The bytes are not copied, so the rows must
  /// stay unchanged until the statement has run.
  func bind(
    _ first: Int, rows: Int, parameters: Int, withIDs: Bool, to statement: Statement
  ) throws(SQLiteError) {
    var failure: SQLiteError?
    values.bytes.withUnsafeBytes { buffer in
      do throws(SQLiteError) {
        var index = 1
        for row in first..<first + rows {
          if withIDs {
            try statement.bind(id(row), at: index)
            index += 1
          }
          for cell in row * parameters..<(row + 1) * parameters {
            try bind(values.cells[cell], to: statement, at: index, buffer)
            index += 1
          }
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func bind(
    _ cell: RowCells.Cell, to statement: Statement, at index: Int, _ buffer: UnsafeRawBufferPointer
  ) throws(SQLiteError) {
    switch cell.kind {
    case .null: try statement.bindNull(at: index)
    case .integer: try statement.bind(Int64(bitPattern: cell.bits), at: index)
    case .real: try statement.bind(Double(bitPattern: cell.bits), at: index)
    case .text: try statement.bindUnowned(utf8: Self.slice(buffer, cell), at: index)
    case .blob: try statement.bindUnowned(Self.slice(buffer, cell), at: index)
    }
  }

  private static func slice(
    _ buffer: UnsafeRawBufferPointer, _ cell: RowCells.Cell
  ) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: buffer[cell.range])
  }
}

extension PackedRTree {
  /// Adds the entries of `rows` with the ids that these have now.
  mutating func add(_ rows: EncodedRows) throws(FieldpackError) {
    for entry in rows.entries { try add(entry.withID(rows.id(Int(entry.id)))) }
  }
}
