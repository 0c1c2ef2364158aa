public import Fieldpack
public import FieldpackCore
public import FieldpackField

/// The connection of a device to its backend: configs and notifications come from there, and edits go
/// there.
///
///     let backend = try BackendService(
///       remote, broker: MQTTClient(), signedIn: authentication, configs: configs,
///       reachability: sensors.reachability, folder: folder, device: device)
///     try await graph.add(backend)
///     try await graph.start(.backend)
///     for await notification in backend.notifications { … }
///
/// It starts without a network, with the config that the backend gave the last time. Whenever there is a
/// network it connects, registers the device and asks for the config. Then it is ready, and
/// ``transport`` carries edits.
public actor BackendService: Service {
  public nonisolated let id = ServiceID.backend
  /// What carries edits to the backend.
  public nonisolated var transport: MQTTTransport { MQTTTransport(backend: self) }
  nonisolated let device: String
  let topics: BackendTopics
  let broker: any MessageBroker
  let signedIn: any SignedIn
  let clock: FieldClock
  let replyLimit: Duration
  private let address: RemoteConfig.Broker
  private let reachability: any Reachability
  private let file: RemoteConfigFile
  private let backOff = BackOff(first: .milliseconds(500), limit: .seconds(30), jitter: 0.5)

  nonisolated let log = EventLog<BackendEvent>()
  private nonisolated let readiness = Broadcast<Bool>(capacity: 1, present: false)
  private nonisolated let receipt = Broadcast<Bool>(capacity: 1, present: false)
  private nonisolated let notified = Broadcast<BackendNotification>(capacity: 256)

  /// How the next message is written; each message of the backend tells how the backend writes.
  var generation: WireGeneration
  /// Whether the backend has sent a message that could be read, since the device introduced itself.
  private var hasHeard = false
  var isConnected = false
  /// Requests without a reply so far, by their numbers.
  var waiting: [Int64: AsyncStream<Result<BackendMessage, FieldpackError>>.Continuation] = [:]
  /// A number is taken once: it goes on from a random one, because a reply to an older run of the
  /// program may still come.
  var lastRequest = Int64.random(in: 1..<(1 << 30))

  private var isStarted = false
  private var isResting = false
  private var hasNetwork = false
  private var following: Task<Void, Never>?
  private var reading: Task<Void, Never>?
  private var introduction: Task<Void, Never>?
  private var lastChange: Task<Void, Never>?
  private var changeCount = 0

  /// - Parameters:
  ///   - remote: the backend.
  ///   - signedIn: gives the token that the broker is to know.
  ///   - configs: gets the config of the backend, and its changes.
  ///   - folder: where the config is kept; a folder that holds nothing else.
  ///   - device: the id of this device, which is also that at the broker.
  ///   - replyLimit: how long a reply is waited for.
  /// - Throws: `.configuration` where the backend has no broker, `.invalidArgument` for a device whose
  ///   id cannot stand in a topic.
  public init(
    _ remote: RemoteConfig, broker: any MessageBroker, signedIn: any SignedIn,
    configs: ConfigService, reachability: any Reachability, folder: String, device: String,
    replyLimit: Duration = .seconds(30), clock: FieldClock = .system
  ) throws(FieldpackError) {
    guard let address = remote.broker else {
      throw FieldpackError(
        .configuration,
        "the backend \(remote.uri) names no broker. Try: 'mqtt_host' in the config's 'remote'",
        position: remote.position)
    }
    (self.address, self.broker, self.signedIn) = (address, broker, signedIn)
    (self.reachability, self.device) = (reachability, device)
    (self.replyLimit, self.clock) = (replyLimit, clock)
    topics = try BackendTopics(device: device)
    file = RemoteConfigFile(in: folder, for: configs)
    // Other ways to sign in than the backend's own came with the later messages.
    generation = remote.authentication == .server ? .numbered : .named
  }

  // MARK: What is told

  /// All that happens, from now on or from the event of that number.
  public nonisolated func events(from number: Int? = nil) -> EventBatches<BackendEvent> {
    log.batches(from: number)
  }

  /// Whether the backend knows this device and gave its config, so that edits can be sent: now at once,
  /// and then whenever it changes.
  public nonisolated var isReady: some AsyncSequence<Bool, Never> & Sendable {
    Changes(readiness.subscribe().stream) { $0 }
  }

  /// Whether a config of the backend is there, from the backend or of the last time: now at once, and
  /// then whenever it changes.
  public nonisolated var configReceived: some AsyncSequence<Bool, Never> & Sendable {
    Changes(receipt.subscribe().stream) { $0 }
  }

  /// What the backend has to tell the user, from now on. Of more than 256 that nobody takes the oldest
  /// are dropped.
  public nonisolated var notifications: AsyncStream<BackendNotification> {
    notified.subscribe().stream
  }

  // MARK: The service

  public func start() async throws(FieldpackError) {
    isStarted = true
    do throws(FieldpackError) {
      if try await file.load() { received(.cache) }
    } catch {
      tell(.failed(error))
    }
    guard isStarted, following == nil else { return }
    following = Task { [reachability] in
      for await isOn in reachability.isConnected { await self.setNetwork(isOn) }
    }
  }

  public func pause() async {
    isResting = true
    await leave()
  }

  public func resume() async {
    isResting = false
    if hasNetwork { await enter() }
  }

  public func stop() async {
    (isStarted, isResting) = (false, false)
    following?.cancel()
    following = nil
    await leave()
    hasNetwork = false
    await lastChange?.value
    receipt.send(false)
  }

  private func setNetwork(_ isOn: Bool) async {
    guard isStarted else { return }
    hasNetwork = isOn
    if !isOn {
      tell(.offline)
      await leave()
    } else if !isResting {
      await enter()
    }
  }

  /// Connects, and stays connected.
  private func enter() async {
    guard isStarted, reading == nil else { return }
    let signedIn = signedIn
    let session = BrokerSession(
      address: address, clientID: device,
      will: BrokerMessage(topic: topics.will, bytes: Array("offline".utf8)),
      topics: topics.incoming
    ) { () throws(FieldpackError) in
      try await signedIn.token().map { BrokerCredentials(user: $0, password: "anypass") }
    }
    reading = Task {
      do throws(FieldpackError) {
        for await event in try await self.broker.connect(session) { await self.take(event) }
      } catch {
        self.tell(.disconnected(error))
      }
    }
  }

  private func leave() async {
    let reading = reading
    self.reading = nil
    // First who connects, so that the connection is not made behind the good-bye.
    reading?.cancel()
    await reading?.value
    await broker.disconnect()
    lose(FieldpackError(.unavailable, "the connection to the backend was closed"))
  }

  // MARK: What the broker tells

  private func take(_ event: BrokerEvent) async {
    switch event {
    case .connected:
      isConnected = true
      tell(.connected)
      introduce()
    case .disconnected(let error):
      lose(error)
      tell(.disconnected(error))
    case .missed(let count):
      tell(
        .failed(
          FieldpackError(
            .unavailable, "\(count) messages of the backend came too fast and were dropped")))
      // One of them may have been a change of the config.
      if isConnected, introduction == nil { introduce() }
    case .message(let message): receive(message)
    }
  }

  /// Gives up what needs the connection.
  private func lose(_ error: FieldpackError) {
    isConnected = false
    introduction?.cancel()
    introduction = nil
    readiness.send(false)
    for continuation in waiting.values {
      continuation.yield(.failure(error))
      continuation.finish()
    }
    waiting = [:]
  }

  private func receive(_ incoming: BrokerMessage) {
    let isReply = incoming.topic == topics.replies
    let message: BackendMessage
    do throws(FieldpackError) {
      // A reply may be a whole config.
      message = try BackendMessage(
        incoming.bytes, &generation,
        limit: isReply ? ConfigDocument.maximumByteCount : BackendMessage.usualLimit)
      hasHeard = true
      switch incoming.topic {
      case topics.replies: try answer(message)
      case BackendTopics.configUpdates: try change(message)
      case BackendTopics.notifications, topics.ownNotifications:
        let notification = try BackendNotification(json: message.payload)
        notified.send(notification)
        tell(.notification(notification))
      default: break
      }
    } catch {
      tell(.failed(error))
    }
  }

  // MARK: Register and config

  /// Tells the backend of this device and asks for its config, until the backend answers.
  private func introduce() {
    introduction?.cancel()
    introduction = Task {
      var failures = 0
      while !Task.isCancelled {
        do throws(FieldpackError) {
          hasHeard = false
          try await introduceOnce()
          if !Task.isCancelled { introduction = nil }
          return
        } catch {
          guard !Task.isCancelled, isConnected else { return }
          tell(.failed(error))
          // No answer may mean that the backend reads the other kind of messages only.
          if !hasHeard { generation = generation == .numbered ? .named : .numbered }
        }
        failures += 1
        try? await clock.sleep(for: backOff.pause(after: failures))
      }
    }
  }

  private func introduceOnce() async throws(FieldpackError) {
    try await publish(
      .registerDevice, await registration(notificationToken: nil), to: BackendTopics.registration)
    tell(.registered)
    let reply = try await request(.configFull, nil, to: BackendTopics.config)
    guard let text = reply.payload else {
      throw FieldpackError(.invalidData, "the backend gave an empty config")
    }
    let file = file
    try await inTurn { () throws(FieldpackError) in try await file.replace(text) }
    guard !Task.isCancelled, isConnected else { return }
    received(.backend)
    readiness.send(true)
  }

  /// What the backend is told of this device.
  func registration(notificationToken: String?) async -> String {
    var info = [JSONValue.Member(name: "os", value: .text(Self.system))]
    if let notificationToken {
      info.append(.init(name: "token", value: .text(notificationToken)))
    }
    return JSONValue.object([
      .init(name: "identifier", value: .text(device)),
      .init(name: "device_info", value: .object(info)),
      .init(name: "name", value: .text("mobile:\(await signedIn.user ?? "")")),
    ]).text
  }

  static let system: String = {
    #if os(Linux)
      "linux"
    #else
      "macos"
    #endif
  }()

  private func received(_ origin: BackendEvent.Origin) {
    receipt.send(true)
    tell(.configReceived(origin))
  }

  // MARK: Changes of the config

  private func change(_ message: BackendMessage) throws(FieldpackError) {
    guard let action = message.action else {
      throw FieldpackError(.invalidData, "a change of the config has no action")
    }
    // A whole config is asked for where more come than can be applied.
    guard changeCount < 256 else {
      if introduction == nil { introduce() }
      return
    }
    let file = file
    Task {
      do throws(FieldpackError) {
        let subject = try await inTurn { () throws(FieldpackError) in
          try await file.change(action, message.payload)
        }
        tell(.configChanged(action: "\(action)", subject: subject))
      } catch {
        tell(.failed(error))
      }
    }
  }

  /// Makes one change of the kept config after the other.
  private func inTurn<R: Sendable>(
    _ body: @escaping @Sendable () async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let before = lastChange
    changeCount += 1
    let task = Task { () -> Result<R, FieldpackError> in
      await before?.value
      do throws(FieldpackError) { return .success(try await body()) } catch {
        return .failure(error)
      }
    }
    lastChange = Task { _ = await task.value }
    let result = await task.value
    changeCount -= 1
    return try result.get()
  }

  func tell(_ event: BackendEvent) { log.send(event) }
}
