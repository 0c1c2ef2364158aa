package import FieldpackCore

/// What a sensor's service answers an operation (NIST SP 500-288, 4.3).
package struct SensorResult: Sendable {
  /// The status as the service wrote it.
  package var statusText: String
  package var badFields: [String] = []
  package var captureIds: [String] = []
  package var metadata: SensorDictionary?
  package var message: String?
  package var sessionId: String?
  /// What a sensor captured. It is personal data: it stands in no log and no error.
  package var data: SpooledBytes?
  /// The namespace of the answer; `nil` where it has none.
  package var namespace: String?

  package init(
    _ status: SensorStatus, badFields: [String] = [], captureIds: [String] = [],
    metadata: SensorDictionary? = nil, message: String? = nil, sessionId: String? = nil,
    data: SpooledBytes? = nil
  ) {
    self.init(statusText: status.rawValue)
    self.badFields = badFields
    self.captureIds = captureIds
    self.metadata = metadata
    self.message = message
    self.sessionId = sessionId
    self.data = data
  }

  init(statusText: String) { self.statusText = statusText }

  /// The status, where it is one of the specification.
  package var status: SensorStatus? { SensorStatus(statusText) }

  package var isSuccess: Bool { status == .success }

  /// What people read: the message where there is one, else what the status means.
  package var text: String {
    if let message, !message.isEmpty { return message }
    return status?.text ?? statusText
  }
}

/// The answer of a service to one operation.
package struct SensorAnswer: Sendable {
  package var result: SensorResult
  package var httpStatus: Int?

  package init(_ result: SensorResult, httpStatus: Int? = nil) {
    self.result = result
    self.httpStatus = httpStatus
  }
}

/// Something that does what is asked of a sensor: a service on the network, a camera, a simulation.
package protocol BiometricSensor: Sendable {
  /// - Throws: `.unavailable` for what gave no answer, `.invalidData` for one that cannot be read,
  ///   `.interrupted` when cancelled.
  func perform(_ request: SensorRequest) async throws(FieldpackError) -> SensorAnswer
}
