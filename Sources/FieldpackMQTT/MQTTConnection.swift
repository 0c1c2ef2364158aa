#if MQTT
  import CMosquitto
  import Fieldpack
  import FieldpackCore
  import FieldpackField
  import FieldpackServices

  /// One connection to a broker, from the attempt to its end.
  ///
  /// A thread of its own runs libmosquitto's loop, which makes all callbacks; others hand it what is to
  /// be sent.
  final class MQTTConnection: Sendable {
    /// Why a connection ended.
    struct End: Sendable {
      var error: FieldpackError
      var hasStood = false
      /// The broker does not know the version of MQTT.
      var wantsOlderVersion = false
    }

    /// `@unchecked` because libmosquitto locks its handle itself: one thread runs the loop, and any may
    /// publish and disconnect.
    struct Handle: @unchecked Sendable {
      let raw: OpaquePointer
    }

    /// What is known of a message that was handed over.
    enum Delivery {
      case waited(CheckedContinuation<Int32?, Never>)
      /// The reason code of its acknowledgement, which came before somebody waited for it.
      case done(Int32)
      /// Nobody waits for it any more.
      case forgotten
    }

    struct State {
      var deliveries: [Int32: Delivery] = [:]
      var hasStood = false
      /// Whether the attempt to connect is over, and the loop runs.
      var isLooping = false
      var isClosing = false
      var isEnded = false
      /// Who waits for the end.
      var ending: CheckedContinuation<End, Never>?
      /// The broker's reason to refuse the connection, or all topics.
      var refusal: Int32?
      /// What OpenSSL said last.
      var detail: String?
      /// How many bytes had come when the last packet was whole.
      var wholeBytes: UInt64 = 0
      /// Whether a message came that ends the connection by its length.
      var isTooLong = false
      /// Whether the broker has not acknowledged a message for too long.
      var isOverdue = false
    }

    let handle: Handle
    let state = Locked(State())
    let inbox: MQTTInbox
    let topics: [String]
    let version: MQTTVersion
    let maximumLength: Int
    private let address: RemoteConfig.Broker
    private let keepAlive: Int32
    private let clock: FieldClock

    init(
      _ session: BrokerSession, _ credentials: BrokerCredentials?,
      _ configuration: MQTTConfiguration, _ version: MQTTVersion, _ inbox: MQTTInbox
    ) throws(FieldpackError) {
      guard MQTTLibrary.isReady, let raw = mosquitto_new(session.clientID, true, nil) else {
        throw FieldpackError(.io, "libmosquitto cannot be set up")
      }
      handle = Handle(raw: raw)
      (self.inbox, self.version, topics) = (inbox, version, session.topics)
      (address, maximumLength) = (session.address, configuration.maximumLength)
      keepAlive = Int32(clamping: max(5, configuration.keepAlive))
      clock = configuration.clock
      mosquitto_user_data_set(raw, Unmanaged.passUnretained(self).toOpaque())
      // All packets are queued, and sent by the loop's thread alone.
      mosquitto_threaded_set(raw, true)
      try set(mosquitto_int_option(raw, MOSQ_OPT_PROTOCOL_VERSION, version.rawValue), "version")
      try set(mosquitto_int_option(raw, MOSQ_OPT_TCP_NODELAY, 1), "delay")
      if let credentials {
        try set(
          mosquitto_username_pw_set(raw, credentials.user, credentials.password), "credentials")
      }
      if let will = session.will {
        let code = mosquitto_will_set(
          raw, will.topic, Int32(will.bytes.count), will.bytes, Int32(will.quality.rawValue), false)
        try set(code, "will")
      }
      if session.address.isEncrypted { try setTLS(configuration) }
      setCallbacks()
    }

    deinit { mosquitto_destroy(handle.raw) }

    /// Host names and certificates are verified by default.
    private func setTLS(_ configuration: MQTTConfiguration) throws(FieldpackError) {
      if let file = configuration.certificates {
        try set(
          mosquitto_tls_set(handle.raw, file, nil, nil, nil, nil),
          "certificates of \(file)")
      } else {
        try set(mosquitto_int_option(handle.raw, MOSQ_OPT_TLS_USE_OS_CERTS, 1), "certificates")
      }
      try set(mosquitto_tls_opts_set(handle.raw, 1, "tlsv1.2", nil), "version of TLS")
    }

    private func set(_ code: Int32, _ what: String) throws(FieldpackError) {
      guard code != MQTTLibrary.success else { return }
      throw FieldpackError(
        .invalidArgument, "libmosquitto does not take the \(what): \(MQTTLibrary.text(code))")
    }

    /// The broker's name for people.
    private var name: String { "\(address.host):\(address.port)" }

    // MARK: The thread

    /// Connects, and comes back when the connection has ended.
    func run() async -> End {
      await withCheckedContinuation { continuation in
        state.withLock { $0.ending = continuation }
        // The thread keeps the connection for as long as it runs.
        let isRunning = SystemThread.start(stackSize: nil, blocksSignals: true) {
          self.end(self.connectAndLoop())
        }
        if !isRunning { end(SystemThread.shortage) }
      }
    }

    /// Says good-bye. An attempt to connect that does not come to an end is left to its thread.
    func close() {
      let isLooping = state.withLock { state in
        state.isClosing = true
        return state.isLooping
      }
      if isLooping { mosquitto_disconnect(handle.raw) } else { end(closed) }
    }

    private var closed: FieldpackError {
      FieldpackError(.unavailable, "the connection to the broker \(name) was closed")
    }

    private func end(_ error: FieldpackError) {
      let (ending, deliveries, end) = state.withLock { state in
        defer { (state.ending, state.deliveries, state.isEnded) = (nil, [:], true) }
        var end = End(error: error, hasStood: state.hasStood)
        // Unsupported protocol version.
        end.wantsOlderVersion = version == .five && state.refusal == 0x84
        return (state.ending, state.deliveries, end)
      }
      for case .waited(let continuation) in deliveries.values {
        continuation.resume(returning: nil)
      }
      ending?.resume(returning: end)
    }

    private func connectAndLoop() -> FieldpackError {
      let code = connect()
      guard code == MQTTLibrary.success else { return failure(code) }
      let isClosing = state.withLock { state in
        state.isLooping = true
        return state.isClosing
      }
      if isClosing { return closed }
      var latest: ContinuousClock.Instant?
      while true {
        let code = mosquitto_loop(handle.raw, 500, 1)
        let state = state.withLock {
          (isClosing: $0.isClosing, refusal: $0.refusal, isOverdue: $0.isOverdue)
        }
        if let refusal = state.refusal {
          return FieldpackError(refusal: refusal, by: name, version)
        }
        if state.isOverdue { return overdue }
        if state.isClosing {
          // A broker that takes nothing is not waited for.
          let end = latest ?? .now + .seconds(2)
          latest = end
          if code != MQTTLibrary.success || .now > end { return closed }
        }
        if isFlooded {
          return FieldpackError(
            .invalidData,
            "the broker \(name) sent a message of more than \(maximumLength) bytes")
        }
        guard code == MQTTLibrary.success else { return failure(code) }
      }
    }

    private func connect() -> Int32 {
      var properties: OpaquePointer?
      defer { mosquitto_property_free_all(&properties) }
      if version == .five {
        // Room for the topic and what else is in the packet.
        let limit = UInt32(clamping: maximumLength + 1 << 17)
        mosquitto_property_add_int32(
          &properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), limit)
      }
      var host = address.host
      if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
      return mosquitto_connect_bind_v5(
        handle.raw, host, Int32(address.port), keepAlive, nil, properties)
    }

    private func failure(_ code: Int32) -> FieldpackError {
      if [Int32(MOSQ_ERR_TLS.rawValue), Int32(MOSQ_ERR_TLS_HANDSHAKE.rawValue)].contains(code) {
        let detail = state.withLock { $0.detail } ?? MQTTLibrary.text(code)
        return FieldpackError(
          .unavailable,
          "no encrypted connection to the broker \(name): it is not who it says, or nobody that is "
            + "trusted vouches for it (\(detail))")
      }
      if code == Int32(MOSQ_ERR_OVERSIZE_PACKET.rawValue) {
        return FieldpackError(.invalidData, "the broker \(name) sent a packet that is too long")
      }
      return FieldpackError(mosquitto: code, "the broker \(name) cannot be reached")
    }

    /// A message that is longer than allowed is left out. One that is so many bytes longer ends the
    /// connection.
    static let slack = 8 << 20

    /// Whether a packet is coming, or came, that is longer than any message may be. A broker of MQTT 5
    /// sends none such; libmosquitto itself takes 256 MB, all at once from a broker that is fast enough.
    private var isFlooded: Bool {
      let received = fieldpack_received_bytes(mosquitto_socket(handle.raw))
      return state.withLock {
        $0.isTooLong || received > $0.wholeBytes + UInt64(maximumLength + Self.slack)
      }
    }

    // MARK: Sending

    func publish(_ message: BrokerMessage) async throws(FieldpackError) {
      guard state.withLock({ $0.hasStood && !$0.isEnded }) else { throw closed }
      var properties: OpaquePointer?
      defer { mosquitto_property_free_all(&properties) }
      if version == .five, let type = message.contentType {
        let name = Int32(MQTT_PROP_CONTENT_TYPE.rawValue)
        mosquitto_property_add_string(&properties, name, type)
      }
      var number: Int32 = 0
      let code = mosquitto_publish_v5(
        handle.raw, &number, message.topic, Int32(message.bytes.count), message.bytes,
        Int32(message.quality.rawValue), message.isRetained, properties)
      guard code == MQTTLibrary.success else {
        throw FieldpackError(mosquitto: code, "the broker \(name) does not get the message")
      }
      let sent = number
      let patience = Self.patience(of: message)
      let watch = Task { [clock] in
        do throws(CancellationError) { try await clock.sleep(for: patience) } catch { return }
        self.giveUp(sent)
      }
      defer { watch.cancel() }
      let reason = await delivery(of: sent)
      if Task.isCancelled, reason == nil {
        throw FieldpackError(.interrupted, "the message was not waited for")
      }
      guard let reason else { throw state.withLock { $0.isOverdue } ? overdue : closed }
      guard reason < 0x80 else {
        throw FieldpackError(
          Self.reasonsOfMessage.contains(reason) ? .invalidArgument : .permission,
          "the broker \(name) refused a message: \(MQTTLibrary.reason(reason))")
      }
    }

    /// The topic is invalid, the packet too large or its payload invalid: no other try helps.
    private static let reasonsOfMessage: Set<Int32> = [0x90, 0x95, 0x99]

    /// How long an acknowledgement is waited for: long enough for a slow line to take the message.
    private static func patience(of message: BrokerMessage) -> Duration {
      .seconds(30 + message.bytes.count / 16_384)
    }

    private var overdue: FieldpackError {
      FieldpackError(.unavailable, "the broker \(name) does not acknowledge a message")
    }

    /// Ends the connection, and the wait for an acknowledgement that does not come.
    private func giveUp(_ number: Int32) {
      let waiting = state.withLock { state -> CheckedContinuation<Int32?, Never>? in
        guard case .waited(let continuation)? = state.deliveries[number] else { return nil }
        state.deliveries[number] = .forgotten
        state.isOverdue = true
        return continuation
      }
      waiting?.resume(returning: nil)
    }

    /// The reason code of the acknowledgement; `nil` where none comes any more.
    private func delivery(of number: Int32) async -> Int32? {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let result = state.withLock { state -> Int32?? in
            if case .done(let reason)? = state.deliveries.removeValue(forKey: number) {
              return reason
            }
            if state.isEnded { return .some(nil) }
            // Asked once: whoever cancels from here on finds the continuation.
            let isCancelled = Task.isCancelled
            state.deliveries[number] = isCancelled ? .forgotten : .waited(continuation)
            return isCancelled ? .some(nil) : nil
          }
          if let result { continuation.resume(returning: result) }
        }
      } onCancel: {
        let waiting = state.withLock { state -> CheckedContinuation<Int32?, Never>? in
          guard case .waited(let continuation)? = state.deliveries[number] else { return nil }
          state.deliveries[number] = .forgotten
          return continuation
        }
        waiting?.resume(returning: nil)
      }
    }
  }
#endif
