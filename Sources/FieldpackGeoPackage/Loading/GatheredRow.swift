package import FieldpackCore
package import FieldpackGeometry

/// A row of a file in which features of another store are gathered: it has the id of that store, which a
/// hidden column holds where it is a text, and lacks that column.
package struct GatheredRow: FeatureRow {
  private let row: FeatureBatch.Row
  private let hidden: Int

  package init(row: FeatureBatch.Row, hidden: Int) {
    self.row = row
    self.hidden = hidden
  }

  package var id: FeatureID { row.kind(at: hidden) == .text ? .text(row.text(at: hidden)) : row.id }
  package var envelope: Envelope? { row.envelope }

  private func inner(_ column: Int) -> Int { column < hidden ? column : column + 1 }

  package func kind(at column: Int) -> ValueKind { row.kind(at: inner(column)) }
  package func integer(at column: Int) -> Int64 { row.integer(at: inner(column)) }
  package func real(at column: Int) -> Double { row.real(at: inner(column)) }

  package func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try row.withBytes(at: inner(column), body)
  }

  package func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    try row.withGeometry(body)
  }
}
