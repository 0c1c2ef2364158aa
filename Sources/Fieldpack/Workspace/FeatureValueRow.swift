import FieldpackCore
import FieldpackGeometry

/// A feature as a row of a schema, for writers, which take rows.
struct FeatureValueRow: FeatureRow {
  let id: FeatureID
  let envelope: Envelope?
  private let values: [Value]
  private let wkb: [UInt8]?

  /// - Parameter geometry: stands for the feature's own, which may be in another SRS.
  init(_ feature: Feature, id: FeatureID, geometry: Geometry?, schema: Schema) {
    self.id = id
    wkb = geometry.map { WKB.bytes(of: $0) }
    envelope = geometry?.envelope
    values = schema.columns.map { Self.stored(feature.attributes[$0.name] ?? .null) }
  }

  private static func stored(_ value: Value) -> Value {
    switch value {
    case .boolean(let flag): .integer(flag ? 1 : 0)
    case .date(let day): .text(day.description)
    case .dateTime(let instant): .text(instant.description)
    default: value
    }
  }

  func kind(at column: Int) -> ValueKind {
    switch values[column] {
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob: .blob
    default: .null
    }
  }

  func integer(at column: Int) -> Int64 {
    guard case .integer(let value) = values[column] else { return 0 }
    return value
  }

  func real(at column: Int) -> Double {
    switch values[column] {
    case .real(let value): value
    case .integer(let value): Double(value)
    default: .nan
    }
  }

  func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let bytes: [UInt8] =
      switch values[column] {
      case .text(let text): Array(text.utf8)
      case .blob(let bytes): bytes
      default: []
      }
    return try body(bytes.span.bytes)
  }

  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    guard let wkb else { return nil }
    return try body(wkb.span.bytes)
  }
}
