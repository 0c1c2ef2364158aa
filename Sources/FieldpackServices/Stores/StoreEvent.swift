public import Fieldpack
public import FieldpackCore

/// What happened to a store of a ``DataService``.
public struct StoreEvent: Hashable, Sendable {
  /// The numbers are those that bridges exchange.
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// The store could not be opened, or its file not be downloaded.
    case startFailed = 0
    case running = 1
    /// All stores were started together, and none is being opened any more.
    case allStarted = 2
    case stopped = 3
    case statusChange = 4
    case downloadProgress = 5
    case removed = 6
    case paused = 7
    case resumed = 8
    /// A poll of a feed brought another version.
    case changed = 9
    /// A poll of a feed failed; the store goes on with what it has.
    case pollFailed = 10

    /// The name that bridges know.
    public var name: String {
      let word =
        switch self {
        case .startFailed: "STARTFAILED"
        case .running: "RUNNING"
        case .allStarted: "ALLSTARTED"
        case .stopped: "STOPPED"
        case .statusChange: "STATUSCHANGE"
        case .downloadProgress: "DOWNLOADPROGRESS"
        case .removed: "REMOVED"
        case .paused: "PAUSED"
        case .resumed: "RESUMED"
        case .changed: "CHANGED"
        case .pollFailed: "POLLFAILED"
        }
      return "SC_DATASTORE_EVT_" + word
    }
  }

  public var kind: Kind
  /// `nil` for `allStarted`.
  public var store: StoreID?
  /// What the store does now; `nil` where it is gone, and for `allStarted`.
  public var status: StoreStatus?
  /// How much of the store's file is there; only with `downloadProgress`.
  public var progress: StoreProgress?
  /// What the new version brought; only with `changed`.
  public var changes: FeedChanges?
  /// Why the poll failed; only with `pollFailed`.
  public var reason: String?

  public init(
    _ kind: Kind, _ store: StoreID? = nil, status: StoreStatus? = nil,
    progress: StoreProgress? = nil
  ) {
    self.kind = kind
    self.store = store
    self.status = status
    self.progress = progress
  }
}
