import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Rows of one layer ready to be bound, with what its index and its extent need of them.
///
/// A ``RowEncoder`` fills them on any thread, ``BulkLoader/append(_:to:)`` takes them over.
package struct EncodedRows: Sendable {
  /// A parameter: eight bytes that are an integer, the bits of a real, or where in `bytes` a text
  /// or blob begins.
  struct Cell: Sendable {
    var bits: UInt64
    var length: UInt32
    var kind: ValueKind

    static let null = Cell(bits: 0, length: 0, kind: .null)
  }

  package private(set) var count = 0
  /// The id of the first row, the others count on, where the rows have none of their own.
  var firstID: Int64 = 0
  private(set) var givenIDs: [Int64] = []
  private var cells: [Cell] = []
  var bytes: [UInt8] = []
  /// The boxes of the rows that have one; the ids are places of rows.
  private(set) var entries: [RTreeEntry] = []
  private(set) var extent = Envelope.empty

  package init() {}

  /// Whether the rows are as many as are worth being handed over.
  package var isFull: Bool { count >= 512 || bytes.count >= 1 << 19 }

  package mutating func removeAll() {
    count = 0
    givenIDs.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    extent = .empty
    // One huge geometry must not hold its room for ever.
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 22)
  }

  func id(_ row: Int) -> Int64 { givenIDs.isEmpty ? firstID &+ Int64(row) : givenIDs[row] }

  // MARK: Filling

  mutating func appendNull() { cells.append(.null) }

  /// Appends what `bytes` holds from `start` as the next parameter.
  mutating func append(_ kind: ValueKind, bytesFrom start: Int) {
    // SQLite refuses a text or blob of a gigabyte, so that clamping changes no outcome.
    let length = UInt32(clamping: bytes.count - start)
    cells.append(Cell(bits: UInt64(start), length: length, kind: kind))
  }

  mutating func append(_ row: borrowing some FeatureRow & ~Copyable, _ column: Int) {
    let kind = row.kind(at: column)
    switch kind {
    case .null: appendNull()
    case .integer:
      cells.append(
        Cell(bits: UInt64(bitPattern: row.integer(at: column)), length: 0, kind: kind))
    case .real: cells.append(Cell(bits: row.real(at: column).bitPattern, length: 0, kind: kind))
    case .text, .blob:
      let start = bytes.count
      row.withBytes(at: column) { span in
        span.withUnsafeBytes { bytes.append(contentsOf: $0) }
      }
      append(kind, bytesFrom: start)
    }
  }

  /// Closes the row whose parameters were appended.
  mutating func close(givenID: Int64?, envelope: Envelope?, isIndexed: Bool) {
    if let givenID { givenIDs.append(givenID) }
    if let envelope {
      extent.formUnion(envelope)
      if isIndexed { entries.append(RTreeEntry(Int64(count), envelope)) }
    }
    count += 1
  }

  /// Takes back a row that was begun and whose parameters are not complete.
  mutating func undo(parameters: Int, bytesFrom start: Int) {
    cells.removeLast(cells.count - count * parameters)
    bytes.removeLast(bytes.count - start)
  }

  // MARK: Binding

  /// Binds row after row from `first`, `rows` of them, to one statement; the bytes are not copied,
  /// so the rows must stay until it has run.
  func bind(
    _ first: Int, rows: Int, parameters: Int, to statement: Statement
  ) throws(SQLiteError) {
    var failure: SQLiteError?
    bytes.withUnsafeBytes { buffer in
      do throws(SQLiteError) {
        var place = 1
        for row in first..<first + rows {
          try statement.bind(id(row), at: place)
          place += 1
          for cell in row * parameters..<(row + 1) * parameters {
            try bind(cells[cell], to: statement, at: place, buffer)
            place += 1
          }
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func bind(
    _ cell: Cell, to statement: Statement, at place: Int, _ buffer: UnsafeRawBufferPointer
  ) throws(SQLiteError) {
    switch cell.kind {
    case .null: try statement.bindNull(at: place)
    case .integer: try statement.bind(Int64(bitPattern: cell.bits), at: place)
    case .real: try statement.bind(Double(bitPattern: cell.bits), at: place)
    case .text: try statement.bindUnowned(utf8: Self.slice(buffer, cell), at: place)
    case .blob: try statement.bindUnowned(Self.slice(buffer, cell), at: place)
    }
  }

  private static func slice(
    _ buffer: UnsafeRawBufferPointer, _ cell: Cell
  ) -> UnsafeRawBufferPointer {
    let start = Int(cell.bits)
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + Int(cell.length)])
  }
}
