public import FieldpackCore

/// What a synchronisation did.
public struct SyncReport: Hashable, Sendable {
  public struct Layer: Hashable, Sendable {
    public var name: LayerID
    /// Edits that the other side has got.
    public var sent = 0
    /// Edits of others that changed something here.
    public var received = 0
    /// Edits that the other side refuses, and later ones of their features; they stay here.
    public var parked = 0
    /// Values that do not stand, see ``SyncConflict``.
    public var conflicts = 0

    public init(_ name: LayerID) { self.name = name }
  }

  public var layers: [Layer] = []
  /// What people should know, such as a layer that only one side logs.
  public var notes: [String] = []
}

/// What a synchronisation would do, edit by edit.
public struct SyncPlan: Hashable, Sendable {
  public var outgoing: [LayerID: [SyncEdit]] = [:]
  public var incoming: [LayerID: [SyncEdit]] = [:]
  public var notes: [String] = []
}
