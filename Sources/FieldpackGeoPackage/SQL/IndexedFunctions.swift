import FieldpackGeometry

/// The SQL functions that find their features by the R-tree where they stand as a condition, with a
/// geometry column first: `ST_Intersects(geom, …)` and its kin, with or without `ST_`.
enum IndexedFunctions {
  /// The relations; the place of each is its code with SQLite.
  static let relations: [SpatialRelation] = SpatialRelation.allCases.filter {
    $0 != .disjoint
  }

  /// What a function of that name tests; `nil` for others.
  static func relation(of name: String) -> SpatialRelation? {
    var name = name.lowercased()
    if name.hasPrefix("st_") { name.removeFirst(3) }
    return relations.first { $0.rawValue.lowercased() == name }
  }

  static func isMentioned(in words: SQLWords) -> Bool {
    relations.contains { words.contains($0.rawValue) || words.contains("ST_\($0.rawValue)") }
  }
}
