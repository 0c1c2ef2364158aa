import FieldpackGeometry

/// A filter whose columns are places of a row.
indirect enum Condition: Sendable {
  case all
  case compare(Term, Comparison, Term)
  case between(Term, Term, Term)
  case isIn(Term, [Term])
  case isNull(Term)
  case like(Term, LikePattern)
  case envelope(EnvelopeRelation, Envelope)
  case relation(SpatialRelation, Geometry)
  case and([Condition])
  case or([Condition])
  case not(Condition)
}

/// An operand whose column is a place of a row.
enum Term: Sendable {
  case column(Int, isTemporal: Bool)
  case id
  case geometry
  case literal(Scalar, isTemporal: Bool)
}

/// Binds a filter to the columns of a schema.
struct FilterBinder {
  let schema: Schema

  func condition(_ filter: Filter) throws(FieldpackError) -> Condition {
    switch filter {
    case .all: return .all
    case .compare(let left, let comparison, let right):
      return .compare(try term(left), comparison, try term(right))
    case .between(let value, let low, let high):
      return .between(try term(value), try term(low), try term(high))
    case .isIn(let value, let list):
      var terms: [Term] = []
      for item in list { terms.append(try term(item)) }
      return .isIn(try term(value), terms)
    case .isNull(let value): return .isNull(try term(value, allowsGeometry: true))
    case .like(let value, let pattern): return .like(try term(value), LikePattern(pattern))
    case .envelope(let relation, let box, let srs):
      try checkGeometry(srs: srs)
      try check(box)
      return .envelope(relation, box)
    case .relation(let relation, let geometry, let srs):
      try checkGeometry(srs: srs)
      return .relation(relation, geometry)
    case .and(let parts): return .and(try conditions(parts))
    case .or(let parts): return .or(try conditions(parts))
    case .not(let part): return .not(try condition(part))
    }
  }

  private func conditions(_ filters: [Filter]) throws(FieldpackError) -> [Condition] {
    var conditions: [Condition] = []
    for filter in filters { conditions.append(try condition(filter)) }
    return conditions
  }

  private func term(
    _ operand: Operand, allowsGeometry: Bool = false
  ) throws(FieldpackError) -> Term {
    switch operand {
    case .literal(let value):
      let isTemporal =
        switch value {
        case .date, .dateTime: true
        default: false
        }
      return .literal(Scalar(value), isTemporal: isTemporal)
    case .column(let name):
      let term = try term(named: name)
      if case .geometry = term, !allowsGeometry {
        throw FieldpackError(
          .invalidArgument,
          "the geometry column '\(name)' compares with nothing: use a relation such as "
            + "S_INTERSECTS, or IS NULL",
          location: .init(layer: schema.layer))
      }
      return term
    }
  }

  private func term(named name: String) throws(FieldpackError) -> Term {
    switch schema.role(of: name) {
    case .attribute(let index)?:
      let type = schema.columns[index].type
      return .column(index, isTemporal: type == .date || type == .dateTime)
    case .id?: return .id
    case .geometry?: return .geometry
    case nil: throw schema.unknownColumn(name)
    }
  }

  private func checkGeometry(srs: SRS?) throws(FieldpackError) {
    let place = KeyTuple.Partial(layer: schema.layer)
    guard let column = schema.geometry else {
      throw FieldpackError(
        .notFound, "layer '\(schema.layer)' has no geometry to compare", location: place)
    }
    guard let srs, srs != column.srs, !column.srs.isUndefined else { return }
    throw FieldpackError(
      .unsupported,
      "the condition's geometry is in \(srs) and layer '\(schema.layer)' is in \(column.srs): "
        + "transform it first", location: place)
  }

  private func check(_ box: Envelope) throws(FieldpackError) {
    guard box.isEmpty else { return }
    throw FieldpackError(
      .invalidArgument,
      "the box \(box.minX), \(box.minY), \(box.maxX), \(box.maxY) holds nothing: its minimum lies "
        + "beyond its maximum")
  }
}

extension Schema {
  /// What a column name stands for.
  public enum ColumnRole: Hashable, Sendable {
    /// The place in ``Schema/columns``.
    case attribute(Int)
    case id
    case geometry
  }

  /// What `name` stands for, by exact name, else ignoring ASCII case as SQL does.
  public func role(of name: String) -> ColumnRole? {
    if let index = columnIndex(name) { return .attribute(index) }
    let folded = name.uppercasedASCII
    func isMeant(_ column: String?) -> Bool {
      column?.uppercasedASCII.hasSameBytes(as: folded) ?? false
    }
    return isMeant(idColumn) ? .id : isMeant(geometry?.name) ? .geometry : nil
  }

  /// The error for a column that the layer lacks, with the names that may have been meant.
  public func unknownColumn(_ name: String) -> FieldpackError {
    let names = [idColumn, geometry?.name].compactMap(\.self) + columns.map(\.name)
    let listed = names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
    return FieldpackError(
      .notFound,
      "layer '\(layer)' has no column '\(name)'\(NearNames.question(name, in: names))"
        + " (it has: \(listed))", location: .init(layer: layer))
  }
}
