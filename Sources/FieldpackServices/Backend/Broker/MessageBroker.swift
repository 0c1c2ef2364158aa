public import Fieldpack
public import FieldpackCore

/// How surely a message arrives. The numbers are those of MQTT.
public enum DeliveryQuality: Int, Hashable, Sendable, CaseIterable {
  case atMostOnce = 0
  case atLeastOnce = 1
  case exactlyOnce = 2
}

/// A message that a broker hands on to all who subscribe to its topic.
public struct BrokerMessage: Hashable, Sendable {
  public var topic: String
  public var bytes: [UInt8]
  public var quality: DeliveryQuality
  /// Whether the broker keeps the message for whoever subscribes later, in place of the one before.
  public var isRetained = false
  /// The media type of the bytes, which goes to the broker by MQTT 5 alone.
  public var contentType: String?

  public init(topic: String, bytes: [UInt8], quality: DeliveryQuality = .exactlyOnce) {
    (self.topic, self.bytes, self.quality) = (topic, bytes, quality)
  }
}

/// The name and password that a broker asks for. The name may be a token: neither is shown in
/// descriptions.
public struct BrokerCredentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  public var user: String
  public var password: String

  public init(user: String, password: String) { (self.user, self.password) = (user, password) }

  public var description: String { "credentials for a broker" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a broker is to know of who connects.
public struct BrokerSession: Sendable {
  public var address: RemoteConfig.Broker
  /// The broker ends an older connection of the same id.
  public var clientID: String
  /// What the broker sends where the connection breaks without a good-bye.
  public var will: BrokerMessage?
  /// What is subscribed to, after each connect.
  public var topics: [String]
  /// Asked before each connect, `nil` where the broker asks for none.
  public var credentials: @Sendable () async throws(FieldpackError) -> BrokerCredentials?

  public init(
    address: RemoteConfig.Broker, clientID: String, will: BrokerMessage? = nil,
    topics: [String] = [],
    credentials:
      @escaping @Sendable () async throws(FieldpackError) -> BrokerCredentials? = { () in nil }
  ) {
    (self.address, self.clientID, self.will) = (address, clientID, will)
    (self.topics, self.credentials) = (topics, credentials)
  }
}

/// What happens between a ``MessageBroker`` and its broker.
public enum BrokerEvent: Sendable {
  /// The connection stands, and all topics are subscribed to.
  case connected
  /// The connection is lost, or could not be made; another attempt follows.
  case disconnected(FieldpackError)
  case message(BrokerMessage)
  /// So many messages were dropped, because they came faster than they were taken.
  case missed(Int)
}

/// A connection to a broker that is made again whenever it breaks, such as the `MQTTClient` of the
/// module `FieldpackMQTT`.
public protocol MessageBroker: Sendable {
  /// Begins to connect, and stays connected until ``disconnect()``.
  ///
  /// - Returns: all that happens from now on, in its order, until ``disconnect()``.
  /// - Throws: `.invalidArgument` for a topic, a will or an address that cannot be used, `.permission`
  ///   where the connection would not be encrypted and has to be.
  func connect(_ session: BrokerSession) async throws(FieldpackError) -> AsyncStream<BrokerEvent>

  /// Sends a message; comes back once the broker has it, as surely as its quality says.
  ///
  /// - Throws: `.unavailable` where there is no connection, or it breaks before, `.invalidArgument` for
  ///   a topic with wildcards and for too many bytes.
  func publish(_ message: BrokerMessage) async throws(FieldpackError)

  /// Says good-bye to the broker, and comes back when the connection is closed.
  func disconnect() async
}
