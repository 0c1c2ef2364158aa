import FieldpackCore
import FieldpackField

extension SensorSimulator {
  // MARK: Sessions

  func register() -> SimulatedResult {
    state.withLock { state in
      dropStale(&state)
      while state.sessions.count >= max(1, options.maximumSessions) {
        let oldest = state.sessions.filter { $0.id != state.running?.session }
          .min { $0.lastUse < $1.lastUse }
        guard options.dropsOldSessions, let oldest else {
          return SimulatedResult(.failure, message: "there are too many sessions")
        }
        drop(oldest.id, &state)
      }
      let id = options.makeId()
      guard !state.sessions.contains(where: { $0.id == id }) else {
        return SimulatedResult(.failure, message: "there is no id for another session")
      }
      state.sessions.append(Session(id: id, lastUse: clock.uptime))
      return SimulatedResult(.success, sessionId: id)
    }
  }

  func unregister(_ id: String) -> SimulatedResult {
    state.withLock { state in
      guard state.running?.session != id else { return SimulatedResult(.sensorBusy) }
      drop(id, &state)
      return SimulatedResult(.success)
    }
  }

  private func drop(_ id: String, _ state: inout State) {
    state.sessions.removeAll { $0.id == id }
    if state.holder == id { state.holder = nil }
  }

  /// Makes true what a forced status says.
  func forget(_ status: SensorStatus, _ id: String?) {
    state.withLock { state in
      switch status {
      case .invalidId: drop(id ?? "", &state)
      case .initializationNeeded: state.isInitialized = false
      case .configurationNeeded: state.settings = nil
      case .lockNotHeld: if state.holder == id { state.holder = nil }
      default: break
      }
    }
  }

  private func dropStale(_ state: inout State) {
    guard let limit = options.inactivityTimeout else { return }
    let stale = state.sessions.filter {
      clock.uptime - $0.lastUse > limit && $0.id != state.running?.session
    }
    for session in stale { drop(session.id, &state) }
  }

  /// Whether there is such a session, which is then used.
  func uses(_ id: String, _ state: inout State) -> Bool {
    dropStale(&state)
    guard let index = state.sessions.firstIndex(where: { $0.id == id }) else { return false }
    state.sessions[index].lastUse = clock.uptime
    // The service in Java counts all that the holder does, the other the work of the sensor.
    if options.dialect == .java, state.holder == id { state.lastWork = clock.uptime }
    return true
  }

  func invalid(_ id: String) -> SimulatedResult {
    SimulatedResult(
      .invalidId, message: options.dialect == .net ? "\(id) is no session" : nil)
  }

  // MARK: Lock

  func lock(_ operation: SensorOperation, _ id: String) -> SimulatedResult {
    state.withLock { state in
      guard uses(id, &state) else { return invalid(id) }
      switch operation {
      case .unlock:
        guard state.holder == nil || state.holder == id else {
          return SimulatedResult(.lockHeldByAnother)
        }
        state.holder = nil
      case .lock:
        guard state.holder == nil || state.holder == id else {
          return SimulatedResult(.lockHeldByAnother)
        }
        take(id, &state)
      default:
        if let since = state.lastWork, state.holder != nil, state.holder != id {
          let passed = clock.uptime - since
          guard passed >= options.preventionPeriod else {
            return SimulatedResult(
              .failure,
              message: "the lock cannot be stolen for another "
                + "\((options.preventionPeriod - passed).inSeconds) s")
          }
        }
        take(id, &state)
      }
      return SimulatedResult(.success)
    }
  }

  private func take(_ id: String, _ state: inout State) {
    state.holder = id
    if options.dialect == .java { state.lastWork = clock.uptime }
  }

  // MARK: Work of the sensor

  /// What keeps a session from the sensor; `nil` where nothing does.
  private func obstacle(
    _ operation: SensorOperation, _ id: String, _ state: inout State
  ) -> SimulatedResult? {
    guard uses(id, &state) else { return invalid(id) }
    guard let holder = state.holder else { return SimulatedResult(.lockNotHeld) }
    guard holder == id else { return SimulatedResult(.lockHeldByAnother) }
    if let running = state.running {
      let isAsynchronous = running.operation == .beginCapture
      return SimulatedResult(
        .sensorBusy, message: isAsynchronous ? "Sensor running asynchronous capture" : nil)
    }
    let isFirst = operation == .initialize || operation == .uninitialize
    guard isFirst || state.isInitialized || !options.needsInitialization else {
      return SimulatedResult(.initializationNeeded)
    }
    let needsSettings: Set<SensorOperation> = [.capture, .beginCapture, .getConfiguration]
    if needsSettings.contains(operation), options.needsConfiguration, state.settings == nil {
      return SimulatedResult(.configurationNeeded)
    }
    state.lastWork = clock.uptime
    return nil
  }

