import FieldpackCore
import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reference system of a map: what its coordinates are called and how long their unit is.
package struct MapReference: Hashable, Sendable {
  /// Such as `WGS 84, EPSG:4326`; `nil` where nothing is known.
  package var name: String?
  package var isGeographic: Bool
  /// The unit of x and y, such as `m`; `nil` for degrees and where it is not known.
  package var unit: String?
  /// How many metres a unit of x is in the middle of the map; `nil` where it is not known.
  package var metres: Double?

  package init(
    name: String? = nil, isGeographic: Bool, unit: String? = nil, metres: Double? = nil
  ) {
    self.name = name
    self.isGeographic = isGeographic
    self.unit = unit
    self.metres = metres
  }

  package static let wgs84 = MapReference(name: "WGS 84, EPSG:4326", isGeographic: true)

  /// How many metres a unit of x is on a map of `envelope`.
  func metres(in envelope: Envelope) -> Double? {
    if let metres { return metres.isFinite && metres > 0 ? metres : nil }
    guard isGeographic else { return nil }
    let middle = (envelope.minY + envelope.maxY) / 2
    return 111_319.49 * cos(min(85, abs(middle)) * .pi / 180)
  }

  /// A corner as text, each number with its unit.
  func corner(_ x: String, _ y: String) -> String {
    if isGeographic { return "\(x)°, \(y)°" }
    return "\(x), \(y)" + (unit.map { " \($0)" } ?? "")
  }
}

/// The length that a map shows beside its name.
struct ScaleBar: Hashable, Sendable {
  /// In units of the drawing.
  let length: Double
  let label: String

  /// - Parameters:
  ///   - perPixel: the metres of a unit of the drawing.
  ///   - most: the longest bar, in units of the drawing.
  init?(perPixel: Double, most: Double) {
    let metres = perPixel * most
    guard metres.isFinite, metres > 1e-6, metres < 1e9 else { return nil }
    var step = pow(10, log10(metres).rounded(.down))
    if step * 5 <= metres { step *= 5 } else if step * 2 <= metres { step *= 2 }
    length = step / perPixel
    label =
      step >= 1000
      ? "\(Decimals.short(step / 1000)) km"
      : step >= 1 ? "\(Decimals.short(step)) m" : "\(Decimals.short(step * 1000)) mm"
  }
}
