public import FieldpackGeometry

/// One feature, lent for the length of a call: values are read where they lie.
///
/// Columns are those of the `Schema` the sink was given, by place. A kind is how the value is
/// stored: a BOOLEAN is an integer, a DATE or DATETIME is text.
public protocol FeatureRow: ~Copyable {
  var id: FeatureID { get }
  borrowing func kind(at column: Int) -> ValueKind
  /// 0 where the value is not an integer.
  borrowing func integer(at column: Int) -> Int64
  /// NaN where the value is not a number.
  borrowing func real(at column: Int) -> Double
  /// Lends the UTF-8 of a text or the bytes of a blob; nothing for other kinds.
  borrowing func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R
  /// Lends the geometry as WKB; `nil`, and no call, where there is none.
  borrowing func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R?
  /// The envelope, where the row holds one; `nil` says only that it has to be computed.
  var envelope: Envelope? { get }
  /// Appends the values of `columns`, in that order.
  borrowing func append(_ columns: [Int], to cells: inout RowCells)
}

extension FeatureRow where Self: ~Copyable {
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

  /// The stored value, built.
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
/// `begin` announces the layer of the rows that follow. It may come again for another layer, and
/// again for one seen before, which then goes on.
public protocol FeatureSink {
  mutating func begin(_ schema: Schema) throws(FieldpackError)
  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError)
}
