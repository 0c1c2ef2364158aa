import FieldpackCore
import FieldpackSQLite

/// Rows ready to be bound: for each its id, and for each further parameter a kind and eight bytes
/// that are an integer, the bits of a real, or where in `bytes` a text or blob lies.
///
/// Not `Sendable`: filled by one thread, then handed over whole to another.
final class EncodedRows {
  private(set) var ids: [Int64] = []
  private var kinds: [ValueKind] = []
  private var cells: [UInt64] = []
  var bytes: [UInt8] = []

  var count: Int { ids.count }
  var isFull: Bool { ids.count >= 512 || bytes.count >= 1 << 19 }

  func removeAll() {
    ids.removeAll(keepingCapacity: true)
    kinds.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
    // One huge geometry must not hold its room for ever.
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 22)
  }

  // MARK: Filling

  func begin(_ id: Int64) { ids.append(id) }

  func appendNull() {
    kinds.append(.null)
    cells.append(0)
  }

  /// Appends what `bytes` holds from `start` as the next parameter.
  func append(_ kind: ValueKind, bytesFrom start: Int) {
    kinds.append(kind)
    cells.append(UInt64(start) << 32 | UInt64(bytes.count - start))
  }

  func append(_ row: borrowing some FeatureRow & ~Copyable, _ column: Int) {
    let kind = row.kind(at: column)
    switch kind {
    case .null: appendNull()
    case .integer:
      kinds.append(kind)
      cells.append(UInt64(bitPattern: row.integer(at: column)))
    case .real:
      kinds.append(kind)
      cells.append(row.real(at: column).bitPattern)
    case .text, .blob:
      let start = bytes.count
      row.withBytes(at: column) { span in
        span.withUnsafeBytes { bytes.append(contentsOf: $0) }
      }
      append(kind, bytesFrom: start)
    }
  }

  /// Takes back a row that was begun and whose parameters are not complete.
  func undo(parameters: Int, bytesFrom start: Int) {
    ids.removeLast()
    kinds.removeLast(kinds.count - ids.count * parameters)
    cells.removeLast(cells.count - ids.count * parameters)
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
          try statement.bind(ids[row], at: place)
          place += 1
          for cell in row * parameters..<(row + 1) * parameters {
            try bind(cell, to: statement, at: place, buffer)
            place += 1
          }
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func bind(
    _ cell: Int, to statement: Statement, at place: Int, _ buffer: UnsafeRawBufferPointer
  ) throws(SQLiteError) {
    let value = cells[cell]
    switch kinds[cell] {
    case .null: try statement.bindNull(at: place)
    case .integer: try statement.bind(Int64(bitPattern: value), at: place)
    case .real: try statement.bind(Double(bitPattern: value), at: place)
    case .text: try statement.bindUnowned(utf8: Self.slice(buffer, value), at: place)
    case .blob: try statement.bindUnowned(Self.slice(buffer, value), at: place)
    }
  }

  private static func slice(
    _ buffer: UnsafeRawBufferPointer, _ place: UInt64
  ) -> UnsafeRawBufferPointer {
    let start = Int(place >> 32)
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + Int(place & 0xFFFF_FFFF)])
  }
}
