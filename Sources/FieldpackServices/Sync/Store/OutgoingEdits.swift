import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSQLite

/// The next edits of a layer that are to be sent.
struct OutgoingEdits {
  private(set) var edits: [SyncEdit] = []
  /// The last edit that was looked at; `nil` where there is none.
  private(set) var last: Int64?
  /// How many edits were left out, because an earlier one of their feature, or one of a feature that
  /// they need, is refused.
  private(set) var parked = 0
  /// Whether the next edit needs a feature of another layer that is still to be sent.
  private(set) var waits = false

  init(
    _ layer: LayerID, of common: [LayerID], in snapshot: GeoPackageSnapshot,
    at file: FileIdentity?,
    after number: Int64, limit: Int
  ) throws(FieldpackError) {
    let log = try SyncService.log(of: layer, in: snapshot)
    let refused = try Self.refused(log, snapshot)
    let links = try LinkColumns(of: log, in: snapshot)
    let needs = try SyncNeeds(of: log, links, among: common, in: snapshot)
    let records = PullRecords(layer: layer, snapshot: snapshot)
    // A copy of the file is another one, although it has the same UUID.
    let replica = "\(try SyncTables.file(in: snapshot).id ?? "") \(file?.description ?? "")"
    var size = 0
    for edit in try log.pending(after: number, limit: limit) {
      if let first = refused[edit.feature], edit.number >= first {
        (last, parked) = (edit.number, parked + 1)
        continue
      }
      switch try needs.state(of: edit) {
      case .sent: break
      case .refused:
        (last, parked) = (edit.number, parked + 1)
        continue
      case .pending:
        waits = true
        return
      }
      last = edit.number
      // A receiver compares updates and deletions alone with what it has.
      let before =
        edit.operation == .insert ? nil : try log.last(of: edit.feature, before: edit.number)
      let base = try Self.base(edit, after: before, log, records, replica)
      let made = try SyncEdit(
        edit, changed: log.changedColumns(edit, after: before), in: log, links, snapshot,
        base: base)
      guard let made else { continue }
      edits.append(made)
      size += made.content?.count ?? 0
      if size >= SyncEdit.contentAtOnce { return }
    }
  }

  /// The features with an edit that is refused, each with the first of them.
  static func refused(
    _ log: EditLog, _ snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> [Int64: Int64] {
    var found: [Int64: Int64] = [:]
    for job in try SyncTables.jobs.all(snapshot) where job.state == .failed {
      guard case .text(let id) = job.subject, let edit = try log.edit(id), edit.sent == nil else {
        continue
      }
      found[edit.feature] = min(edit.number, found[edit.feature] ?? .max)
    }
    return found
  }

  private static func base(
    _ edit: LoggedEdit, after before: LoggedEdit?, _ log: EditLog, _ records: PullRecords,
    _ replica: String
  ) throws(FieldpackError) -> SyncEdit.Base {
    var before = before
    while let found = before {
      // States and edits that came from the receiver were not made here.
      if found.id != nil, try !records.hold(found.number) { break }
      before = try log.last(of: edit.feature, before: found.number)
    }
    return SyncEdit.Base(
      position: try records.before(edit.number)?.position ?? 0, replica: replica,
      previous: before?.id)
  }
}
