import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// What has to be at the receiver before an edit: the features that a link names, and the media of a
/// record, which counts as sent only with them.
struct SyncNeeds {
  enum State {
    case sent
    /// A needed feature is still to be sent.
    case pending
    /// A needed feature is refused, or waits for one that is.
    case refused
  }

  private struct Other {
    var log: EditLog
    var refused: [Int64: Int64]
  }

  private let log: EditLog
  private let snapshot: GeoPackageSnapshot
  /// The position of each column of ids, with the log of the features.
  private var references: [(column: Int, other: Other)] = []
  /// The relations by which a record has media.
  private var media: [(relation: Relation, other: Other)] = []

  /// - Parameter common: the layers that the receiver has as well.
  init(
    of log: EditLog, _ links: LinkColumns, among common: [LayerID], in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) {
    (self.log, self.snapshot) = (log, snapshot)
    for (index, other) in links.columns {
      references.append(
        (index, Other(log: other, refused: try OutgoingEdits.refused(other, snapshot))))
    }
    for relation in try snapshot.relations()
    where relation.kind == .media && relation.base == log.layer
      && common.contains(relation.related)
    {
      guard let other = try snapshot.editLog(of: relation.related) else { continue }
      media.append(
        (relation, Other(log: other, refused: try OutgoingEdits.refused(other, snapshot))))
    }
  }

  func state(of edit: LoggedEdit) throws(FieldpackError) -> State {
    var state = State.sent
    for (column, other) in references {
      guard let feature = edit.values[column].integerValue else { continue }
      switch try self.state(of: feature, other) {
      case .refused: return .refused
      case .pending: state = .pending
      case .sent: break
      }
    }
    guard edit.operation == .insert else { return state }
    for (relation, other) in media {
      for case .integer(let feature) in try snapshot.related(
        to: .integer(edit.feature), by: relation)
      {
        switch try self.state(of: feature, other) {
        case .refused: return .refused
        case .pending: state = .pending
        case .sent: break
        }
      }
    }
    return state
  }

  private func state(of feature: Int64, _ other: Other) throws(FieldpackError) -> State {
    if other.refused[feature] != nil { return .refused }
    let isPending = try other.log.history(of: feature).contains {
      $0.operation == .insert && $0.sent == nil
    }
    return isPending ? .pending : .sent
  }
}
