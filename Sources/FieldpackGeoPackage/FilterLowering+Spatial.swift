import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

extension FilterLowering {
  private func geometrySQL() throws(FieldpackError) -> String {
    guard let geometry = table.schema.geometry else {
      throw FieldpackError(
        .notFound, "layer '\(table.layer.id)' has no geometry for a spatial condition",
        location: .init(layer: table.layer.id))
    }
    return quoted(geometry.name)
  }

  func envelopeTest(
    _ relation: EnvelopeRelation, _ box: Envelope, srs: SRS?, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    let geometry = try geometrySQL()
    let boxes = try project.boxes(box, from: srs, to: table)
    let name =
      switch relation {
      case .intersects, .disjoint: "fieldpack_envelope_intersects"
      case .within: "fieldpack_envelope_within"
      case .contains: "fieldpack_envelope_contains"
      }
    let isNegated = (relation == .disjoint) != negated
    let tests = boxes.map { box in
      SQLFragment(
        "\(isNegated ? "NOT " : "")\(name)(\(geometry), ?, ?, ?, ?)",
        [.real(box.minX), .real(box.minY), .real(box.maxX), .real(box.maxY)])
    }
    // A feature holds a box that crosses the antimeridian when it holds both parts, and is in any
    // other relation to it when it is so to one of them.
    return (relation == .contains) != isNegated ? .and(tests) : .or(tests)
  }

  func relationTest(
    _ relation: SpatialRelation, _ geometry: Geometry, srs: SRS?, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    let column = try geometrySQL()
    let literal = try project.geometry(geometry, from: srs, to: table)
    guard !literal.isEmpty else { return .isFalse }
    var bytes: [UInt8] = []
    WKB.write(literal, into: &bytes)
    return SQLFragment(
      "\(negated ? "NOT " : "")fieldpack_\(relation.rawValue)(\(column), ?, \(table.publicID), "
        + "\(skipsErrors ? 1 : 0))", [.blob(bytes)])
  }

  // MARK: R-tree

  /// Boxes, in the layer's SRS, that the envelope of every match touches; `nil` where the filter
  /// gives none, or too many to be worth it.
  func candidateBoxes(
    _ filter: Filter, negated: Bool = false
  ) throws(FieldpackError) -> [Envelope]? {
    switch filter {
    case .not(let part): return try candidateBoxes(part, negated: !negated)
    case .and(let parts) where !negated, .or(let parts) where negated:
      for part in parts {
        if let boxes = try candidateBoxes(part, negated: negated) { return boxes }
      }
      return nil
    case .or(let parts), .and(let parts):
      var all: [Envelope] = []
      for part in parts {
        guard let boxes = try candidateBoxes(part, negated: negated) else { return nil }
        all += boxes
      }
      return all.isEmpty || all.count > 16 ? nil : all
    case .envelope(.disjoint, let box, let srs):
      return negated ? try project.boxes(box, from: srs, to: table) : nil
    case .envelope(_, let box, let srs):
      return negated ? nil : try project.boxes(box, from: srs, to: table)
    case .relation(let relation, let geometry, let srs):
      guard (relation == .disjoint) == negated else { return nil }
      let literal = try project.geometry(geometry, from: srs, to: table)
      return literal.envelope.map { [$0] }
    default: return nil
    }
  }

  /// The condition with the R-tree in front of it, where the layer has one and the filter a box.
  func indexedCondition(_ filter: Filter) throws(FieldpackError) -> SQLFragment {
    guard let rtree = table.rtree, let id = table.idSQL,
      let boxes = try candidateBoxes(filter)
    else { return try condition(filter) }
    if let (box, relation, rest) = try decidedBox(filter) {
      let ids = try Self.decided(
        rtree: rtree, table: table, box: box, relation: relation, recheck: filter, lowering: self)
      return .and([
        SQLFragment("\(id) IN (\(ids.text))", ids.parameters), try condition(rest),
      ])
    }
    let selects = boxes.map { box in
      let test = RTreeBox.candidates(.intersects, box)
      return SQLFragment("SELECT id FROM \(quoted(rtree)) WHERE \(test.text)", test.parameters)
    }
    let ids = selects.map(\.text).joined(separator: " UNION ALL ")
    return .and([
      SQLFragment("\(id) IN (\(ids))", selects.flatMap(\.parameters)), try condition(filter),
    ])
  }

