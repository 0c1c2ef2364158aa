/// How a client goes about its exchanges.
public struct HTTPConfiguration: Hashable, Sendable {
  /// For a connection, name and TLS included.
  public var connectTimeout: Duration = .seconds(10)
  /// For a whole exchange, waiting for a connection and redirects included; `nil` is without an end.
  public var timeout: Duration? = .seconds(60)
  /// An exchange that moves fewer bytes a second…
  public var lowSpeed = 16
  /// …for so long has failed; whole seconds.
  public var lowSpeedTime: Duration = .seconds(30)
  /// How many redirects are followed, all within one server.
  public var maximumRedirects = 5
  /// Connections to one server at once; more exchanges wait for one.
  public var connectionsPerHost = 6
  /// Whether the proxies that the environment names (`http_proxy` …) are used. By default none is.
  public var usesEnvironmentProxy = false
  public var userAgent = "fieldpack/0.1"

  public init() {}
}
