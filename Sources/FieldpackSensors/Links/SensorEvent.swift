package import FieldpackCore

/// Something that happens while one works with sensors.
package struct SensorEvent: Hashable, Sendable {
  /// wsabi2's names: eleven of links, then seven of those who work with them.
  package enum Name: String, Hashable, Sendable, CaseIterable {
    case operationFailed = "Operation Failed"
    case operationCanceled = "Operation Cancelled By Client"
    case operationCompleted = "Operation Completed"
    /// A capture is stored with its item. Told once for each capture.
    case downloadPosted = "Download Posted"
    case connectedStatusChanged = "Connected Status Changed"
    case connectCompleted = "Connect Sequence Completed"
    case configureCompleted = "Configure Sequence Completed"
    case connectConfigureCompleted = "Connect and Configure Sequence Completed"
    /// Of each sequence that captures and downloads.
    case fullCompleted = "Full Sequence Completed"
    case disconnectCompleted = "Disconnect Sequence Completed"
    case sequenceFailed = "Sequence Failed"

    case showWalkthrough, completeWalkthrough, cancelWalkthrough, startCapture, stopCapture
    case
      changedItem = "changedWSCDItem"
    case showCapturePopover
  }

  package var name: Name
  package var device: SensorAddress?
  package var item: KeyTuple?
  package var operation: SensorOperation?
  package var sequence: SensorSequence?
  /// The status as the sensor wrote it; `nil` where it did not answer.
  package var status: String?
  /// What people read of a failure.
  package var message: String?
  /// Of a changed connection: whether the sensor has registered us and is initialized.
  package var isReady: Bool?
  package var captureId: String?

  package init(
    _ name: Name, device: SensorAddress? = nil, item: KeyTuple? = nil,
    operation: SensorOperation? = nil, sequence: SensorSequence? = nil
  ) {
    self.name = name
    self.device = device
    self.item = item
    self.operation = operation
    self.sequence = sequence
  }
}
