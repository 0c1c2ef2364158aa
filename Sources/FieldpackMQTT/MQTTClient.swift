import Fieldpack
public import FieldpackCore
import FieldpackField
public import FieldpackServices

/// A connection to an MQTT broker, such as that of a backend, that is made again whenever it breaks.
///
///     let client = MQTTClient()
///     let backend = try BackendService(remote, broker: client, …)
///
/// It speaks MQTT 5, and 3.1.1 with brokers that know no better, with a clean session. TLS is 1.2 or
/// later, and the broker's certificate and name are verified. Without TLS it connects to this machine
/// only, unless the configuration says otherwise. It needs libmosquitto: a build without the package
/// trait `MQTT` has the type, but connects to nothing.
public actor MQTTClient: MessageBroker {
  public nonisolated let configuration: MQTTConfiguration
  private var inbox: MQTTInbox?
  private var keeping: Task<Void, Never>?
  #if MQTT
    private var connection: MQTTConnection?
    private var version = MQTTVersion.five
  #endif

  public init(_ configuration: MQTTConfiguration = MQTTConfiguration()) {
    self.configuration = configuration
  }

  /// As ``FieldpackServices/MessageBroker/connect(_:)`` says. A connection of before is closed.
  ///
  /// - Throws: `.unsupported` in a build without the trait `MQTT`.
  public func connect(
    _ session: BrokerSession
  ) async throws(FieldpackError) -> AsyncStream<BrokerEvent> {
    try session.address.checkSecrecy(allowsUnencrypted: configuration.allowsUnencrypted)
    if let will = session.will { try check(will) }
    for topic in session.topics { try BrokerMessage.check(topic: topic) }
    await disconnect()
    #if MQTT
      let inbox = MQTTInbox(
        maximumCount: configuration.maximumWaiting, maximumBytes: 2 * configuration.maximumLength)
      self.inbox = inbox
      keeping = Task { await self.keep(session, inbox) }
      return inbox.stream
    #else
      throw Self.missing
    #endif
  }

  /// Checks that this build can connect to brokers.
  ///
  /// - Throws: `.unsupported` in a build without the trait `MQTT`.
  package static func check() throws(FieldpackError) {
    #if !MQTT
      throw missing
    #endif
  }

  #if !MQTT
    private static let missing = FieldpackError(
      .unsupported,
      "this build of Fieldpack cannot connect to brokers. Try: install libmosquitto-dev, and build with "
        + "the package trait MQTT")
  #endif

  public func publish(_ message: BrokerMessage) async throws(FieldpackError) {
    try check(message)
    #if MQTT
      if let connection { return try await connection.publish(message) }
    #endif
    throw FieldpackError(.unavailable, "there is no connection to the broker")
  }

  public func disconnect() async {
    let (keeping, inbox) = (keeping, inbox)
    (self.keeping, self.inbox) = (nil, nil)
    keeping?.cancel()
    #if MQTT
      connection?.close()
    #endif
    await keeping?.value
    inbox?.finish()
  }

  private func check(_ message: BrokerMessage) throws(FieldpackError) {
    try BrokerMessage.check(topic: message.topic)
    guard message.bytes.count <= configuration.maximumLength else {
      throw FieldpackError(
        .invalidArgument,
        "the message has \(message.bytes.count) bytes, more than the limit of "
          + "\(configuration.maximumLength)")
    }
  }

  #if MQTT
    /// Connects again and again, until the task is cancelled.
    private func keep(_ session: BrokerSession, _ inbox: MQTTInbox) async {
      var failures = 0
      while !Task.isCancelled {
        let (error, hasStood) = await connectOnce(session, inbox)
        if Task.isCancelled { return }
        inbox.put(.disconnected(error))
        failures = hasStood ? 1 : failures + 1
        let pause = configuration.backOff.pause(after: failures)
        try? await configuration.clock.sleep(for: pause)
      }
    }

    /// - Returns: why the connection ended, and whether it stood before.
    private func connectOnce(
      _ session: BrokerSession, _ inbox: MQTTInbox
    ) async -> (FieldpackError, hasStood: Bool) {
      do throws(FieldpackError) {
        let credentials = try await session.credentials()
        let connection = try MQTTConnection(session, credentials, configuration, version, inbox)
        guard !Task.isCancelled else {
          return (FieldpackError(.interrupted, "the connection was given up"), false)
        }
        self.connection = connection
        let end = await connection.run()
        if self.connection === connection { self.connection = nil }
        if end.wantsOlderVersion { version = .threeOneOne }
        return (end.error, end.hasStood)
      } catch {
        return (error, false)
      }
    }
  #endif
}

#if MQTT
  /// The versions of MQTT that are spoken. Only the later one tells the broker which messages are too
  /// long, and why the broker refuses one.
  enum MQTTVersion: Int32 {
    case threeOneOne = 4
    case five = 5
  }
#endif
