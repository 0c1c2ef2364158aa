import FieldpackCore
import FieldpackGeometry

/// A geometry in one cell of a table: its type and where it begins.
struct GeometrySummary: GeometryVisitor {
  private var type: GeometryType?
  private var dimensions = Dimensions.xy
  private var first: (x: Double, y: Double, z: Double)?
  private var count = 0

  /// `POINT (13.4 52.5)`, `LINESTRING (13.4 52.5 …)`, `POLYGON EMPTY`.
  static func text(_ row: borrowing some FeatureRow & ~Copyable) -> String {
    let text = row.withGeometry { span -> String in
      var summary = GeometrySummary()
      guard (try? WKB.visit(span, with: &summary)) != nil else { return "(unreadable)" }
      return summary.text
    }
    return text ?? ""
  }

  private var text: String {
    let name = (type?.name ?? "") + (dimensions == .xy ? "" : " \(dimensions.letters)")
    guard let first else { return "\(name) EMPTY" }
    var position = "\(Self.number(first.x)) \(Self.number(first.y))"
    if dimensions.hasZ { position += " \(Self.number(first.z))" }
    return "\(name) (\(position)\(count > 1 ? " …" : ""))"
  }

  /// Six decimals tell degrees to a tenth of a metre, two do for metres.
  private static func number(_ value: Double) -> String {
    Decimals.short(value, digits: abs(value) < 1000 ? 6 : 2)
  }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    if self.type == nil { (self.type, self.dimensions) = (type, dimensions) }
  }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    if x.isNaN, y.isNaN { return }
    if count == 0 { first = (x, y, z) }
    count += 1
  }

  mutating func beginRing(count: Int?) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}
}

extension Dimensions {
  /// What WKT writes behind the type: `Z`, `M`, `ZM` or nothing.
  fileprivate var letters: String { (hasZ ? "Z" : "") + (hasM ? "M" : "") }
}
