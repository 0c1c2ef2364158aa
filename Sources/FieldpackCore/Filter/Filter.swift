public import FieldpackGeometry

public enum Comparison: String, Hashable, Sendable, CaseIterable {
  case equal = "="
  case notEqual = "<>"
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
}

extension Comparison {
  /// The comparison that holds where this one does not, of values that are there.
  package var negated: Comparison {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }

  /// The comparison with its sides exchanged.
  package var mirrored: Comparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

/// How a feature's envelope lies to a box; borders are closed.
public enum EnvelopeRelation: String, Hashable, Sendable, CaseIterable {
  /// The envelopes share a point.
  case intersects
  /// The feature's envelope lies in the box.
  case within
  /// The box lies in the feature's envelope.
  case contains
  /// The envelopes share no point.
  case disjoint
}

/// What a condition tests between a feature's geometry and another, beside the named relations.
public enum SpatialTest: Hashable, Sendable {
  /// The DE-9IM matrix of the feature and the geometry fits the pattern: nine characters of `T`,
  /// `F`, `0`, `1`, `2` and `*`.
  case matrix(String)
  /// The geometries are no more than the given distance apart.
  case within(Double, DistanceMetric)
}

/// One side of a relation between geometries.
public enum SpatialOperand: Hashable, Sendable {
  /// The geometry column of that name; `nil` for the layer's own, whatever its name.
  case column(String? = nil)
  /// A geometry in `srs`, `nil` for the layer's own.
  case geometry(Geometry, srs: SRS? = nil)
}

/// How an array lies to another, both taken as sets.
public enum ArrayRelation: String, Hashable, Sendable, CaseIterable {
  /// The first has every element of the second.
  case contains
  /// The second has every element of the first.
  case containedBy
  /// Each has every element of the other.
  case equals
  /// They share an element.
  case overlaps

  /// The name as CQL2 Text writes it.
  var functionName: String { "A_" + rawValue.uppercased() }
}

/// A condition on features, with SQL's three-valued logic: only `true` keeps a feature.
///
/// A NULL attribute, and a NULL or empty geometry, answers NULL in every comparison and relation,
/// so such a feature is neither in a condition nor in its negation.
///
///     let deep = Column<String>("use") == "irrigation" && Column<Double>("depth") > 40.5
///     let same = try Filter(cql2: "use = 'irrigation' AND depth > 40.5")
///     let near = Filter.isWithin(500, of: .point(x: 13.9, y: 51.95), srs: .wgs84)
///     let query = Query("wells", where: deep && !near)
public indirect enum Filter: Hashable, Sendable {
  case all
  case compare(Operand, Comparison, Operand)
  /// Whether the first operand is not below the second and not above the third.
  case between(Operand, Operand, Operand)
  case isIn(Operand, [Operand])
  case isNull(Operand)
  /// Whether a text matches a pattern, case-sensitively: `%` stands for any run of characters, `_`
  /// for any character, and `\` makes the next character stand for itself.
  ///
  /// The functions in `folding` are applied to the pattern, the last function first.
  case like(Operand, pattern: String, folding: [FilterFunction] = [])
  /// The envelope test. `srs` is the SRS of the box, `nil` the layer's own.
  case envelope(EnvelopeRelation, Envelope, srs: SRS? = nil)
  /// The exact test. `srs` is the SRS of the geometry, `nil` the layer's own; `column` is the name
  /// that the layer's geometry column must have, `nil` for any.
  case relation(SpatialRelation, Geometry, srs: SRS? = nil, column: String? = nil)
  /// A test of a pattern or a distance. `srs` and `column` are as in a relation.
  case test(SpatialTest, Geometry, srs: SRS? = nil, column: String? = nil)
  /// The exact test between any two geometries; see ``relation(_:_:srs:column:)`` for the one that
  /// an R-tree answers.
  case spatial(SpatialRelation, SpatialOperand, SpatialOperand)
  /// Whether a vertex lies in the box, borders included; of polygons only outer rings are looked
  /// at.
  case vertex(in: Envelope, srs: SRS? = nil)
  /// How one instant, date or interval lies to another.
  case temporal(TemporalRelation, Operand, Operand)
  /// How one array lies to another: a list, or a column with a JSON array as text.
  case array(ArrayRelation, Operand, Operand)
  case and([Filter])
  case or([Filter])
  case not(Filter)
}

extension Filter {
  /// The exact test against `geometry`, given in `srs`.
  public static func intersects(_ geometry: Geometry, srs: SRS? = nil) -> Filter {
    .relation(.intersects, geometry, srs: srs)
  }

