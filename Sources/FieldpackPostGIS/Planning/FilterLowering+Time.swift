import FieldpackCore

extension FilterLowering {
  /// Bounds that a column has to keep for a temporal condition to hold, where the other side is known;
  /// the relation itself is tested here.
  func temporalCandidates(
    _ relation: TemporalRelation, _ a: Operand, _ b: Operand
  ) -> Lowered {
    let candidates = [bounds(a, relation, b), bounds(b, relation.mirror, a)].compactMap(\.self)
    return Lowered.all(candidates).asCandidate
  }

  /// Where `operand` is a column and `other` a known period, what the relation asks of the column.
  private func bounds(
    _ operand: Operand, _ relation: TemporalRelation, _ other: Operand
  ) -> Lowered? {
    guard let column = column(operand), column.kind == .date || column.kind == .instant,
      let period = Known(other)
    else { return nil }
    let comparison = MomentComparison(column)
    // A day counts from its first millisecond to its last, so a bound leaves room for a day.
    let day: Int64 = 86_400_000
    let isAfterStart = period.start.map { comparison.lowered(.greaterOrEqual, $0 - day) }
    let isBeforeEnd = period.end.map { comparison.lowered(.lessOrEqual, $0 + day) }
    switch relation {
    case .disjoint: return nil
    case .after, .metBy, .overlappedBy:
      return period.end.map { comparison.lowered(.greaterOrEqual, $0 - day) }
    case .before, .meets, .overlaps:
      return period.start.map { comparison.lowered(.lessOrEqual, $0 + day) }
    case .contains, .during, .equals, .finishedBy, .finishes, .intersects, .startedBy, .starts:
      return .all([isAfterStart, isBeforeEnd].compactMap(\.self))
    }
  }

  /// A period that does not depend on the row; a bound that is `nil` is open.
  private struct Known {
    var start: Int64?
    var end: Int64?

    init?(_ operand: Operand) {
      guard case .interval(let start, let end) = operand else {
        guard let value = operand.constant, let moment = Moment(value) else { return nil }
        (self.start, self.end) = (moment.milliseconds, moment.milliseconds)
        return
      }
      if let start {
        guard let value = start.constant, let moment = Moment(value) else { return nil }
        self.start = moment.milliseconds
      }
      if let end {
        guard let value = end.constant, let moment = Moment(value) else { return nil }
        self.end = moment.milliseconds
      }
    }
  }
}

extension TemporalRelation {
  /// The relation with its sides exchanged.
  fileprivate var mirror: TemporalRelation {
    switch self {
    case .after: .before
    case .before: .after
    case .contains: .during
    case .disjoint: .disjoint
    case .during: .contains
    case .equals: .equals
    case .finishedBy: .finishes
    case .finishes: .finishedBy
    case .intersects: .intersects
    case .meets: .metBy
    case .metBy: .meets
    case .overlappedBy: .overlaps
    case .overlaps: .overlappedBy
    case .startedBy: .starts
    case .starts: .startedBy
    }
  }
}
