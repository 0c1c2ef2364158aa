import FieldpackCore
import FieldpackGeometry

/// A row that reads nothing but the id.
struct IDRow: FeatureRow {
  let number: Int64

  var id: FeatureID { .integer(number) }
  var envelope: Envelope? { nil }
  func kind(at column: Int) -> ValueKind { .null }
  func integer(at column: Int) -> Int64 { 0 }
  func real(at column: Int) -> Double { .nan }
  func withBytes<R, E: Error>(at column: Int, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body([UInt8]().span.bytes)
  }
  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? { nil }
}
