/// The limits of a client's exchanges.
public struct HTTPConfiguration: Hashable, Sendable {
  /// The time for a connection, including name look-up and TLS.
  public var connectTimeout: Duration = .seconds(10)
  /// The time for a whole exchange, including redirects and waiting for a connection; `nil` sets no
  /// limit.
  public var timeout: Duration? = .seconds(60)
  /// The bytes a second below which an exchange counts as slow; 0 sets no limit.
  public var lowSpeed = 16
  /// How long an exchange may be slow before it fails, in whole seconds.
  public var lowSpeedTime: Duration = .seconds(30)
  /// How many redirects are followed; to other servers see ``HTTPRequest/followsToOtherServers``.
  public var maximumRedirects = 5
  /// Hosts that a server on the internet may lead to although their addresses are private; by default
  /// there are none. Names are in small letters.
  public var privateHosts: Set<String> = []
  /// The largest number of connections to one server. Further exchanges wait.
  public var connectionsPerHost = 6
  /// Whether the proxies in the environment (`http_proxy` …) are used; by default they are not.
  public var usesEnvironmentProxy = false
  public var userAgent = "fieldpack/0.1"

  public init() {}
}
