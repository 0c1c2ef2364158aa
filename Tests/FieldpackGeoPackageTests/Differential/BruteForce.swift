import FieldpackCore
import FieldpackGeometry
import FieldpackTopology

/// What other programs understand otherwise than Fieldpack.
enum Semantics: String, CaseIterable {
  /// SQLite's LIKE takes ASCII letters of both cases for the same.
  case likeIgnoresCase
  /// SQLite compares the texts of instants: `…:00Z` comes after `…:00.000Z`, which is the same.
  case instantsAreText
  /// An empty geometry is disjoint from all, as DE-9IM says, where Fieldpack's answer is NULL.
  case emptyIsDisjoint
  /// A relation of a missing or empty geometry is -1, so that `NOT (… = 1)` is true; POINT EMPTY, a
  /// point of NaN, is disjoint from all.
  case missingIsFalse
  /// An empty geometry has a box, which is the wrong way round: within all and disjoint from all.
  case emptyHasBox
  /// Geometries are equal whose vertices are, one by one, so that a point is no MultiPoint of one.
  case equalIsVertexByVertex
}

/// Goes through all features for each condition, without SQL, index, envelopes or preparation.
final class BruteForce {
  private let features: [RandomFeature]
  private let shapes: [Shape?]
  private let literals: [Shape]
  private let geometries: [Geometry]
  /// What was found for a relation to a literal.
  private var known: [String: [Bool?]] = [:]
  /// How often the matrix of an invalid geometry gave another answer than GEOS's test of that name,
  /// which then counts: GEOS finds a common interior where such polygons meet in a corner.
  private(set) var invalidCount = 0

  private struct Shape {
    let geometry: TopologyGeometry
    let isValid: Bool
    /// 0 for points, 1 for lines, 2 for polygons.
    let dimension: Int

    init(_ geometry: Geometry, _ context: TopologyContext) throws {
      self.geometry = try context.read(geometry)
      isValid = try self.geometry.isValid()
      dimension =
        switch geometry.type {
        case .point, .multiPoint: 0
        case .lineString, .multiLineString: 1
        default: 2
        }
    }
  }

  init(_ features: [RandomFeature], _ literals: [Geometry]) throws {
    let context = try TopologyContext()
    self.features = features
    geometries = literals
    shapes = try features.map { feature in try feature.geometry.map { try Shape($0, context) } }
    self.literals = try literals.map { try Shape($0, context) }
  }

  /// For each feature whether it meets the condition; `nil` is NULL.
  func answers(_ condition: Condition, _ semantics: Set<Semantics> = []) throws -> [Bool?] {
    switch condition {
    case .relation(let relation, let index): return try related(relation, index, semantics)
    case .and(let parts):
      return try combined(parts, semantics) {
        $0.contains(false) ? false : $0.contains(nil) ? nil : true
      }
    case .or(let parts):
      return try combined(parts, semantics) {
        $0.contains(true) ? true : $0.contains(nil) ? nil : false
      }
    case .not(let part): return try answers(part, semantics).map { $0.map { !$0 } }
    default: return features.map { answer(condition, $0, semantics) }
    }
  }

  private func combined(
    _ parts: [Condition], _ semantics: Set<Semantics>, _ combine: ([Bool?]) -> Bool?
  ) throws -> [Bool?] {
    let answers = try parts.map { try self.answers($0, semantics) }
    return features.indices.map { row in combine(answers.map { $0[row] }) }
  }

  // MARK: Attributes

  private func answer(
    _ condition: Condition, _ feature: RandomFeature, _ semantics: Set<Semantics>
  ) -> Bool? {
    switch condition {
    case .compare(let field, let comparison, let value):
      return order(feature, field, value, semantics).map { comparison.holds(for: $0) }
    case .between(let field, let low, let high):
      guard let first = order(feature, field, low, semantics),
        let second = order(feature, field, high, semantics)
      else { return nil }
      return first >= 0 && second <= 0
    case .isIn(let field, let list):
      let orders = list.map { order(feature, field, $0, semantics) }
      return orders.contains(0) ? true : orders.contains(nil) ? nil : false
    case .isNull(let field): return feature.isMissing(field)
    case .like(_, let pattern):
      let folds = semantics.contains(.likeIgnoresCase)
      return feature.t.map { text in
        Self.matches(Self.letters(text, folds)[...], Self.letters(pattern, folds)[...])
      }
    case .box(let relation, let box):
      if semantics.contains(.emptyHasBox), feature.geometry?.isEmpty == true {
        return relation == .within || relation == .disjoint
      }
      return answer(relation, box, feature.geometry?.envelope)
    default: return nil
    }
  }

  /// -1, 0 or 1 as the value is less than, equal to or greater than the literal; `nil` for NULL.
  private func order(
    _ feature: RandomFeature, _ field: Condition.Field, _ literal: Condition.Literal,
    _ semantics: Set<Semantics>
  ) -> Int? {
    switch (field, literal) {
    case (.i, .integer(let other)): return feature.i.map { Self.order($0, other) }
    case (.i, .real(let other)): return feature.i.map { Self.order($0, toReal: other) }
    case (.r, .real(let other)): return feature.r.map { Self.order($0, other) }
    case (.r, .integer(let other)): return feature.r.map { -Self.order(other, toReal: $0) }
    case (.t, .text(let other)):
      return feature.t.map { Self.order(Self.letters($0, false), Self.letters(other, false)) }
    case (.b, .boolean(let other)): return feature.b.map { Self.order($0 ? 1 : 0, other ? 1 : 0) }
    case (.d, .date(let other)): return feature.d.map { Self.order($0.dayNumber, other.dayNumber) }
    case (.m, .instant(let other)):
      return feature.m.map { text in
        if semantics.contains(.instantsAreText) {
          return Self.order(text.utf8.map(UInt32.init), other.description.utf8.map(UInt32.init))
        }
        return Self.order(Instant(text)?.milliseconds ?? 0, other.milliseconds)
      }
    default: return nil
    }
  }

