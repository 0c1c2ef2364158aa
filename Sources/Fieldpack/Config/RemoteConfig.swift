public import FieldpackCore

/// What a config says of the backend.
public struct RemoteConfig: Hashable, Sendable {
  /// How a user signs in.
  public enum Authentication: Hashable, Sendable {
    /// With the backend itself.
    case server
    /// With OAuth 2 at an Exchange, which knows the app by this id.
    case exchange(clientID: String)
    /// Nobody signs in.
    case none
  }

  /// The MQTT broker of a backend.
  public struct Broker: Hashable, Sendable {
    public var isEncrypted: Bool
    public var host: String
    public var port: Int

    public init(isEncrypted: Bool, host: String, port: Int = 1883) {
      self.isEncrypted = isEncrypted
      self.host = host
      self.port = port
    }
  }

  /// The address of the backend, such as `http://localhost:8085`; in old configs that of its config.
  public var uri: String
  /// `nil` where the config names none.
  public var broker: Broker?
  public var authentication: Authentication
  /// Where it stands in its config.
  public var position: FilePosition?

  public init(
    uri: String, broker: Broker? = nil, authentication: Authentication = .server,
    position: FilePosition? = nil
  ) {
    self.uri = uri
    self.broker = broker
    self.authentication = authentication
    self.position = position
  }
}
