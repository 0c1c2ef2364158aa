import FieldpackCore
import FieldpackGeometry

/// The nonlinear types that occur in geometries. A file must register each of them for the column
/// that holds it.
struct CurveTypes: OptionSet, Sendable {
  let rawValue: UInt32

  /// The types in a geometry and its members.
  init(in geometry: Geometry) {
    var finder = CurveFinder()
    if geometry.type.mayHoldCurves { geometry.visit(with: &finder) }
    self = finder.found
  }

  /// The types in a geometry in WKB, whose own type is known.
  init(in wkb: RawSpan, of type: GeometryType) {
    var finder = CurveFinder()
    // An unreadable geometry is refused elsewhere.
    if type.mayHoldCurves { _ = try? WKB.visit(wkb, with: &finder) }
    self = finder.found
  }

  init(rawValue: UInt32) { self.rawValue = rawValue }

  fileprivate init(_ type: GeometryType) { self.init(rawValue: 1 << type.rawValue) }

  var types: [GeometryType] { GeometryType.allCases.filter { contains(CurveTypes($0)) } }

  /// Registers the types for a layer's geometry column.
  func register(in file: GeoPackageSession, for table: LayerTable) throws(FieldpackError) {
    guard let geometry = table.schema.geometry else { return }
    for type in types {
      try Self.register(type, in: file, table: table.table, column: geometry.name)
    }
  }

  static func register(
    _ type: GeometryType, in file: GeoPackageSession, table: String, column: String
  ) throws(FieldpackError) {
    try LayerCreation(file: file).registerExtension(
      "gpkg_geom_\(type.name)", table: table, column: column, scope: "read-write")
  }
}

private struct CurveFinder: GeometryVisitor {
  var found = CurveTypes()

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    if type.isCurved { found.insert(CurveTypes(type)) }
  }

  mutating func beginRing(count: Int?) {}
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}
}

extension GeometryType {
  /// Whether geometries of the type are nonlinear, or may have nonlinear members.
  var mayHoldCurves: Bool { isCurved || self == .geometryCollection }
}
