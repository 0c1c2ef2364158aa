public import FieldpackCore

/// The name of a service, which bridges and backends know.
public struct ServiceID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public static let sensor = ServiceID(rawValue: "SC_SENSOR_SERVICE")
  public static let data = ServiceID(rawValue: "SC_DATA_SERVICE")
  public static let config = ServiceID(rawValue: "SC_CONFIG_SERVICE")
  public static let authentication = ServiceID(rawValue: "SC_AUTH_SERVICE")
  public static let backend = ServiceID(rawValue: "SC_BACKEND_SERVICE")

  /// The services that have to run before one of the known services starts; empty for others.
  public var requirements: [ServiceID] {
    switch self {
    case .data: [.sensor]
    case .config: [.data]
    case .backend: [.authentication, .config, .sensor, .data]
    default: []
    }
  }

  public var description: String { rawValue }
}

/// A part of an application that starts after those that it needs, and stops before them.
///
/// A ``ServiceGraph`` calls it, one call at a time, and never twice in a row to the same end. A
/// service that calls its graph back while it starts or stops waits for itself.
public protocol Service: Sendable {
  var id: ServiceID { get }
  /// The services that have to run before this one starts.
  var requires: [ServiceID] { get }

  func start() async throws(FieldpackError)
  /// Rests until ``resume()``, and keeps what it has.
  func pause() async
  func resume() async
  /// Ends all work. A later ``start()`` brings back what was there.
  func stop() async
}

extension Service {
  public var requires: [ServiceID] { id.requirements }
}

/// A change of the state of a service.
public struct ServiceEvent: Hashable, Sendable {
  /// The numbers are those that bridges exchange; `paused` is ours.
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    case running = 0
    /// The service begins to start.
    case started = 1
    case error = 2
    case stopped = 3
    /// All services of the graph run, after they were started together.
    case allStarted = 4
    case paused = 5

    /// The name that bridges know.
    public var name: String {
      switch self {
      case .running: "SC_SERVICE_EVT_RUNNING"
      case .started: "SC_SERVICE_EVT_STARTED"
      case .error: "SC_SERVICE_EVT_ERROR"
      case .stopped: "SC_SERVICE_EVT_STOPPED"
      case .allStarted: "SC_SERVICE_EVT_ALLSTARTED"
      case .paused: "SC_SERVICE_EVT_PAUSED"
      }
    }
  }

  public var kind: Kind
  /// `nil` for `allStarted`.
  public var service: ServiceID?

  public init(_ kind: Kind, _ service: ServiceID? = nil) {
    (self.kind, self.service) = (kind, service)
  }
}
