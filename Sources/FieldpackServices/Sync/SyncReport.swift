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

  /// A value that does not stand, and where.
  public struct Conflict: Hashable, Sendable {
    public var layer: LayerID
    /// The id of the feature in this file.
    public var feature: Int64?
    public var values: SyncConflict

    public init(layer: LayerID, feature: Int64?, values: SyncConflict) {
      (self.layer, self.feature, self.values) = (layer, feature, values)
    }
  }

  /// How many conflicts are told; all of them are rows of the layer `conflict`.
  static let toldConflicts = 100

  public var layers: [Layer] = []
  /// The first 100.
  public var conflicts: [Conflict] = []
  /// What people should know, such as a layer that only one side logs.
  public var notes: [String] = []
}

/// What a synchronisation would do, edit by edit.
public struct SyncPlan: Hashable, Sendable {
  public struct Step: Hashable, Sendable {
    public enum Direction: String, Hashable, Sendable {
      case send, receive
    }

    public var direction: Direction
    public var layer: LayerID
    /// The UUID of the edit.
    public var edit: String
    public var operation: OutgoingEdit.Operation
    /// The id of the feature in this file; `nil` where it is not there.
    public var feature: Int64?
    /// What the feature is called in all copies of the file.
    public var identity: String
    /// The columns that the edit changes.
    public var columns: [String]
    /// By the clock of the device that made the edit.
    public var time: Instant?
    public var author: String?
    public var device: String?
  }

  public var steps: [Step] = []
  /// How many edits are parked, because the other side refuses them.
  public var parked = 0
  public var notes: [String] = []
}