  /// - Parameter forced: what the work ends with; `nil` where it goes well.
  func work(
    _ operation: SensorOperation, _ id: String, _ body: [UInt8], forced: SensorStatus?
  ) async -> SimulatedResult {
    let (obstacle, wait) = state.withLock { state -> (SimulatedResult?, Task<Void, any Error>?) in
      if let obstacle = self.obstacle(operation, id, &state) { return (obstacle, nil) }
      guard let (time, isTooLong) = time(of: operation) else { return (nil, nil) }
      let clock = clock
      let wait = Task { try await clock.sleep(for: time) }
      state.running = Running(
        operation: operation, session: id, isCanceled: isTooLong, wait: wait)
      return (nil, wait)
    }
    if let obstacle { return obstacle }
    if let wait { _ = await wait.result }
    return state.withLock { state in
      if wait != nil {
        let running = state.running
        state.running = nil
        if running?.isCanceled == true {
          return SimulatedResult(
            forced == .sensorFailure ? .canceledWithSensorFailure : .canceled)
        }
      }
      if let forced { return SimulatedResult(forced) }
      return finish(operation, body, &state)
    }
  }

  /// How long an operation takes, and whether the service cancels it then; `nil` for no time.
  private func time(of operation: SensorOperation) -> (Duration, isTooLong: Bool)? {
    let (time, key): (Duration, String) =
      switch operation {
      case .initialize: (options.initializationTime, "initializationTimeout")
      case .uninitialize: (options.initializationTime, "uninitializationTimeout")
      case .configure: (options.configurationTime, "setConfigurationTimeout")
      case .getConfiguration: (options.configurationTime, "getConfigurationTimeout")
      case .capture: (options.captureTime, "captureTimeout")
      default: (.zero, "")
      }
    guard time > .zero else { return nil }
    let most = options.parameters.setting(key)?.number.map { Duration.milliseconds(Int($0)) }
    guard let most, most < time else { return (time, false) }
    return (most, true)
  }

  private func finish(
    _ operation: SensorOperation, _ body: [UInt8], _ state: inout State
  ) -> SimulatedResult {
    switch operation {
    case .initialize:
      state.isInitialized = true
      return SimulatedResult(.success)
    case .uninitialize:
      (state.isInitialized, state.settings) = (false, nil)
      return SimulatedResult(.success)
    case .getConfiguration:
      return SimulatedResult(.success, metadata: configuration(state, at: "configuring"))
    case .configure: return configure(body, &state)
    default: return capture(&state)
    }
  }

  /// Stops what runs, whoever has started it.
  func cancel(_ id: String) -> SimulatedResult {
    state.withLock { state in
      guard uses(id, &state) else { return invalid(id) }
      if options.dialect == .net {
        guard let holder = state.holder else { return SimulatedResult(.lockNotHeld) }
        guard holder == id else { return SimulatedResult(.lockHeldByAnother) }
      }
      state.running?.isCanceled = true
      state.running?.wait?.cancel()
      if state.running?.operation == .beginCapture { state.running = nil }
      return SimulatedResult(.success)
    }
  }

  /// Begins or ends a capture that lasts as long as the client wants.
  func asynchronous(_ operation: SensorOperation, _ id: String) -> SimulatedResult {
    state.withLock { state in
      if operation == .endCapture {
        guard uses(id, &state) else { return invalid(id) }
        guard let holder = state.holder else { return SimulatedResult(.lockNotHeld) }
        guard holder == id else { return SimulatedResult(.lockHeldByAnother) }
        guard state.running?.operation == .beginCapture else {
          return SimulatedResult(.failure, message: "No asynchronous capture running")
        }
        state.running = nil
        return finish(.capture, [], &state)
      }
      if let obstacle = obstacle(operation, id, &state) { return obstacle }
      state.running = Running(operation: .beginCapture, session: id)
      return SimulatedResult(.success)
    }
  }

  var sensorStatus: String {
    state.withLock { state in
      switch state.running?.operation {
      case nil: "ready"
      case _ where state.running?.isCanceled == true: "canceling"
      case .initialize?: "initializing"
      case .uninitialize?: "uninitializing"
      case .configure?, .getConfiguration?: "configuring"
      default: "capturing"
      }
    }
  }
}
