package import FieldpackCore
package import FieldpackGeometry

/// A row of a file in which features of another store are gathered.
///
/// The row has the id that the feature has in that store. Where that id is a text, a hidden column of the
/// file holds it; the row does not show that column.
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
