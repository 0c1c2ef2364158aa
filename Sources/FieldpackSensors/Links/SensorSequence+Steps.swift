extension SensorSequence {
  /// The operations in their order. A download stands for one of each capture.
  package var steps: [SensorOperation] {
    switch self {
    case .none, .recovery: []
    case .connect: [.register, .lock, .initialize, .unlock]
    case .configure: [.lock, .configure, .unlock]
    case .connectConfigure: [.register, .lock, .initialize, .configure, .unlock]
    case .captureDownload: [.lock, .capture, .unlock, .thriftyDownload]
    case .configCaptureDownload: [.lock, .configure, .capture, .unlock, .thriftyDownload]
    case .full:
      [.register, .lock, .initialize, .configure, .capture, .unlock, .thriftyDownload]
    case .disconnect: [.unlock, .unregister]
    }
  }

  var completed: SensorEvent.Name {
    switch self {
    case .configure: .configureCompleted
    case .connectConfigure: .connectConfigureCompleted
    case .captureDownload, .configCaptureDownload, .full: .fullCompleted
    case .disconnect: .disconnectCompleted
    case .connect, .none, .recovery: .connectCompleted
    }
  }
}

/// What helps after a status that is no success, before the step is tried once more.
enum SensorRecovery {
  /// - Parameters:
  ///   - done: the steps before.
  /// - Returns: `nil` where nothing helps.
  static func operations(
    after status: SensorStatus?, of step: SensorOperation, done: [SensorOperation]
  ) -> [SensorOperation]? {
    let operations: [SensorOperation]
    let isOfSensor = step != .lock && step != .unregister
    switch status {
    case .invalidId:
      // A new session does not hold the lock of the old one.
      operations = [.register] + (done.contains(.lock) ? [.lock] : [])
    case .lockHeldByAnother: operations = [.stealLock]
    case .sensorBusy, .sensorTimeout: operations = []
    case _ where !isOfSensor: return nil
    case .lockNotHeld: operations = [.lock]
    case .initializationNeeded, .sensorFailure:
      // A sensor that begins anew has forgotten what it was set to.
      operations = [.initialize] + (done.contains(.configure) ? [.configure] : [])
    case .configurationNeeded, .noSuchParameter: operations = [.configure]
    default: return nil
    }
    return operations == [step] ? [] : operations
  }
}
