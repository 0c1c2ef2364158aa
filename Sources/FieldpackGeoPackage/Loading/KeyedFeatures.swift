import FieldpackCore
import FieldpackSQLite

/// The features of a layer by their values in one column, by which rows find what they replace.
///
/// Two values are one key where SQLite finds them equal in that column; NULL is no key.
///
/// Held in memory, about 50 bytes a feature, because the keys of rows come in any order: found by a
/// unique index of the file, a million rows took as much again as their insertion.
struct KeyedFeatures {
  /// 128 bits of a hash with a secret of this process stand for a value: that two of a billion
  /// values have the same is less likely than 1 to 10^20.
  private struct Key: Hashable {
    let first, second: UInt64

    func hash(into hasher: inout Hasher) { hasher.combine(first) }
  }

  /// The collations that SQLite has.
  private enum Collation: String {
    case binary = "BINARY"
    case nocase = "NOCASE"
    case rtrim = "RTRIM"
  }

  private var ids: [Key: Int64] = [:]
  private let affinity: TypeAffinity
  private let collation: Collation
  /// Made for the first value that SQLite stores as another than it came.
  private var conversion: StoredForm?

  /// - Throws: `.constraint` where two features have one value.
  init(
    by column: String, of table: LayerTable, in file: GeoPackageSession
  ) throws(FieldpackError) {
    let facts: Connection.ColumnFacts
    do throws(SQLiteError) {
      facts = try file.connection.facts(ofColumn: column, table: table.table)
    } catch {
      throw file.worded(error, layer: table.layer.id)
    }
    affinity = facts.affinity
    guard let collation = Collation(rawValue: facts.collation.uppercased()) else {
      throw FieldpackError(
        .unsupported,
        "column '\(column)' of layer '\(table.layer.id)' compares its texts by "
          + "'\(facts.collation)', which is unknown here, so rows cannot be found by it",
        location: .init(store: file.store, layer: table.layer.id))
    }
    self.collation = collation
    let rows = try file.prepare(
      "SELECT \(table.idExpression), \(quoted(column)) FROM \(quoted(table.table))",
      in: table.layer.id)
    defer { rows.reset() }
    while try rows.step() {
      guard let key = key(of: rows.row, 1) else { continue }
      guard ids.updateValue(rows.row.integer(0), forKey: key) == nil else {
        throw FieldpackError(
          .constraint,
          "layer '\(table.layer.id)' has features with one value in column "
            + "'\(column)', so the column cannot tell which of them a row replaces",
          location: .init(store: file.store, layer: table.layer.id))
      }
    }
  }

  /// The feature that has the value of a cell; from now on that is `new`, where there is none.
  mutating func id(
    for values: RowCells, _ cell: Int, orNew new: Int64
  ) throws(SQLiteError) -> Int64 {
    guard let key = try key(of: values, cell) else { return new }
    if let known = ids[key] { return known }
    ids[key] = new
    return new
  }

  // MARK: Keys

  private func key(of row: Statement, _ column: Int) -> Key? {
    let kind = row.kind(column)
    return switch kind {
    case .null: nil
    case .integer: key(integer: row.integer(column))
    case .real: key(real: row.real(column))
    case .text, .blob:
      row.withBytes(column) { bytes in bytes.withUnsafeBytes { key(kind == .text, $0) } }
    }
  }

  private mutating func key(of values: RowCells, _ index: Int) throws(SQLiteError) -> Key? {
    let cell = values.cells[index]
    switch cell.kind {
    case .null: return nil
    case .integer where affinity == .real: return key(real: cell.real)
    case .integer where affinity != .text: return key(integer: cell.integer)
    case .real where affinity != .text: return key(real: cell.real)
    case .text where !affinity.isNumeric, .blob:
      return values.bytes.withUnsafeBytes { bytes in
        key(cell.kind == .text, UnsafeRawBufferPointer(rebasing: bytes[cell.range]))
      }
    case .integer, .real, .text:
      let form = if let conversion { conversion } else { try StoredForm(affinity) }
      conversion = form
      return key(of: try form.convert(values.value(at: index)), 0)
    }
  }

  private func key(integer: Int64) -> Key {
    key { hasher in
      hasher.combine(0)
      hasher.combine(integer)
    }
  }

  private func key(real: Double) -> Key? {
    // SQLite stores NaN as NULL, and finds 2.0 and 2 equal.
    if real.isNaN { return nil }
    if let integer = Int64(exactly: real) { return key(integer: integer) }
    return key { hasher in
      hasher.combine(1)
      hasher.combine(real)
    }
  }

  private func key(_ isText: Bool, _ bytes: UnsafeRawBufferPointer) -> Key {
    switch collation {
    case _ where !isText: return key(3, bytes)
    case .binary: return key(2, bytes)
    case .nocase:
      let folded = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 32 : $0 }
      return folded.withUnsafeBytes { key(2, $0) }
    case .rtrim:
      let end = bytes.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
      return key(2, UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    }
  }

  private func key(_ kind: Int, _ bytes: UnsafeRawBufferPointer) -> Key {
    key { hasher in
      hasher.combine(kind)
      hasher.combine(bytes: bytes)
    }
  }

  private func key(_ combine: (inout Hasher) -> Void) -> Key {
    var (first, second) = (Hasher(), Hasher())
    second.combine(true)
    combine(&first)
    combine(&second)
    return Key(
      first: UInt64(bitPattern: Int64(first.finalize())),
      second: UInt64(bitPattern: Int64(second.finalize())))
  }
}

/// Asks SQLite for a value as a column stores it.
private final class StoredForm {
  private let connection: Connection
  private let store: Statement
  private let stored: Statement

  init(_ affinity: TypeAffinity) throws(SQLiteError) {
    connection = try Connection(inMemory: .own)
    try connection.execute("CREATE TABLE form (value \(affinity.sql))")
    try connection.execute("INSERT INTO form VALUES (0)")
    store = try connection.prepare("UPDATE form SET value = ?")
    stored = try connection.prepare("SELECT value FROM form")
  }

  /// The row that has the value; valid until the next call.
  func convert(_ value: Value) throws(SQLiteError) -> Statement {
    stored.reset()
    try store.bind(SQLiteValue(value), at: 1)
    try store.run()
    _ = try stored.step()
    return stored
  }
}