  /// Features whose envelope shares a point with `box`, using the layer's R-tree when it has one.
  ///
  /// A candidate test: a feature near a corner may match without touching.
  /// See ``Filter/relation(_:_:srs:column:)``.
  /// - Complexity: O(log n + matches) with an R-tree, O(n) without.
  public static func intersects(_ box: Envelope, srs: SRS? = nil) -> Filter {
    .envelope(.intersects, box, srs: srs)
  }

  /// Features no more than `distance` away from `geometry`, using the layer's R-tree when it has one.
  ///
  /// `GeodesicShape` tells how geodesic distances are measured.
  /// - Parameters:
  ///   - distance: metres, or for `.planar` units of the layer's SRS.
  ///   - srs: the SRS of `geometry`, `nil` the layer's own.
  public static func isWithin(
    _ distance: Double, of geometry: Geometry, srs: SRS? = nil, metric: DistanceMetric = .geodesic
  ) -> Filter {
    .test(.within(distance, metric), geometry, srs: srs)
  }

  /// Features whose DE-9IM matrix with `geometry` fits `pattern`, such as `T*F**F***`.
  public static func relates(
    to geometry: Geometry, pattern: String, srs: SRS? = nil
  ) -> Filter {
    .test(.matrix(pattern), geometry, srs: srs)
  }

  public static func && (a: Filter, b: Filter) -> Filter {
    switch (a, b) {
    case (.all, _): b
    case (_, .all): a
    case (.and(let left), .and(let right)): .and(left + right)
    case (.and(let left), _): .and(left + [b])
    case (_, .and(let right)): .and([a] + right)
    default: .and([a, b])
    }
  }

  public static func || (a: Filter, b: Filter) -> Filter {
    switch (a, b) {
    case (.or(let left), .or(let right)): .or(left + right)
    case (.or(let left), _): .or(left + [b])
    case (_, .or(let right)): .or([a] + right)
    default: .or([a, b])
    }
  }

  public static prefix func ! (filter: Filter) -> Filter { .not(filter) }

  /// The columns that the condition reads, each of them once, in the order in which it names them.
  public var columns: [String] {
    var found: [String] = []
    collectColumns(into: &found)
    return found
  }

  private func collectColumns(into found: inout [String]) {
    for operand in operands {
      operand.visit { part in
        switch part {
        case .column(let name) where !found.contains { $0.hasSameBytes(as: name) }:
          found.append(name)
        case .condition(let filter): filter.collectColumns(into: &found)
        default: break
        }
      }
    }
    for part in parts { part.collectColumns(into: &found) }
  }

  /// The operands of the condition itself, without those of its parts.
  package var operands: [Operand] {
    switch self {
    case .all, .envelope, .relation, .test, .spatial, .vertex, .and, .or, .not: []
    case .compare(let a, _, let b), .temporal(_, let a, let b), .array(_, let a, let b): [a, b]
    case .between(let value, let low, let high): [value, low, high]
    case .isIn(let value, let list): [value] + list
    case .isNull(let value), .like(let value, _, _): [value]
    }
  }

  /// The conditions that the condition joins by `AND`, `OR` or `NOT`.
  package var parts: [Filter] {
    switch self {
    case .and(let parts), .or(let parts): parts
    case .not(let part): [part]
    default: []
    }
  }
}
