import FieldpackCore
import FieldpackGeometry

/// The types and ordinates that occur in the geometries of a layer.
struct GeometryKinds: Sendable {
  private var types: UInt32 = 0
  private var ordinates: Ordinates = []

  private struct Ordinates: OptionSet {
    let rawValue: UInt8
    static let z = Ordinates(rawValue: 1)
    static let noZ = Ordinates(rawValue: 2)
    static let m = Ordinates(rawValue: 4)
    static let noM = Ordinates(rawValue: 8)
  }

  mutating func insert(_ type: GeometryType, _ dimensions: Dimensions) {
    types |= 1 << type.rawValue
    ordinates.insert(dimensions.hasZ ? .z : .noZ)
    ordinates.insert(dimensions.hasM ? .m : .noM)
  }

  mutating func formUnion(_ other: GeometryKinds) {
    types |= other.types
    ordinates.formUnion(other.ordinates)
  }

  /// The column, with its type and its rules for Z and M changed as far as these geometries ask.
  func declaration(from column: GeometryColumn) -> GeometryColumn {
    var column = column
    let found = GeometryType.allCases.filter { types & 1 << $0.rawValue != 0 }
    if !found.allSatisfy({ column.type.accepts($0) }) {
      column.type = found.count == 1 ? found[0] : .geometry
    }
    column.z = Self.rule(column.z, has: ordinates.contains(.z), lacks: ordinates.contains(.noZ))
    column.m = Self.rule(column.m, has: ordinates.contains(.m), lacks: ordinates.contains(.noM))
    return column
  }

  private static func rule(_ rule: OrdinateRule, has: Bool, lacks: Bool) -> OrdinateRule {
    switch rule {
    case .prohibited where has: lacks ? .optional : .mandatory
    case .mandatory where lacks: has ? .optional : .prohibited
    default: rule
    }
  }
}
