#if MQTT
  import CMosquitto
  import FieldpackCore
  import FieldpackServices

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// libmosquitto, which is set up once for the process. It is never cleaned up: connections may be
  /// there until the process ends.
  enum MQTTLibrary {
    static let isReady = mosquitto_lib_init() == Self.success

    static let success = Int32(MOSQ_ERR_SUCCESS.rawValue)

    static func text(_ code: Int32) -> String {
      String(cString: mosquitto_strerror(code)).trimmingDot
    }

    static func reason(_ code: Int32) -> String { String(cString: mosquitto_reason_string(code)) }
  }

  extension FieldpackError {
    /// What libmosquitto said to a call.
    init(mosquitto code: Int32, _ what: String) {
      let reason =
        code == Int32(MOSQ_ERR_ERRNO.rawValue)
        ? String(cString: strerror(errno)) : MQTTLibrary.text(code)
      let isTooLong = code == Int32(MOSQ_ERR_OVERSIZE_PACKET.rawValue)
      self.init(isTooLong ? .invalidArgument : .unavailable, "\(what): \(reason)")
    }

    /// Why a broker refused a connection (MQTT 5, 3.2.2.2, and 3.1.1, 3.2.2.3).
    init(refusal code: Int32, by broker: String, _ version: MQTTVersion) {
      let reason: String
      var isLogin = false
      switch version {
      case .five:
        isLogin = [0x86, 0x87].contains(code)
        reason = MQTTLibrary.reason(code)
      case .threeOneOne:
        isLogin = [4, 5].contains(code)
        reason = String(cString: mosquitto_connack_string(code))
      }
      let text = reason.trimmingDot
      self.init(
        isLogin ? .permission : .unavailable, "the broker \(broker) refused the connection: \(text)"
      )
    }
  }

  extension String {
    /// Without the full stop that some of libmosquitto's texts end with.
    fileprivate var trimmingDot: String { hasSuffix(".") ? String(dropLast()) : self }
  }
#endif
