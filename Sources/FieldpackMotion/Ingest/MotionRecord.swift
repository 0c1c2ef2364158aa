/// A session of a device: from its start until it is revoked.
public struct MotionSession: Hashable, Sendable {
  /// The id that the server gave.
  public var id: String
  public var device: MotionDevice
  /// Seconds since 1970.
  public var startedAt: Double
  /// `nil` while it lasts.
  public var revokedAt: Double?
  /// Samples a second.
  public var rate: Double

  public init(
    id: String, device: MotionDevice, startedAt: Double, revokedAt: Double? = nil,
    rate: Double = MotionSession.standardRate
  ) {
    self.id = id
    self.device = device
    self.startedAt = startedAt
    self.revokedAt = revokedAt
    self.rate = rate
  }

  /// The rate at which devices of the protocol sample, in hertz.
  public static let standardRate = 50.0
}

/// Samples that came in one request.
public struct MotionBatch: Hashable, Sendable {
  /// The session's id.
  public var session: String
  /// When it was sent, in seconds since 1970 by the device's clock.
  public var sentAt: Double
  /// When it was received, in seconds since 1970.
  public var receivedAt: Double
  public var sections: MotionSections
  public var samples: [MotionSample]

  public init(
    session: String, sentAt: Double, receivedAt: Double, sections: MotionSections,
    samples: [MotionSample]
  ) {
    self.session = session
    self.sentAt = sentAt
    self.receivedAt = receivedAt
    self.sections = sections
    self.samples = samples
  }
}

/// What is to be stored of a request.
public enum MotionRecord: Hashable, Sendable {
  case started(MotionSession)
  case received(MotionBatch)
  case revoked(session: String, at: Double)
}
