package import FieldpackGeometry

/// A feature's values as a row, for writers and batches that take rows.
package struct ValueRow: FeatureRow {
  package var id: FeatureID
  package var values: [Value]
  package var wkb: [UInt8]?
  package var envelope: Envelope?

  package init(
    id: FeatureID = 1, _ values: [Value] = [], wkb: [UInt8]? = nil, envelope: Envelope? = nil
  ) {
    self.id = id
    self.values = values
    self.wkb = wkb
    self.envelope = envelope
  }

  /// The row of a feature in the columns of `schema`; a column that the feature lacks is NULL.
  package init(_ feature: Feature, id: FeatureID, schema: Schema) {
    self.init(
      id: id, schema.columns.map { feature.attributes[$0.name] ?? .null },
      wkb: feature.geometry.map { WKB.bytes(of: $0) }, envelope: feature.geometry?.envelope)
  }

  package func kind(at column: Int) -> ValueKind {
    switch values[column] {
    case .null: .null
    case .boolean, .integer: .integer
    case .real: .real
    case .text, .date, .dateTime: .text
    case .blob: .blob
    }
  }

  package func integer(at column: Int) -> Int64 {
    switch values[column] {
    case .integer(let value): value
    case .boolean(let flag): flag ? 1 : 0
    default: 0
    }
  }

  package func real(at column: Int) -> Double {
    switch values[column] {
    case .real(let value): value
    case .integer(let value): Double(value)
    case .boolean(let flag): flag ? 1 : 0
    default: .nan
    }
  }

  package func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let bytes: [UInt8] =
      switch values[column] {
      case .text(let text): Array(text.utf8)
      case .blob(let bytes): bytes
      case .date(let day): Array(day.description.utf8)
      case .dateTime(let instant): Array(instant.description.utf8)
      default: []
      }
    return try body(bytes.span.bytes)
  }

  package func withGeometry<R, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R? {
    guard let wkb else { return nil }
    return try body(wkb.span.bytes)
  }
}
