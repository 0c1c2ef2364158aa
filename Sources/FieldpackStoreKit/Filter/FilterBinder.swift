import FieldpackCore
import FieldpackGeometry

/// A filter whose columns are indexes of a row's columns.
indirect enum Condition: Sendable {
  case all
  case compare(Term, Comparison, Term)
  case between(Term, Term, Term)
  case isIn(Term, [Term])
  case isNull(Term)
  case like(Term, LikePattern)
  case envelope(EnvelopeRelation, Envelope)
  case relation(SpatialRelation, Geometry)
  /// A pattern or distance to a geometry in the layer's SRS.
  case test(SpatialTest, Geometry, SRS)
  case relationToItself(SpatialRelation)
  case relationOfLiterals(SpatialRelation, wkb: [UInt8], Geometry)
  case vertex(in: Envelope)
  case temporal(TemporalRelation, PeriodTerm, PeriodTerm)
  case array(ArrayRelation, ListTerm, ListTerm)
  case and([Condition])
  case or([Condition])
  case not(Condition)
}

/// An operand whose column is an index of a row's columns.
indirect enum Term: Sendable {
  case column(Int, isTemporal: Bool)
  case id
  case geometry
  case literal(Comparand)
  case arithmetic(Term, Arithmetic, Term)
  case call(FilterFunction, [Term])
  case condition(Condition)
}

/// An instant, a date or an interval; a bound that is `nil` is an open end.
enum PeriodTerm: Sendable {
  case instant(MomentTerm)
  case interval(MomentTerm?, MomentTerm?)
}

enum MomentTerm: Sendable {
  case constant(Moment?)
  case term(Term)
}

enum ListTerm: Sendable {
  /// A text that holds a JSON array.
  case text(Term)
  case items([ItemTerm])
}

enum ItemTerm: Sendable {
  case scalar(Term)
  case list([ItemTerm])
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
    case .like(let value, let pattern, let folding):
      return .like(try term(value), LikePattern(pattern, folding: folding))
    case .envelope(let relation, let box, let srs):
      try checkGeometry(srs: srs)
      try check(box)
      return .envelope(relation, box)
    case .vertex(let box, let srs):
      try checkGeometry(srs: srs)
      try check(box)
      return .vertex(in: box)
    case .relation(let relation, let geometry, let srs, let column):
      try checkGeometry(srs: srs, column: column)
      return .relation(relation, geometry)
    case .test(let test, let geometry, let srs, let column):
      try checkGeometry(srs: srs, column: column)
      try test.check()
      return .test(test, geometry, try schema.geometryColumn(named: column).srs)
    case .spatial(let relation, let a, let b): return try spatial(relation, a, b)
    case .temporal(let relation, let a, let b):
      return .temporal(relation, try period(a), try period(b))
    case .array(let relation, let a, let b): return .array(relation, try list(a), try list(b))
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

  // MARK: Operands

  func term(
    _ operand: Operand, allowsGeometry: Bool = false
  ) throws(FieldpackError) -> Term {
    if let value = operand.constant { return .literal(Comparand(value)) }
    switch operand {
    case .column(let name):
      let term = try term(named: name)
      if case .geometry = term, !allowsGeometry { throw schema.geometryIsNoValue(name) }
      return term
    case .arithmetic(let a, let operation, let b):
      return .arithmetic(try term(a), operation, try term(b))
    case .call(let function, let arguments):
      var terms: [Term] = []
      for argument in arguments { terms.append(try term(argument)) }
      return .call(function, terms)
    case .condition(let filter): return .condition(try condition(filter))
    case .literal, .interval, .list: throw operand.isNoValue
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

  private func period(_ operand: Operand) throws(FieldpackError) -> PeriodTerm {
    guard case .interval(let start, let end) = operand else {
      return .instant(try moment(operand))
    }
    return .interval(try start.map(moment), try end.map(moment))
  }

  private func moment(_ operand: Operand) throws(FieldpackError) -> MomentTerm {
    if let value = operand.constant { return .constant(Moment(value)) }
    return .term(try term(operand))
  }

  private func list(_ operand: Operand) throws(FieldpackError) -> ListTerm {
    guard case .list(let operands) = operand else { return .text(try term(operand)) }
    return .items(try items(operands))
  }

  private func items(_ operands: [Operand]) throws(FieldpackError) -> [ItemTerm] {
    var items: [ItemTerm] = []
    for operand in operands {
      if case .list(let inner) = operand {
        items.append(.list(try self.items(inner)))
      } else {
        items.append(.scalar(try term(operand)))
      }
    }
    return items
  }
}

extension FilterBinder {
  // MARK: Geometries

  private func spatial(
    _ relation: SpatialRelation, _ a: SpatialOperand, _ b: SpatialOperand
  ) throws(FieldpackError) -> Condition {
    switch (a, b) {
    case (.column(let name), .geometry(let geometry, let srs)):
      return try condition(.relation(relation, geometry, srs: srs, column: name))
    case (.geometry(let geometry, let srs), .column(let name)):
      return try condition(.relation(relation.mirrored, geometry, srs: srs, column: name))
    case (.column(let first), .column(let second)):
      try checkGeometry(srs: nil, column: first)
      try checkGeometry(srs: nil, column: second)
      return .relationToItself(relation)
    case (.geometry(let first, let firstSRS), .geometry(let second, let secondSRS)):
      guard firstSRS == secondSRS else {
        throw FieldpackError(
          .unsupported, "the condition's two geometries are in two reference systems")
      }
      return .relationOfLiterals(relation, wkb: WKB.bytes(of: first), second)
    }
  }

  private func checkGeometry(srs: SRS?, column name: String? = nil) throws(FieldpackError) {
    let location = KeyTuple.Partial(layer: schema.layer)
    let column = try schema.geometryColumn(named: name)
    guard let srs, srs != column.srs, !column.srs.isUndefined else { return }
    throw FieldpackError(
      .unsupported,
      "the condition's geometry is in \(srs) and layer '\(schema.layer)' is in \(column.srs): "
        + "transform it first", location: location)
  }

  private func check(_ box: Envelope) throws(FieldpackError) {
    guard box.isEmpty else { return }
    throw FieldpackError(
      .invalidArgument,
      "the box \(box.minX), \(box.minY), \(box.maxX), \(box.maxY) holds nothing: its minimum lies "
        + "beyond its maximum")
  }
}
