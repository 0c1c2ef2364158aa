import FieldpackCore
import FieldpackGeometry

/// Which dimensions the geometries of a layer have had so far.
struct DimensionsSeen {
  private var mask: UInt8 = 0

  mutating func insert(_ dimensions: Dimensions) { mask |= 1 << dimensions.rawValue }

  mutating func insert(_ other: DimensionsSeen) { mask |= other.mask }

  var z: OrdinateRule { rule { $0.hasZ } }
  var m: OrdinateRule { rule { $0.hasM } }

  /// Mandatory where all have the ordinate, optional where some have.
  private func rule(_ has: (Dimensions) -> Bool) -> OrdinateRule {
    let seen = Dimensions.allCases.filter { mask & 1 << $0.rawValue != 0 }
    guard seen.contains(where: has) else { return .prohibited }
    return seen.allSatisfy(has) ? .mandatory : .optional
  }
}
