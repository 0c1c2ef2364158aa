/// What is asked of a sensor: the operations on the wire, and the sequences of them that wsabi2 reports
/// failures of under one number.
///
/// The numbers from 0 to 19 are wsabi2's; those from 20 on are of services that came after it.
public enum SensorOperation: Int, Hashable, Sendable, CaseIterable {
  case register, unregister, lock, unlock, stealLock, getCommonInfo, getDetailedInfo, initialize,
    getConfiguration, configure, getContentType, capture, download, thriftyDownload, cancel,
    connectSequence, captureSequence, disconnectSequence, recoverySequence, all
  case uninitialize, beginCapture, endCapture, getStatus, rawDownload, stream

  /// What the log of operations holds, such as `thriftyDownload`.
  public var name: String { "\(self)" }

  public init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

/// Operations that belong together, of which a link runs one at a time.
public enum SensorSequence: Int, Hashable, Sendable, CaseIterable {
  case none, recovery, connect, configure, connectConfigure, captureDownload,
    configCaptureDownload, full, disconnect

  /// What the log of operations holds, such as `configCaptureDownload`.
  public var name: String { "\(self)" }
}
