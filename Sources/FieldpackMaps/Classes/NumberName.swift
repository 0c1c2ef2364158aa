import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Numbers as legends show them.
package enum NumberName {
  /// `value` with as many digits as tell values of such a range apart, and none more.
  package static func text(_ value: Double, in range: Double) -> String {
    guard value.isFinite else { return "\(value)" }
    let magnitude = max(range.isFinite ? range : abs(value), abs(value) * 1e-9, 1e-12)
    let digits = max(0, min(9, (2.3 - log10(magnitude)).rounded(.up)))
    return Decimals.short(value, digits: Int(digits))
  }
}
