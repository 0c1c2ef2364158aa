/// Whether a service does its work. The numbers are those that bridges and backends exchange.
public enum ServiceStatus: Int, Hashable, Sendable, CaseIterable {
  case paused = 0
  case running = 1
  case stopped = 2
  case error = 3
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
