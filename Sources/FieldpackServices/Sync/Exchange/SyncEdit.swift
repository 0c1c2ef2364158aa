public import FieldpackCore
public import FieldpackSQLite

/// An edit on its way between two files whose features have common identities.
public struct SyncEdit: Hashable, Sendable {
  /// What a device knew when it made an edit, from which the receiver tells conflicts.
  public struct Base: Hashable, Sendable {
    /// The receiver's last edit that the device had seen.
    public var position: Int64
    /// The UUID of the device's file.
    public var replica: String
    /// The UUID of the edit of the feature that was made in the file before this one; `nil` for the
    /// first.
    public var previous: String?

    public init(position: Int64, replica: String, previous: String? = nil) {
      (self.position, self.replica, self.previous) = (position, replica, previous)
    }
  }

  /// The UUID of the edit. A receiver that gets it twice applies it once.
  public var id: String
  public var operation: OutgoingEdit.Operation
  /// What the feature is called in all copies of the file.
  public var identity: String
  /// The place of the edit in the log of its sender.
  public var position: Int64
  /// `nil` for an edit that the receiver of the devices' edits gives out.
  public var base: Base?
  /// The columns that the edit changed.
  public var changed: [String]
  /// The row as the edit left it, or of a deletion as it was before, in the order of the layer's columns.
  ///
  /// Ids of features of other layers, as tables of links hold them, are the identities of the features.
  public var values: [SQLiteValue]
  /// The content of media, such as a photo, which goes with its row.
  public var content: [UInt8]?
  /// By the clock of the device that made the edit.
  public var time: Instant?
  public var author: String?
  public var device: String?

  package init(
    id: String, operation: OutgoingEdit.Operation, identity: String, position: Int64,
    base: Base? = nil, changed: [String], values: [SQLiteValue], content: [UInt8]? = nil,
    time: Instant? = nil, author: String? = nil, device: String? = nil
  ) {
    (self.id, self.operation, self.identity) = (id, operation, identity)
    (self.position, self.base, self.changed, self.values) = (position, base, changed, values)
    (self.content, self.time, self.author, self.device) = (content, time, author, device)
  }
}

/// A logged layer, as two files compare theirs before they exchange edits.
public struct SyncLayer: Hashable, Sendable {
  public var name: LayerID
  /// The UUID that copies of the log share.
  public var origin: String
  /// The columns of each edit's values.
  public var columns: [String]
  /// Columns that hold the ids of features of another layer, which differ from file to file.
  public var references: [String: LayerID]
  /// The place of the last edit in the log.
  public var head: Int64
  /// The UUID of the file; `nil` before it is synchronised for the first time.
  public var replica: String?
  /// The UUID of the file, or the name of the receiver, that gets the edits of this file.
  public var receiver: String?

  package init(
    name: LayerID, origin: String, columns: [String], references: [String: LayerID] = [:],
    head: Int64, replica: String?, receiver: String? = nil
  ) {
    (self.name, self.origin, self.columns) = (name, origin, columns)
    (self.references, self.head) = (references, head)
    (self.replica, self.receiver) = (replica, receiver)
  }
}

/// Edits of one layer, in their order.
public struct SyncPage: Hashable, Sendable {
  public var edits: [SyncEdit]
  /// The place in the log up to which the page tells all edits.
  public var position: Int64
  /// Whether no more edits follow.
  public var isLast: Bool
  /// The UUID of the edit at ``position`` where the page leaves that edit out.
  package var edge: String?

  package init(edits: [SyncEdit], position: Int64, isLast: Bool, edge: String? = nil) {
    (self.edits, self.position, self.isLast, self.edge) = (edits, position, isLast, edge)
  }
}

/// What became of an edit at its receiver.
public struct SyncAnswer: Hashable, Sendable {
  public enum Verdict: String, Hashable, Sendable {
    case applied
    /// Another edit stands in its place, in part or in whole; see ``SyncAnswer/conflicts``.
    case conflict
    /// The receiver will never take the edit.
    case refused
    /// The feature that the edit names is not there yet.
    case later
  }

  /// The UUID of the edit.
  public var edit: String
  public var verdict: Verdict
  /// The place in the receiver's log after the edit.
  public var position: Int64
  public var conflicts: [SyncConflict]
  /// Why the edit is refused.
  public var message: String?

  init(
    _ edit: String, _ verdict: Verdict, at position: Int64, conflicts: [SyncConflict] = [],
    message: String? = nil
  ) {
    (self.edit, self.verdict, self.position) = (edit, verdict, position)
    (self.conflicts, self.message) = (conflicts, message)
  }
}

/// What a receiver says of the edits that it was sent.
public struct SyncReceipt: Hashable, Sendable {
  /// An answer to each edit, in their order.
  public var answers: [SyncAnswer]
  /// The last place in the receiver's log before the edits came.
  public var before: Int64
  /// The last place after they came.
  public var position: Int64
  /// The UUID of the edit at that place; `nil` where there is none.
  public var edit: String?

  package init(answers: [SyncAnswer], before: Int64, position: Int64, edit: String? = nil) {
    (self.answers, self.before) = (answers, before)
    (self.position, self.edit) = (position, edit)
  }
}

/// A value that an edit wanted, and that does not stand because another edit came before.
public struct SyncConflict: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    /// Both changed the column; the other value stands.
    case column
    /// The edit changes a feature that was deleted; the feature is there again.
    case revived
    /// The edit deletes a feature that was changed; the feature stays.
    case kept
    /// The edit came from the receiver, and does not fit into this file.
    case unfit
  }

  public var kind: Kind
  /// `nil` for a whole feature.
  public var column: String?
  /// The value that the edit wanted.
  public var lost: SQLiteValue
  /// The value that stands.
  public var kept: SQLiteValue
}

/// The other side of a synchronisation: another file, or a server.
public protocol SyncPeer: Sendable {
  /// What reports call the other side: a path, or an address without secrets.
  var name: String { get }

  /// The layers that are logged there.
  func layers() async throws(FieldpackError) -> [SyncLayer]
  /// The UUID of the edit at a place of a layer's log; `nil` where there is none.
  func edit(at position: Int64, of layer: LayerID) async throws(FieldpackError) -> String?
  /// Edits after a place of a layer's log.
  func edits(
    of layer: LayerID, after position: Int64, limit: Int
  ) async throws(FieldpackError) -> SyncPage
  /// Hands edits of one layer over, in one transaction there; of many edits the first ones may be enough.
  ///
  /// - Returns: an answer to each of them, in the same order, to one edit at least. After `later` no
  ///   further edit is answered.
  func send(_ edits: [SyncEdit], of layer: LayerID) async throws(FieldpackError) -> SyncReceipt
}
