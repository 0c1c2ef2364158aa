public import FieldpackField

/// How an ``MQTTClient`` connects, and what it takes.
public struct MQTTConfiguration: Sendable {
  /// A file with the certificates, in PEM, of those who vouch for brokers; `nil` for those of the
  /// system.
  public var certificates: String?
  /// Whether a broker on another machine may be asked without encryption.
  public var allowsUnencrypted: Bool
  /// How many bytes a message may have, from and to the broker.
  public var maximumLength: Int
  /// How many messages wait for who takes them. Of more, and of more bytes than two of the longest
  /// have, the oldest are dropped.
  public var maximumWaiting: Int
  /// After how many seconds of silence the broker is asked for a sign of life, 5 or more.
  public var keepAlive: Int
  /// How long to wait before a lost connection is made again.
  public var backOff: BackOff
  public var clock: FieldClock

  public init(
    certificates: String? = nil, allowsUnencrypted: Bool = false, maximumLength: Int = 16 << 20,
    maximumWaiting: Int = 1024, keepAlive: Int = 60,
    backOff: BackOff = BackOff(first: .milliseconds(500), limit: .seconds(30), jitter: 0.5),
    clock: FieldClock = .system
  ) {
    (self.certificates, self.allowsUnencrypted) = (certificates, allowsUnencrypted)
    (self.maximumLength, self.maximumWaiting) = (maximumLength, maximumWaiting)
    (self.keepAlive, self.backOff, self.clock) = (keepAlive, backOff, clock)
  }
}
