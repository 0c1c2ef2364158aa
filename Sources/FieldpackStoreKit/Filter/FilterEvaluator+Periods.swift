import FieldpackCore

extension FilterEvaluator {
  /// The period that a term is in a row; `nil` where a bound is NULL or names no moment.
  func period(
    _ term: PeriodTerm, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Period? {
    switch term {
    case .instant(let term):
      guard let moment = try moment(term, row) else { return nil }
      return Period(from: moment, to: moment)
    case .interval(let start, let end):
      var bounds: (start: Moment?, end: Moment?)
      if let start {
        guard let moment = try moment(start, row) else { return nil }
        bounds.start = moment
      }
      if let end {
        guard let moment = try moment(end, row) else { return nil }
        bounds.end = moment
      }
      return Period(from: bounds.start, to: bounds.end)
    }
  }

  private func moment(
    _ term: MomentTerm, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Moment? {
    switch term {
    case .constant(let moment): moment
    case .term(let term): Moment(try scalar(term, row).scalar.value)
    }
  }

  /// The elements of an array in a row; `nil` where the term is no array, or an element is NULL.
  func items(
    _ term: ListTerm, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> [ListItem]? {
    switch term {
    case .items(let terms): return try items(terms, row)
    case .text(let term):
      guard case .text(var text) = try scalar(term, row).scalar else { return nil }
      return text.withUTF8 { ListItem.items(json: $0) }
    }
  }

  private func items(
    _ terms: [ItemTerm], _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> [ListItem]? {
    var items: [ListItem] = []
    for term in terms {
      switch term {
      case .list(let inner):
        guard let list = try self.items(inner, row) else { return nil }
        items.append(.list(list))
      case .scalar(let term):
        let comparand = try scalar(term, row)
        switch comparand.isTemporal ? comparand.scalar.asMoment : comparand.scalar {
        case .null: return nil
        case .blob: items.append(.null)
        case let scalar: items.append(.scalar(scalar))
        }
      }
    }
    return items
  }
}
