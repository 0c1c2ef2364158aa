import FieldpackGeometry

/// The SQL functions that find features by the R-tree: `ST_Intersects(geom, …)` and its kin, with
/// or without `ST_`, where the function is a condition and its first argument a geometry column.
enum IndexedFunctions {
  /// The relations; SQLite knows each by its index here.
  static let relations: [SpatialRelation] = SpatialRelation.allCases.filter {
    $0 != .disjoint
  }

  /// The relation that a function of this name tests; `nil` for other names.
  static func relation(of name: String) -> SpatialRelation? {
    var name = name.lowercased()
    if name.hasPrefix("st_") { name.removeFirst(3) }
    return relations.first { $0.rawValue.lowercased() == name }
  }

  static func isMentioned(in words: SQLWords) -> Bool {
    relations.contains { words.contains($0.rawValue) || words.contains("ST_\($0.rawValue)") }
  }
}
