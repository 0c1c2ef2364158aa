package import FieldpackCore
import FieldpackGeometry
package import FieldpackSQLite

/// The FROM and WHERE that give the rows of a layer which a filter may keep.
package struct LayerAccess {
  /// The SQL after FROM.
  package var source: SQLFragment
  package var condition: SQLFragment
  /// The id as SQL, by which ordering costs nothing.
  package var id: String
  /// The call that asks the R-tree; `nil` where the table is scanned.
  var candidates: SQLFragment?
  /// Whether the condition is `id IN (…)` with the ids from the R-tree.
  var listsIDs = false
  /// Whether the source's parameters are one box, and the condition's first parameters are the same
  /// box.
  var looksForBox = false
  /// The source and condition where only ids are wanted; `nil` where ids alone need the rows too.
  var idsOnly: IDAccess?

  struct IDAccess {
    var source: SQLFragment
    var condition: SQLFragment
  }
}

extension FilterLowering {
  /// Reads through the R-tree where the layer has one and the filter a box or a geometry, else
  /// through the table.
  package func access(_ filter: Filter) throws(FieldpackError) -> LayerAccess {
    if table.rtree != nil, table.idSQL != nil {
      if let access = try joinedAccess(filter) { return access }
      if let ids = try candidateIDs(filter), let id = table.idSQL {
        var access = scan(.and(["\(id) IN (\(ids))", try condition(filter)]))
        access.listsIDs = true
        return access
      }
    }
    return scan(try condition(filter))
  }

  private func scan(_ condition: SQLFragment) -> LayerAccess {
    LayerAccess(source: "\(table.fromSQL)", condition: condition, id: table.idExpression)
  }

  /// Joins one conjunct's candidates from the R-tree with their rows. Candidates come in the order
  /// of their ids, so rows are read in the order of the table. A candidate that the R-tree is sure
  /// of skips the exact test.
  private func joinedAccess(_ filter: Filter) throws(FieldpackError) -> LayerAccess? {
    guard let id = table.idSQL, table.hasIDColumn, !table.layer.isView,
      let (candidates, part, rest) = try indexedPart(filter)
    else { return nil }
    let source: SQLFragment =
      "\(candidates) CROSS JOIN \(quoted(table.table)) ON \(id) = \(SpatialIndexes.idColumn)"
    let exact = try condition(part)
    let matches = SQLFragment.or(["\(SpatialIndexes.sureColumn)", exact])
    var access = LayerAccess(
      source: source, condition: .and([matches, try condition(rest)], keepsOrder: true),
      id: SpatialIndexes.idColumn, candidates: candidates, looksForBox: part.isEnvelopeTest)
    // Without triggers the R-tree may list ids of deleted rows.
    if rest == .all, !table.lacksIndexTriggers {
      let row: SQLFragment =
        "(SELECT \(exact) FROM \(quoted(table.table)) WHERE \(id) = \(SpatialIndexes.idColumn))"
      access.idsOnly = .init(
        source: candidates, condition: .or(["\(SpatialIndexes.sureColumn)", row]))
    }
    return access
  }

  /// The conjunct to look up in the R-tree and the rest of the filter. An envelope test is
  /// preferred to an exact relation.
  private func indexedPart(
    _ filter: Filter
  ) throws(FieldpackError) -> (candidates: SQLFragment, part: Filter, rest: Filter)? {
    guard let rtree = table.rtree else { return nil }
    let parts: [Filter] = if case .and(let parts) = filter { parts } else { [filter] }
    var found: (index: Int, candidates: SQLFragment)?
    for (index, part) in parts.enumerated() {
      switch part {
      case .envelope(let relation, let box, let srs) where relation != .disjoint:
        guard let box = try project.oneBox(box, from: srs, to: table) else { continue }
        found = (index, Self.candidates(rtree, relation, box))
      case .relation(let relation, let geometry, let srs, _) where relation != .disjoint:
        guard found == nil else { continue }
        let literal = try project.geometry(geometry, from: srs, to: table)
        guard !literal.isEmpty else { continue }
        found = (index, Self.related(rtree, relation, literal))
        continue
      default: continue
      }
      break
    }
    guard let found else { return nil }
    var rest = parts
    let part = rest.remove(at: found.index)
    return (found.candidates, part, rest.isEmpty ? .all : .and(rest))
  }

  /// The box and relation of a filter that is one envelope test and nothing else.
  func onlyBox(
    _ filter: Filter
  ) throws(FieldpackError) -> (relation: EnvelopeRelation, box: Envelope)? {
    guard case .envelope(let relation, let box, let srs) = filter, relation != .disjoint else {
      return nil
    }
    return try project.oneBox(box, from: srs, to: table).map { (relation, $0) }
  }

  /// A SELECT of the ids that the R-tree finds for any of the filter's boxes, and of those that it names.
  private func candidateIDs(_ filter: Filter) throws(FieldpackError) -> SQLFragment? {
    guard let rtree = table.rtree, let found = try candidates(filter), !found.areOfIDsAlone else {
      return nil
    }
    var selections: [SQLFragment] = found.boxes.map { box in
      "SELECT \(SpatialIndexes.idColumn) FROM \(Self.candidates(rtree, .intersects, box))"
    }
    if !found.ids.isEmpty {
      let list = found.ids.map(String.init).joined(separator: ",")
      selections.append("SELECT value FROM json_each(\(bind: .text("[\(list)]")))")
    }
    return .list(selections, by: " UNION ALL ")
  }

  private static func candidates(
    _ rtree: String, _ relation: EnvelopeRelation, _ box: Envelope
  ) -> SQLFragment {
    "fieldpack_candidates(\(literal(rtree)), '\(relation.rawValue)', \(bind: box.parameters))"
  }

  private static func related(
    _ rtree: String, _ relation: SpatialRelation, _ geometry: Geometry
  ) -> SQLFragment {
    let wkb = SQLiteValue.blob(WKB.bytes(of: geometry))
    return "fieldpack_related(\(literal(rtree)), '\(relation.rawValue)', \(bind: wkb))"
  }
}

extension Envelope {
  /// The sides as parameters.
  var parameters: [SQLiteValue] { [.real(minX), .real(minY), .real(maxX), .real(maxY)] }
}

extension Filter {
  fileprivate var isEnvelopeTest: Bool { if case .envelope = self { true } else { false } }
}