  /// The one envelope test among the filter's conjuncts that the R-tree's floats can decide, with
  /// what is left of the filter.
  private func decidedBox(
    _ filter: Filter
  ) throws(FieldpackError) -> (Envelope, EnvelopeRelation, Filter)? {
    let parts: [Filter] = if case .and(let parts) = filter { parts } else { [filter] }
    for (index, part) in parts.enumerated() {
      guard case .envelope(let relation, let box, let srs) = part, relation != .disjoint else {
        continue
      }
      let boxes = try project.boxes(box, from: srs, to: table)
      guard boxes.count == 1 else { continue }
      var rest = parts
      rest.remove(at: index)
      return (boxes[0], relation, rest.isEmpty ? .all : .and(rest))
    }
    return nil
  }

  private static func decided(
    rtree: String, table: LayerTable, box: Envelope, relation: EnvelopeRelation, recheck: Filter,
    lowering: FilterLowering
  ) throws(FieldpackError) -> SQLFragment {
    let candidate = RTreeBox.candidates(relation, box)
    let sure = RTreeBox.certain(relation, box)
    let exact = try lowering.envelopeTest(relation, box, srs: nil, negated: false)
    let blob = SQLFragment(
      "(SELECT \(exact.text) FROM \(quoted(table.table)) "
        + "WHERE \(table.idExpression) = \(quoted(rtree)).id)", exact.parameters)
    let either = SQLFragment.or([sure, blob])
    return SQLFragment(
      "SELECT id FROM \(quoted(rtree)) WHERE \(candidate.text) AND \(either.text)",
      candidate.parameters + either.parameters)
  }
}

/// Conditions on an R-tree's bounds, which are floats rounded outwards: a minimum is at most the
/// true one and a maximum at least.
///
/// Writers round by one step or, as SQLite does, by up to two, and SQLite's rounding fails for
/// numbers that are no normal floats; so four steps are allowed for, in both directions.
enum RTreeBox {
  private static let steps = 4

  /// True for every entry that may satisfy the relation.
  static func candidates(_ relation: EnvelopeRelation, _ box: Envelope) -> SQLFragment {
    test(relation, box, lower: below, upper: above)
  }

  /// True only for entries that satisfy the relation whatever the rounding was.
  static func certain(_ relation: EnvelopeRelation, _ box: Envelope) -> SQLFragment {
    // A bound that floats cannot tell from infinity decides nothing.
    func finite(_ value: Double) -> Double? { value.isFinite ? value : nil }
    return test(
      relation, box, lower: { finite(above($0)) }, upper: { finite(below($0)) })
  }

  /// `lower` moves a bound that an entry must not go below, `upper` one not to go above.
  private static func test(
    _ relation: EnvelopeRelation, _ box: Envelope, lower: (Double) -> Double?,
    upper: (Double) -> Double?
  ) -> SQLFragment {
    let bound = { (value: Double?) in value.map(SQLiteValue.real) ?? .null }
    switch relation {
    case .intersects, .disjoint:
      return SQLFragment(
        "(maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?)",
        [lower(box.minX), upper(box.maxX), lower(box.minY), upper(box.maxY)].map(bound))
    case .within:
      return SQLFragment(
        "(minx >= ? AND maxx <= ? AND miny >= ? AND maxy <= ?)",
        [lower(box.minX), upper(box.maxX), lower(box.minY), upper(box.maxY)].map(bound))
    case .contains:
      return SQLFragment(
        "(minx <= ? AND maxx >= ? AND miny <= ? AND maxy >= ?)",
        [upper(box.minX), lower(box.maxX), upper(box.minY), lower(box.maxY)].map(bound))
    }
  }

  private static func above(_ value: Double) -> Double {
    var float = Float(value)
    for _ in 0..<steps + 1 { float = float.nextUp }
    return Double(float)
  }

  private static func below(_ value: Double) -> Double {
    var float = Float(value)
    for _ in 0..<steps + 1 { float = float.nextDown }
    return Double(float)
  }
}