  private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  private static func order(_ a: [UInt32], _ b: [UInt32]) -> Int {
    a.lexicographicallyPrecedes(b) ? -1 : a == b ? 0 : 1
  }

  /// Exactly, also where the integer has no real number of its own.
  private static func order(_ a: Int64, toReal b: Double) -> Int {
    if b >= 9_223_372_036_854_775_808 { return -1 }
    if b < -9_223_372_036_854_775_808 { return 1 }
    let whole = Int64(b.rounded(.down))
    return a != whole ? order(a, whole) : b > b.rounded(.down) ? -1 : 0
  }

  private static func letters(_ text: String, _ folds: Bool) -> [UInt32] {
    text.unicodeScalars.map { folds && (65...90).contains($0.value) ? $0.value + 32 : $0.value }
  }

  /// `%` any run, `_` any character, `\` takes the next as it is.
  private static func matches(_ text: ArraySlice<UInt32>, _ pattern: ArraySlice<UInt32>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case 37: return (0...text.count).contains { matches(text.dropFirst($0), rest) }
    case 95: return !text.isEmpty && matches(text.dropFirst(), rest)
    case 92 where !rest.isEmpty:
      return text.first == rest.first && matches(text.dropFirst(), rest.dropFirst())
    default: return text.first == first && matches(text.dropFirst(), rest)
    }
  }

  // MARK: Geometry

  private func answer(
    _ relation: EnvelopeRelation, _ box: Envelope, _ own: Envelope?
  ) -> Bool? {
    guard let own else { return nil }
    let meets =
      own.minX <= box.maxX && own.maxX >= box.minX && own.minY <= box.maxY && own.maxY >= box.minY
    return switch relation {
    case .intersects: meets
    case .disjoint: !meets
    case .within:
      own.minX >= box.minX && own.maxX <= box.maxX && own.minY >= box.minY && own.maxY <= box.maxY
    case .contains:
      own.minX <= box.minX && own.maxX >= box.maxX && own.minY <= box.minY && own.maxY >= box.maxY
    }
  }

  private func related(
    _ relation: SpatialRelation, _ index: Int, _ semantics: Set<Semantics>
  ) throws -> [Bool?] {
    let key = "\(relation) \(index)"
    let answers = try known[key] ?? shapes.indices.map { try holds(relation, $0, index) }
    known[key] = answers
    return zip(answers, features).map { answer, feature in
      if let answer {
        guard relation == .equals, semantics.contains(.equalIsVertexByVertex) else { return answer }
        return answer && feature.geometry == geometries[index]
      }
      if semantics.contains(.missingIsFalse) {
        return relation == .disjoint && feature.geometry == .point(nil, .xy)
      }
      guard feature.geometry != nil, semantics.contains(.emptyIsDisjoint) else { return nil }
      return relation == .disjoint
    }
  }

  /// `nil` for a missing or an empty geometry.
  private func holds(_ relation: SpatialRelation, _ row: Int, _ index: Int) throws -> Bool? {
    guard let shape = shapes[row], !shape.geometry.isEmpty else { return nil }
    let literal = literals[index]
    let matrix = Array(try shape.geometry.relate(to: literal.geometry))
    let answer = Self.fits(relation, matrix, shape.dimension, literal.dimension)
    if shape.isValid, literal.isValid { return answer }
    let named = try shape.geometry.hasExactly(
      relation, to: literal.geometry)
    if named != answer { invalidCount += 1 }
    return named
  }

  /// What OGC Simple Features (06-103r4, section 6.1.15.3) says of a matrix: the rows are interior,
  /// border and outside of the feature.
  private static func fits(
    _ relation: SpatialRelation, _ m: [Character], _ own: Int, _ other: Int
  ) -> Bool {
    func has(_ cells: Int...) -> Bool { cells.allSatisfy { m[$0] != "F" } }
    func lacks(_ cells: Int...) -> Bool { cells.allSatisfy { m[$0] == "F" } }
    let meets = !lacks(0, 1, 3, 4)
    switch relation {
    case .intersects: return meets
    case .disjoint: return !meets
    case .within: return has(0) && lacks(2, 5)
    case .contains: return has(0) && lacks(6, 7)
    case .equals: return has(0) && lacks(2, 5, 6, 7)
    case .touches: return lacks(0) && meets
    case .crosses:
      if own == 1, other == 1 { return m[0] == "0" }
      return own < other ? has(0, 2) : own > other ? has(0, 6) : false
    case .overlaps:
      guard own == other else { return false }
      return own == 1 ? m[0] == "1" && has(2, 6) : has(0, 2, 6)
    case .covers: return meets && lacks(6, 7)
    case .coveredBy: return meets && lacks(2, 5)
    }
  }
}

extension Comparison {
  fileprivate func holds(for order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension RandomFeature {
  fileprivate func isMissing(_ field: Condition.Field) -> Bool {
    switch field {
    case .i: i == nil
    case .r: r == nil
    case .t: t == nil
    case .b: b == nil
    case .d: d == nil
    case .m: m == nil
    case .geom: geometry == nil
    }
  }
}
