/// How a sensor answers an operation (NIST SP 500-288, 4.4).
public enum SensorStatus: String, Hashable, Sendable, CaseIterable {
  case success, failure, invalidId, canceled, canceledWithSensorFailure, sensorFailure, lockNotHeld,
    lockHeldByAnother, initializationNeeded, configurationNeeded, sensorBusy, sensorTimeout,
    unsupported, badValue, noSuchParameter, preparingDownload

  /// The status of a text in any case. The schemas misspell `noSuchParamter`, and services write both.
  public init?(_ text: String) {
    let lower = text.lowercased()
    if lower == "nosuchparamter" {
      self = .noSuchParameter
    } else if let found = Self.allCases.first(where: { $0.rawValue.lowercased() == lower }) {
      self = found
    } else {
      return nil
    }
  }

  /// What people read.
  public var text: String {
    switch self {
    case .success: "success"
    case .failure: "failure"
    case .invalidId: "invalid ID"
    case .canceled: "canceled"
    case .canceledWithSensorFailure: "canceled with sensor failure"
    case .sensorFailure: "sensor failure"
    case .lockNotHeld: "lock not held"
    case .lockHeldByAnother: "lock held by another"
    case .initializationNeeded: "sensor needs initialization"
    case .configurationNeeded: "sensor needs configuration"
    case .sensorBusy: "sensor busy"
    case .sensorTimeout: "sensor timeout"
    case .unsupported: "unsupported"
    case .badValue: "bad value"
    case .noSuchParameter: "no such parameter"
    case .preparingDownload: "preparing download"
    }
  }
}
