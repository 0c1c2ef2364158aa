package import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSQLite

/// Edits of a device as they come to a receiver, in one transaction.
package struct EditReception<Log: ReceivingLog> {
  private let log: Log
  private let now: Instant

  package init(_ log: Log, at now: Instant) { (self.log, self.now) = (log, now) }

  /// What other edits did to a feature since the device knew it.
  private struct Foreign {
    /// Positions of columns in the log.
    var columns: Set<Int> = []
    var isAny = false
  }

  /// Takes edits in their order. After a `later` no further edit is looked at.
  ///
  /// - Parameter refusing: whether an edit that does not fit is refused, for which each edit needs a
  ///   savepoint. Otherwise the error is thrown, and the transaction is to be rolled back.
  package func receive(
    _ edits: [SyncEdit], refusing: Bool
  ) throws(FieldpackError) -> [SyncAnswer] {
    var answers: [SyncAnswer] = []
    answers.reserveCapacity(edits.count)
    var refused: Set<String> = []
    for edit in edits {
      let answer =
        refused.contains(edit.identity)
        ? try refuse(edit, "an earlier edit of the feature is refused")
        : try receive(edit, refusing: refusing)
      if answer.verdict == .refused { refused.insert(edit.identity) }
      answers.append(answer)
      if answer.verdict == .later { break }
    }
    return answers
  }

  private func receive(_ edit: SyncEdit, refusing: Bool) throws(FieldpackError) -> SyncAnswer {
    if let known = try log.outcome(of: edit.id) { return try answer(edit.id, as: known) }
    if let number = try log.number(of: edit.id) {
      // The edit was there before the file was copied.
      return SyncAnswer(edit.id, .applied, at: number)
    }
    guard edit.values.count == log.valueColumns.count, let base = edit.base else {
      throw SyncJSON.broken("values for the columns of layer '\(log.layer)', or a base")
    }
    var values = log.row(edit.values)
    guard try log.resolveLinks(in: &values) else {
      return SyncAnswer(edit.id, .later, at: try log.head())
    }
    let answer: SyncAnswer
    do throws(FieldpackError) {
      answer =
        refusing
        ? try log.whole { () throws(FieldpackError) in try apply(edit, values, base) }
        : try apply(edit, values, base)
    } catch {
      guard refusing, error.isForGood else { throw error }
      answer = try refuse(edit, error.message)
    }
    // A refusal changes nothing here, so that the edit may be tried again.
    if answer.verdict == .applied || answer.verdict == .conflict {
      let outcome = EditOutcome(
        verdict: answer.verdict, number: answer.position, replica: base.replica,
        message: answer.message)
      try log.remember(outcome, of: edit.id)
    }
    return answer
  }

  /// The answer that was given before.
  private func answer(
    _ edit: String, as known: EditOutcome
  ) throws(FieldpackError) -> SyncAnswer {
    SyncAnswer(
      edit, known.verdict, at: known.number,
      conflicts: known.verdict == .conflict ? try log.conflicts(of: edit) : [],
      message: known.message)
  }

  private func refuse(_ edit: SyncEdit, _ message: String) throws(FieldpackError) -> SyncAnswer {
    SyncAnswer(edit.id, .refused, at: try log.head(), message: message)
  }

  // MARK: Applying

  private func apply(
    _ edit: SyncEdit, _ values: [SQLiteValue], _ base: SyncEdit.Base
  ) throws(FieldpackError) -> SyncAnswer {
    var values = values
    try log.normalize(&values)
    let place = try log.place(of: edit.identity)
    let current = try log.row(at: place)
    switch edit.operation {
    case .insert:
      guard place == nil else { return SyncAnswer(edit.id, .applied, at: try log.head()) }
      if try log.isLinked(values) { return SyncAnswer(edit.id, .applied, at: try log.head()) }
      let number = try log.insert(
        values, content: edit.content, from: edit.origin(isSent: false, at: now))
      return SyncAnswer(edit.id, .applied, at: number)
    case .update:
      guard let place else {
        throw FieldpackError(.notFound, "the feature \(edit.identity) is not known here")
      }
      let foreign = try foreign(place, edit, base)
      guard let current else { return try revive(place, edit, values, foreign) }
      return try update(place.feature, edit, values, foreign, current)
    case .delete:
      guard let place, current != nil else {
        return SyncAnswer(edit.id, .applied, at: try log.head())
      }
      return try delete(place.feature, edit, foreign(place, edit, base))
    }
  }

  private func update(
    _ feature: Int64, _ edit: SyncEdit, _ wanted: [SQLiteValue], _ foreign: Foreign,
    _ current: [SQLiteValue]
  ) throws(FieldpackError) -> SyncAnswer {
    let changed = log.indexes(of: edit.changed).filter { !wanted[$0].isIdentical(to: current[$0]) }
    let conflicts = changed.filter { foreign.columns.contains($0) }
    let applied = changed.filter { !foreign.columns.contains($0) }
    var content = edit.content
    if content != nil, try log.content(of: feature) == content { content = nil }
    let position =
      applied.isEmpty && content == nil
      ? try log.head()
      : try log.update(
        feature, applied, of: wanted, content: content,
        from: edit.origin(isSent: false, at: now))
    return try answer(
      edit, feature, at: position,
      conflicts.map {
        SyncConflict(
          kind: .column, column: log.columns[$0], lost: wanted[$0], kept: current[$0])
      })
  }

  /// Brings a feature back that others deleted, with what the edit changes.
  private func revive(
    _ place: EditLog.Place, _ edit: SyncEdit, _ wanted: [SQLiteValue], _ foreign: Foreign
  ) throws(FieldpackError) -> SyncAnswer {
    guard var values = try log.lastValues(at: place) else {
      throw FieldpackError(.notFound, "the feature \(edit.identity) is not known here")
    }
    var conflicts = [SyncConflict(kind: .revived, column: nil, lost: .null, kept: .null)]
    for column in log.indexes(of: edit.changed) {
      if foreign.columns.contains(column), !wanted[column].isIdentical(to: values[column]) {
        conflicts.append(
          SyncConflict(
            kind: .column, column: log.columns[column], lost: wanted[column],
            kept: values[column]))
      } else {
        values[column] = wanted[column]
      }
    }
    let made = try log.revive(
      edit.identity, values, at: place, content: edit.content,
      from: edit.origin(isSent: false, at: now))
    return try answer(edit, made.feature, at: made.number, conflicts)
  }

  private func delete(
    _ feature: Int64, _ edit: SyncEdit, _ foreign: Foreign
  ) throws(FieldpackError) -> SyncAnswer {
    guard !foreign.isAny else {
      return try answer(
        edit, feature, at: try log.head(),
        [SyncConflict(kind: .kept, column: nil, lost: .null, kept: .null)])
    }
    return SyncAnswer(
      edit.id, .applied,
      at: try log.delete(feature, from: edit.origin(isSent: false, at: now)))
  }

  private func answer(
    _ edit: SyncEdit, _ feature: Int64, at position: Int64, _ conflicts: [SyncConflict]
  ) throws(FieldpackError) -> SyncAnswer {
    try log.note(conflicts, of: edit, feature: feature)
    return SyncAnswer(
      edit.id, conflicts.isEmpty ? .applied : .conflict, at: position, conflicts: conflicts)
  }

  // MARK: What others did

  private func foreign(
    _ place: EditLog.Place, _ edit: SyncEdit, _ base: SyncEdit.Base
  ) throws(FieldpackError) -> Foreign {
    var found = Foreign()
    let changes = try log.changes(of: place, after: base.position)
    guard !changes.isEmpty else { return found }
    var previous = Int64.min
    if let id = base.previous {
      let known =
        if let outcome = try log.outcome(of: id) { outcome.number } else { try log.number(of: id) }
      previous = known ?? .min
    }
    for (number, id) in changes {
      if number <= previous, try log.outcome(of: id)?.replica == base.replica { continue }
      found.isAny = true
      found.columns.formUnion(try log.changedColumns(by: id))
    }
    return found
  }
}

extension SyncEdit {
  /// What the log says of the edit.
  ///
  /// - Parameter isSent: whether the receiver of the file has the edit.
  func origin(isSent: Bool, at received: Instant) -> GeoPackageWriter.Origin {
    .init(
      id: id, author: author, device: device, time: time, isSent: isSent, received: received)
  }
}

extension SyncConflict {
  /// A row of the layer `conflict`.
  package init(_ feature: Feature) throws(FieldpackError) {
    func value(_ name: String) throws(FieldpackError) -> SQLiteValue {
      guard let text = feature[Column<String>(name)] else { return .null }
      return try SyncJSON.value(SyncJSON.read(Array(text.utf8)))
    }
    self.init(
      kind: feature[Column<String>("kind")].flatMap(Kind.init) ?? .column,
      column: feature[Column<String>("column_name")], lost: try value("lost"),
      kept: try value("kept"))
  }
}

extension FieldpackError {
  /// Whether an edit that fails so will never be taken.
  package var isForGood: Bool {
    switch code {
    case .constraint, .invalidData, .notFound, .unsupported: true
    default: false
    }
  }
}
