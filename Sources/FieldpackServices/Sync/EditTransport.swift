public import FieldpackCore

/// An edit of a change log on its way to a receiver.
public struct OutgoingEdit: Hashable, Sendable {
  /// What an edit did to its feature. The numbers are those of change logs.
  public enum Operation: Int, Hashable, Sendable, CaseIterable {
    case insert = 1
    case update = 2
    case delete = 3
  }

  /// The UUID of the edit. A receiver that gets it twice applies it once.
  public var id: String
  public var store: StoreID
  public var layer: LayerID
  public var operation: Operation
  /// The feature as the edit left it; for a deletion, as it was before. Its key tuple is that of the
  /// device.
  public var feature: Feature
  /// When the edit was made, by the clock of its device.
  public var time: Instant?
  public var author: String?
  public var device: String?
  /// The form that the layer belongs to; `nil` for other layers.
  public var form: Int64?
  /// What the receiver calls the feature; `nil` where it never told an id.
  public var serverID: String?

  public init(
    id: String, store: StoreID, layer: LayerID, operation: Operation, feature: Feature,
    time: Instant? = nil, author: String? = nil, device: String? = nil, form: Int64? = nil,
    serverID: String? = nil
  ) {
    (self.id, self.store, self.layer, self.operation) = (id, store, layer, operation)
    (self.feature, self.time, self.author, self.device) = (feature, time, author, device)
    (self.form, self.serverID) = (form, serverID)
  }
}

/// What a receiver says to an edit.
public enum EditAnswer: Sendable {
  /// The receiver has the edit, and keeps it.
  ///
  /// - Parameter serverID: the id of the feature at the receiver, where it tells one.
  case accepted(serverID: String?)
  /// The receiver will never take the edit.
  case refused(FieldpackError)
  /// The receiver could not be asked, or could not answer. The edit is sent again.
  case later(FieldpackError)
}

/// Carries edits to a receiver that acknowledges each of them, such as a message broker, a form server
/// or a WFS.
public protocol EditTransport: Sendable {
  /// Sends edits of one layer, in their order.
  ///
  /// - Returns: an answer to each edit that was sent, in the same order. After `later` no further edit
  ///   was sent, so that the list may be shorter than `edits`.
  func send(_ edits: [OutgoingEdit]) async -> [EditAnswer]
}
