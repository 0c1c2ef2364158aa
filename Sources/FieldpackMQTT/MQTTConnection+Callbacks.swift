#if MQTT
  import CMosquitto
  import FieldpackCore
  import FieldpackServices

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  extension MQTTConnection {
    /// libmosquitto makes all of these calls on the loop's thread, which keeps the connection.
    func setCallbacks() {
      let raw = handle.raw
      mosquitto_connect_v5_callback_set(raw) { _, context, reason, _, _ in
        MQTTConnection.of(context)?.connected(reason)
      }
      mosquitto_subscribe_v5_callback_set(raw) { _, context, _, count, granted, _ in
        let list = UnsafeBufferPointer(start: granted, count: granted == nil ? 0 : Int(count))
        MQTTConnection.of(context)?.subscribed(Array(list))
      }
      mosquitto_publish_v5_callback_set(raw) { _, context, number, reason, _ in
        MQTTConnection.of(context)?.acknowledged(number, reason)
      }
      mosquitto_message_v5_callback_set(raw) { _, context, message, _ in
        if let message { MQTTConnection.of(context)?.received(message.pointee) }
      }
      mosquitto_log_callback_set(raw) { _, context, level, text in
        if let text { MQTTConnection.of(context)?.logged(level, String(cString: text)) }
      }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> MQTTConnection? {
      context.map { Unmanaged<MQTTConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private func connected(_ reason: Int32) {
      guard reason == 0 else { return state.withLock { $0.refusal = reason } }
      guard !topics.isEmpty else { return stand() }
      let names = topics.map { strdup($0) }
      defer { for name in names { free(name) } }
      let code = names.withUnsafeBufferPointer { list in
        mosquitto_subscribe_multiple(
          handle.raw, nil, Int32(list.count), list.baseAddress, 2, 0, nil)
      }
      // The loop tells what is wrong with the connection.
      if code != MQTTLibrary.success { mosquitto_disconnect(handle.raw) }
    }

    /// Of topics that a broker refuses nothing comes; the others work.
    private func subscribed(_ granted: [Int32]) {
      if let refusal = granted.last, granted.allSatisfy({ $0 >= 0x80 }) {
        state.withLock { $0.refusal = refusal }
      } else {
        stand()
      }
    }

    private func stand() {
      state.withLock { $0.hasStood = true }
      inbox.put(.connected)
    }

    private func acknowledged(_ number: Int32, _ reason: Int32) {
      let waited = state.withLock { state -> Delivery? in
        let known = state.deliveries.removeValue(forKey: number)
        if known == nil { state.deliveries[number] = .done(reason) }
        return known
      }
      if case .waited(let continuation)? = waited { continuation.resume(returning: reason) }
    }

    private func received(_ message: mosquitto_message) {
      let length = Int(message.payloadlen)
      guard let topic = message.topic else { return }
      guard length <= maximumLength else {
        if length > maximumLength + Self.slack { state.withLock { $0.isTooLong = true } }
        return
      }
      let bytes = UnsafeRawBufferPointer(start: message.payload, count: length)
      inbox.put(
        .message(
          BrokerMessage(
            topic: String(cString: topic), bytes: Array(bytes),
            quality: DeliveryQuality(rawValue: Int(message.qos)) ?? .atMostOnce)))
    }

    /// The log alone says why TLS failed, and when a packet is whole.
    private func logged(_ level: Int32, _ text: String) {
      if level == MOSQ_LOG_ERR {
        state.withLock { $0.detail = text }
      } else if text.contains(" received ") {
        let received = fieldpack_received_bytes(mosquitto_socket(handle.raw))
        state.withLock { $0.wholeBytes = received }
      }
    }
  }
#endif
