/// How a device describes itself when a session starts.
public struct MotionDevice: Hashable, Sendable {
  public var systemName: String
  public var systemVersion: String
  public var name: String
  /// An identifier that stays the same in all sessions of the device; `nil` where it has none.
  public var identifierForVendor: String?
  public var model: String
  public var localizedModel: String

  public init(
    systemName: String, systemVersion: String, name: String, identifierForVendor: String? = nil,
    model: String, localizedModel: String? = nil
  ) {
    self.systemName = systemName
    self.systemVersion = systemVersion
    self.name = name
    self.identifierForVendor = identifierForVendor
    self.model = model
    self.localizedModel = localizedModel ?? model
  }
}

/// The body of a request in the DaCo protocol, which a device posts to its server.
public enum MotionRequest: Hashable, Sendable {
  /// Asks for a session, whose id is the answer.
  case start(Start)
  /// Readings of a session.
  case data(Data)

  public struct Start: Hashable, Sendable {
    /// Seconds since 1970.
    public var timestamp: Double
    public var device: MotionDevice

    public init(timestamp: Double, device: MotionDevice) {
      self.timestamp = timestamp
      self.device = device
    }
  }

  public struct Data: Hashable, Sendable {
    /// The session's id.
    public var session: String
    /// When it was sent, in seconds since 1970.
    public var timestamp: Double
    /// The sections of every reading.
    public var sections: MotionSections
    /// The readings in the order in which they were taken.
    public var readings: [MotionReading]

    /// - Parameter sections: those of the first reading where they are not given.
    public init(
      session: String, timestamp: Double, sections: MotionSections? = nil,
      readings: [MotionReading]
    ) {
      self.session = session
      self.timestamp = timestamp
      self.sections = sections ?? readings.first?.sections ?? []
      self.readings = readings
    }
  }

  /// The longest body that is read, in bytes.
  public static let maximumLength = 1 << 20
  /// The most readings that a body may hold.
  public static let maximumReadings = 10_000
  /// The longest text of a body, in bytes.
  public static let maximumTextLength = 1024
  /// The moments that a body may name: those of the years 1970 to 9999.
  public static let timestamps: ClosedRange<Double> = 0...253_402_300_799
}
