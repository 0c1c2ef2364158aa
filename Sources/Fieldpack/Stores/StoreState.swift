public import FieldpackCore

/// Whether a store of a workspace answers, and what it does instead.
public enum StoreState: Sendable {
  case open
  /// The store is being opened.
  case opening
  /// The store is open, but queries pass it over until it is resumed: its server cannot be reached, or
  /// somebody paused it.
  case paused
  /// The store was closed, or is not started yet.
  case stopped
  /// The store is closed, because the workspace was opened for other stores only.
  case notAsked
  /// The store's file is on its way from a server.
  case downloading(StoreProgress)
  /// The store's file could not be downloaded.
  case downloadFailed(FieldpackError)
  /// The store could not be opened.
  case failed(FieldpackError)

  /// Why the store does not answer, where that is a failure.
  public var error: FieldpackError? {
    switch self {
    case .failed(let error), .downloadFailed(let error): error
    case .open, .opening, .paused, .stopped, .notAsked, .downloading: nil
    }
  }

  /// The state as bridges and backends know it.
  public var status: StoreStatus {
    switch self {
    case .open: .running
    case .opening: .started
    case .paused: .paused
    case .stopped, .notAsked, .failed: .stopped
    case .downloading: .downloading
    case .downloadFailed: .downloadFailed
    }
  }
}

/// How much of a store's file is there.
public struct StoreProgress: Hashable, Sendable {
  /// The number of bytes that are there.
  public var received: Int
  /// The number of bytes of the whole file, where the server tells it.
  public var total: Int?

  public init(received: Int, total: Int? = nil) {
    self.received = received
    self.total = total
  }

  /// From 0 to 1; `nil` where the server does not tell how long the file is.
  public var fraction: Double? {
    total.map { $0 == 0 ? 1 : min(1, Double(received) / Double($0)) }
  }
}

/// Whether a store answers, and what it does instead. The numbers are those that bridges and backends
/// exchange.
public enum StoreStatus: Int, Hashable, Sendable, CaseIterable {
  /// It is being opened.
  case started = 0
  case running = 1
  /// Its server cannot be reached, or somebody paused it.
  case paused = 2
  case stopped = 3
  case downloading = 4
  case downloadFailed = 5
}
