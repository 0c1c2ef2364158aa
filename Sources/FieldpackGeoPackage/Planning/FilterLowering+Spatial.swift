import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

extension FilterLowering {
  /// The geometry column as tests read it. Where rows state their own SRS, a geometry in another
  /// SRS than the layer's fails the test.
  func geometrySQL(column name: String? = nil) throws(FieldpackError) -> String {
    let column = quoted(try table.schema.geometryColumn(named: name).name)
    guard table.statesSystem, let srsID = table.srsID else { return column }
    let states =
      "fieldpack_states_system(\(column), \(srsID), \(table.publicID), \(skipsErrors ? 1 : 0))"
    return "CASE WHEN \(states) THEN \(column) END"
  }

  func envelopeTest(
    _ relation: EnvelopeRelation, _ box: Envelope, srs: SRS?, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    let name =
      switch relation {
      case .intersects, .disjoint: "fieldpack_envelope_intersects"
      case .within: "fieldpack_envelope_within"
      case .contains: "fieldpack_envelope_contains"
      }
    // A feature contains a box that crosses the antimeridian when it contains both parts. For every
    // other relation one part is enough.
    return try boxTest(
      name, box, srs: srs, negated: (relation == .disjoint) != negated,
      asksForAll: relation == .contains)
  }

  func boxTest(
    _ name: String, _ box: Envelope, srs: SRS?, negated: Bool, asksForAll: Bool = false
  ) throws(FieldpackError) -> SQLFragment {
    let geometry = try geometrySQL()
    let tests: [SQLFragment] = try project.boxes(box, from: srs, to: table).map { box in
      "\(negated ? "NOT " : "")\(name)(\(geometry), \(bind: box.parameters))"
    }
    return asksForAll != negated ? .and(tests) : .or(tests)
  }

  func relationTest(
    _ relation: SpatialRelation, _ geometry: Geometry, srs: SRS?, column name: String?,
    negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    let column = try geometrySQL(column: name)
    let literal = try project.geometry(geometry, from: srs, to: table)
    guard !literal.isEmpty else { return .isFalse }
    return call(
      relation, ["\(column)", "\(bind: .blob(WKB.bytes(of: literal)))"], negated: negated)
  }

  private func call(
    _ relation: SpatialRelation, _ geometries: [SQLFragment], negated: Bool
  ) -> SQLFragment {
    .call(
      "\(negated ? "NOT " : "")fieldpack_\(relation.rawValue)",
      geometries + ["\(table.publicID)", skipsErrors ? "1" : "0"])
  }

  func spatialTest(
    _ relation: SpatialRelation, _ a: SpatialOperand, _ b: SpatialOperand, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    switch (a, b) {
    case (.column(let name), .geometry(let geometry, let srs)):
      return try relationTest(relation, geometry, srs: srs, column: name, negated: negated)
    case (.geometry(let geometry, let srs), .column(let name)):
      return try relationTest(
        relation.mirrored, geometry, srs: srs, column: name, negated: negated)
    case (.column(let first), .column(let second)):
      let columns = [try geometrySQL(column: first), try geometrySQL(column: second)]
      return call(
        relation, ["\(columns[0])", "fieldpack_wkb(\(columns[1]))"], negated: negated)
    case (.geometry(let first, let firstSRS), .geometry(let second, let secondSRS)):
      guard firstSRS == secondSRS else {
        throw FieldpackError(
          .unsupported, "the condition's two geometries are in two reference systems")
      }
      if first.isEmpty || second.isEmpty { return .isFalse }
      var blob: [UInt8] = []
      GeoPackageBinary.append(first, srsID: 0, to: &blob)
      return call(
        relation,
        ["\(bind: .blob(blob))", "\(bind: .blob(WKB.bytes(of: second)))"],
        negated: negated)
    }
  }

  // MARK: R-tree

  /// What every match of a filter has at least one of.
  struct Candidates {
    /// Boxes in the layer's SRS, which the envelope touches.
    var boxes: [Envelope] = []
    /// The rowid is one of these.
    var ids: [Int64] = []

    /// SQLite finds rows by their ids alone without help.
    var areOfIDsAlone: Bool { boxes.isEmpty && !ids.isEmpty }
  }

  /// The boxes and ids of a filter; `nil` where it gives none, where one of two alternatives has none, and for
  /// more than 16 boxes.
  func candidates(
    _ filter: Filter, negated: Bool = false
  ) throws(FieldpackError) -> Candidates? {
    switch filter {
    case .not(let part): return try candidates(part, negated: !negated)
    case .and(let parts) where !negated, .or(let parts) where negated:
      var ids: Candidates?
      for part in parts {
        guard let found = try candidates(part, negated: negated) else { continue }
        if !found.areOfIDsAlone { return found }
        ids = found
      }
      return ids
    case .or(let parts), .and(let parts):
      var all = Candidates()
      for part in parts {
        guard let found = try candidates(part, negated: negated) else { return nil }
        all.boxes += found.boxes
        all.ids += found.ids
      }
      return all.boxes.isEmpty || all.boxes.count > 16 ? nil : all
    case .isIn(.column(let name), let values) where !negated:
      return rowIDs(name, values).map { Candidates(ids: $0) }
    default:
      return try candidateBoxes(filter, negated: negated).map { Candidates(boxes: $0) }
    }
  }

  /// The numbers that rowids are compared with; `nil` where the column is not the rowid, or a value is no
  /// number.
  private func rowIDs(_ column: String, _ values: [Operand]) -> [Int64]? {
    guard table.schema.isID(column), table.textID == nil, table.hasRowIDs else { return nil }
    var ids: [Int64] = []
    for value in values {
      guard case .literal(.integer(let id)) = value else { return nil }
      ids.append(id)
    }
    return ids
  }

  private func candidateBoxes(
    _ filter: Filter, negated: Bool
  ) throws(FieldpackError) -> [Envelope]? {
    switch filter {
    case .envelope(.disjoint, let box, let srs):
      return negated ? try project.boxes(box, from: srs, to: table) : nil
    case .envelope(_, let box, let srs):
      return negated ? nil : try project.boxes(box, from: srs, to: table)
    case .vertex(let box, let srs):
      return negated ? nil : try project.boxes(box, from: srs, to: table)
    case .relation(let relation, let geometry, let srs, _):
      guard (relation == .disjoint) == negated else { return nil }
      let literal = try project.geometry(geometry, from: srs, to: table)
      return literal.envelope.map { [$0] }
    case .test(let test, let geometry, let srs, _):
      return negated ? nil : try candidateBoxes(test, geometry, srs: srs)
    default: return nil
    }
  }
}
