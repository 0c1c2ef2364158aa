import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Edits of the receiver as they come back to a device, in one transaction.
///
/// The receiver's order is the truth. An edit sets what it changed, and nothing else; edits of the
/// device that are not sent stay where the receiver's edits do not touch the same columns. Where they
/// do, the receiver will keep its own value, so that the device takes it at once.
struct EditIntake {
  private let log: EditLog
  private let links: LinkColumns
  private let writer: GeoPackageWriter
  private let records: PullRecords
  /// The number that the first edit of this taking gets in the log.
  let first: Int64
  private let now: Instant

  init(
    _ log: EditLog, _ writer: GeoPackageWriter, _ records: PullRecords, at now: Instant
  ) throws(FieldpackError) {
    (self.log, self.writer, self.records, self.now) = (log, writer, records, now)
    links = try LinkColumns(of: log, in: writer)
    first = try log.head() &+ 1
  }

  /// As ``take(_:)``; an edit that does not fit into this file is told as a conflict, and left out.
  func takeOrTell(
    _ edit: SyncEdit, _ unfit: inout [SyncReport.Conflict]
  ) throws(FieldpackError) -> Bool? {
    do throws(FieldpackError) {
      return try writer.wholeRows { () throws(FieldpackError) in try take(edit) }
    } catch {
      guard error.code == .constraint else { throw error }
      let feature = try log.place(of: edit.identity)?.feature
      let conflict = SyncConflict(
        kind: .unfit, column: nil, lost: .text(error.message), kept: .null)
      try SyncTables.note(
        [conflict], of: edit, feature: feature, in: log.layer, at: now, writer)
      unfit.append(.init(layer: log.layer, feature: feature, values: conflict))
      return false
    }
  }

  /// - Returns: whether the edit changed anything here; `nil` where a feature that the edit names is not
  ///   there yet, so that this edit and those after it have to wait.
  func take(_ edit: SyncEdit) throws(FieldpackError) -> Bool? {
    guard edit.values.count == log.valueColumns.count else {
      throw SyncJSON.broken("values for the columns of layer '\(log.layer)'")
    }
    let place = try log.place(of: edit.identity)
    let current = try writer.row(at: place, of: log)
    let own = try log.edit(edit.id)
    var new = log.row(edit.values)
    guard try links.replaceIdentities(in: &new) else {
      return edit.operation == .delete ? false : nil
    }
    // The receiver has it, whether or not its answer came.
    if let own, own.sent == nil { try writer.markSent([own.number], in: log, at: now) }
    switch edit.operation {
    case .insert:
      guard place == nil else { return false }
      if let linked = try links.row(linking: new, in: log, writer) {
        // Both linked the same features; from now on it is the receiver's link.
        try log.setIdentity(edit.identity, of: linked, since: log.head() &+ 1)
        return false
      }
      _ = try writer.insert(
        new, in: log, content: edit.content, from: edit.origin(isSent: true, at: now))
    case .update:
      let columns = try changed(by: edit, own, at: place)
      if let place, let current {
        let differing = columns.filter { !new[$0].isIdentical(to: current[$0]) }
        let content = own == nil ? edit.content : nil
        guard !differing.isEmpty || content != nil else { return false }
        _ = try writer.update(
          place.feature, differing.sorted(), of: new, in: log, content: content,
          from: edit.origin(isSent: true, at: now))
        return true
      }
      // An own edit that comes back revives a feature only if an edit of the receiver had deleted it.
      if own != nil, try !wasDeletedThere(place) { return false }
      var values =
        try place.map { (place) throws(FieldpackError) in
          try log.last(of: place.feature, before: place.end)?.values
        } ?? nil
      for column in columns { values?[column] = new[column] }
      _ = try writer.revive(
        edit.identity, values ?? new, in: log, at: place, content: edit.content,
        from: edit.origin(isSent: true, at: now))
    case .delete:
      guard own == nil, let place, current != nil, try !hasPending(place) else { return false }
      _ = try writer.delete(place.feature, in: log, from: edit.origin(isSent: true, at: now))
    }
    return true
  }

  /// The columns that an edit sets here. An edit of the device that comes back does not set the columns
  /// that the device changed later, because the later edits come back as well.
  private func changed(
    by edit: SyncEdit, _ own: LoggedEdit?, at place: EditLog.Place?
  ) throws(FieldpackError) -> Set<Int> {
    var columns = Set(log.indexes(of: edit.changed))
    guard let own, let place else { return columns }
    for later in try log.history(of: place, after: own.number) where later.number < first {
      guard later.id != nil, try !records.hold(later.number) else { continue }
      columns.subtract(try log.changedColumns(later))
    }
    return columns
  }

  private func wasDeletedThere(_ place: EditLog.Place?) throws(FieldpackError) -> Bool {
    guard let place, let last = try log.last(of: place.feature, before: place.end) else {
      return true
    }
    return last.operation == .delete && last.received != nil
  }

  /// Whether the device has edits of the feature that were never sent, with which the receiver will
  /// bring it back.
  private func hasPending(_ place: EditLog.Place) throws(FieldpackError) -> Bool {
    try log.history(of: place, after: 0).contains {
      $0.sent == nil && ($0.operation == .insert || $0.operation == .update)
    }
  }
}
