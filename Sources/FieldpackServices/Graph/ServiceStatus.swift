/// Whether a service does its work. The numbers are those that bridges and backends exchange.
public enum ServiceStatus: Int, Hashable, Sendable, CaseIterable {
  case paused = 0
  case running = 1
  case stopped = 2
  case error = 3
}
