public import FieldpackGeometry

/// One feature, lent for the length of a call: its values are read from where the reader has them.
///
/// A column is an index into the columns of the `Schema` that the sink was given. A kind is how the
/// value is stored: a BOOLEAN is an integer, a DATE or DATETIME is text.
public protocol FeatureRow: ~Copyable {
  var id: FeatureID { get }
  borrowing func kind(at column: Int) -> ValueKind
  /// The integer in a column; 0 where the value is not an integer.
  borrowing func integer(at column: Int) -> Int64
  /// The number in a column; NaN where the value is not a number.
  borrowing func real(at column: Int) -> Double
  /// Lends the UTF-8 of a text or the bytes of a blob; lends no bytes for other kinds.
  borrowing func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R
  /// Lends the geometry as WKB; where there is none, answers `nil` without calling `body`.
  borrowing func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R?
  /// The envelope of the geometry, where the row knows it; with `nil` it has to be computed from
  /// the geometry.
  var envelope: Envelope? { get }
  /// Appends the values of `columns`, in that order.
  borrowing func append(_ columns: [Int], to cells: inout RowCells)
}

extension FeatureRow where Self: ~Copyable {
  @inlinable
  public borrowing func append(_ columns: [Int], to cells: inout RowCells) {
    for column in columns {
      let kind = kind(at: column)
      switch kind {
      case .null: cells.appendNull()
      case .integer: cells.append(integer: integer(at: column))
      case .real: cells.append(real: real(at: column))
      case .text, .blob:
        withBytes(at: column) { span in span.withUnsafeBytes { cells.append(kind, $0) } }
      }
    }
  }

  /// The value as it is stored.
  public borrowing func stored(at column: Int) -> Value {
    switch kind(at: column) {
    case .null: .null
    case .integer: .integer(integer(at: column))
    case .real: .real(real(at: column))
    case .text: .text(text(at: column))
    case .blob: .blob(withBytes(at: column) { span in span.withUnsafeBytes { Array($0) } })
    }
  }

  /// The text of a column; bytes that are not UTF-8 become U+FFFD.
  public borrowing func text(at column: Int) -> String {
    withBytes(at: column) { span in
      span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// The value as its column's type reads it.
  public borrowing func value(at column: Int, of type: ColumnType) -> Value {
    type.value(stored(at: column))
  }
}

/// Consumes features: every reader drives one, every writer is one.
///
/// `begin` announces the layer of the rows that follow. It is called anew whenever the layer
/// changes, also for a layer that was announced before; that layer then continues.
public protocol FeatureSink {
  mutating func begin(_ schema: Schema) throws(FieldpackError)
  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError)
}
