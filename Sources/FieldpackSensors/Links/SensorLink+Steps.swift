package import FieldpackCore
import FieldpackField
import FieldpackHTTP

extension SensorLink {
  /// Runs the steps of the present work.
  func steps() async -> Outcome {
    guard let sequence = work?.sequence else { return .canceled }
    var failure = await inform(before: sequence)
    for step in sequence.steps {
      // The captures that there are count, whatever became of the sequence.
      if step == .thriftyDownload || step == .unlock && sequence != .disconnect { continue }
      if failure != nil || work?.isCanceled == true { break }
      do throws(FieldpackError) {
        if step == .unlock { try await unlock() } else { try await take(step) }
      } catch { failure = error }
    }
    if work?.isCanceled == true, failure?.code == .interrupted { failure = nil }
    if holdsLock {
      do throws(FieldpackError) {
        try await unlock()
      } catch { failure = failure ?? error }
    }
    let downloads = Task { await self.downloadAll() }
    if isClosing { downloads.cancel() }
    self.downloads = downloads
    let missing = await downloads.value
    self.downloads = nil
    failure = failure ?? missing
    if let failure { return .failed(failure.code, message: failure.message) }
    if work?.isCanceled == true, work?.captures.isEmpty == true { return .canceled }
    return .completed(captures: work?.stored ?? [])
  }

  /// Asks the sensor what it is before it is asked for anything else: how long its operations take, and
  /// in which namespace it speaks.
  ///
  /// - Returns: why the sensor cannot be reached at all. One that only does not tell is asked all the
  ///   same.
  private func inform(before sequence: SensorSequence) async -> FieldpackError? {
    guard information == nil, sequence != .disconnect else { return nil }
    do throws(FieldpackError) {
      let result = try await ask(SensorRequest(.getCommonInfo))
      if result.isSuccess { information = result.metadata ?? [:] }
      return nil
    } catch {
      switch error.httpFailure {
      case .connection, .timeout, .untrusted: return error
      case nil: return error.code == .invalidData ? nil : error
      default: return nil
      }
    }
  }

  /// Does one step, with what helps once a sequence.
  private func take(_ step: SensorOperation) async throws(FieldpackError) {
    if step == .register, session != nil { return }
    var result = try await perform(step)
    if !result.isSuccess {
      try checkCanceled(result)
      let done = work?.done ?? []
      guard work?.hasRecovered == false,
        let help = SensorRecovery.operations(after: result.status, of: step, done: done)
      else { throw Self.failure(of: step, result) }
      work?.hasRecovered = true
      for operation in help {
        guard work?.isCanceled == false else { throw Self.canceled }
        let helped = try await perform(operation)
        try checkCanceled(helped)
        guard helped.isSuccess else { throw Self.failure(of: operation, helped) }
      }
      guard work?.isCanceled == false else { throw Self.canceled }
      // Who has stolen the lock has it.
      if step != .lock || help != [.stealLock] { result = try await perform(step) }
      try checkCanceled(result)
      guard result.isSuccess || step == .lock && help == [.stealLock] else {
        throw Self.failure(of: step, result)
      }
    }
    work?.done.append(step)
  }

  private func checkCanceled(_ result: SensorResult) throws(FieldpackError) {
    guard result.status == .canceled || result.status == .canceledWithSensorFailure else { return }
    // Somebody else may have canceled it, too.
    work?.isCanceled = true
    throw Self.canceled
  }

  private static let canceled = FieldpackError(.interrupted, "the sequence was canceled")

  private static func failure(
    of operation: SensorOperation, _ result: SensorResult
  ) -> FieldpackError {
    let code: FieldpackError.Code =
      switch result.status {
      case .sensorBusy, .lockHeldByAnother: .busy
      case .sensorTimeout, .sensorFailure: .unavailable
      case .badValue, .noSuchParameter: .invalidArgument
      case .unsupported: .unsupported
      case .invalidId: .notFound
      default: .constraint
      }
    return FieldpackError(code, "\(operation.name): \(result.text.prefix(500))")
  }

  // MARK: Operations

  /// Does an operation that is no download, and notes what it changes.
  private func perform(_ operation: SensorOperation) async throws(FieldpackError) -> SensorResult {
    if operation == .register { return try await register() }
    guard let session else {
      throw FieldpackError(.notFound, "\(operation.name): the sensor has not registered us")
    }
    let heldLock = holdsLock
    var request = SensorRequest(operation, session: session)
    if operation == .configure {
      // A sensor of one kind refuses to be told its kind, and all that comes with it.
      request.configuration = work?.configuration
      request.configuration?.items.removeAll { information?.parameter($0.key)?.isReadOnly == true }
    }
    switch operation {
    case .lock, .stealLock:
      // Kept before it is asked for: after a kill nobody knows whether the sensor gave it.
      if !heldLock { try await note(session, holdsLock: true) }
    case .capture:
      // A camera of this machine is for one program at a time.
      await stopPreview()
      // A cancel that came meanwhile has found no operation at the sensor that it could cancel.
      guard work?.isCanceled != true else { throw Self.canceled }
    default: break
    }
    work?.isAtSensor = Self.ofSensor.contains(operation)
    defer { work?.isAtSensor = false }
    let result = try await ask(request)
    switch operation {
    case .lock, .stealLock:
      if !result.isSuccess {
        try await note(
          session, holdsLock: heldLock && result.status != .lockHeldByAnother)
      }
    case .initialize: if result.isSuccess { isInitialized = true }
    case .unregister: if result.isSuccess { try await forgetSession() }
    default: break
    }
    if result.status == .invalidId { try await forgetSession() }
    if result.status == .initializationNeeded { isInitialized = false }
    tellReady()
    return result
  }

  private static let ofSensor: Set<SensorOperation> = [.initialize, .configure, .capture]

  private func register() async throws(FieldpackError) -> SensorResult {
    let result = try await ask(SensorRequest(.register))
    guard result.isSuccess else { return result }
    guard let id = result.sessionId else {
      throw FieldpackError(.invalidData, "register: the answer has no session")
    }
    try await note(id, holdsLock: false)
    tellReady()
    return result
  }

  private func note(_ session: String, holdsLock: Bool) async throws(FieldpackError) {
    self.session = session
    self.holdsLock = holdsLock
    try await journal.session(
      SensorSession(device: address, id: session, holdsLock: holdsLock))
  }

  private func forgetSession() async throws(FieldpackError) {
    (session, holdsLock) = (nil, false)
    try await journal.session(SensorSession(device: address, id: nil, holdsLock: false))
  }

  private func unlock() async throws(FieldpackError) {
    guard let session else { return }
    let result = try await ask(SensorRequest(.unlock, session: session))
    switch result.status {
    case .success, .lockHeldByAnother, .lockNotHeld: try await note(session, holdsLock: false)
    case .invalidId: try await forgetSession()
    default: throw Self.failure(of: .unlock, result)
    }
    tellReady()
  }

  /// Asks the sensor, and logs that.
  func ask(
    _ request: SensorRequest, for item: KeyTuple? = nil
  ) async throws(FieldpackError) -> SensorResult {
    let (sequence, target) = (work?.sequence, item ?? work?.item)
    var entry = SensorLogEntry(
      device: address, operation: request.operation, startedAt: clock.unixSeconds, elapsed: .zero)
    (entry.session, entry.item, entry.sequence) = (request.sessionId, target, sequence)
    let start = clock.uptime
    var event = SensorEvent(
      .operationFailed, device: address, item: target, operation: request.operation,
      sequence: sequence)
    do throws(FieldpackError) {
      let answer = try await service.perform(request)
      entry.elapsed = clock.uptime - start
      let result = answer.result
      (entry.httpStatus, entry.status) = (answer.httpStatus, result.statusText)
      entry.message = result.message.map { String($0.prefix(1000)) }
      entry.badFields = result.badFields
      // Before anything else: what is read must not be lost, even where the log cannot be written.
      if request.operation == .capture || request.operation == .endCapture {
        try await keep(result.captureIds, for: target)
      }
      try await journal.operation(entry)
      if result.isSuccess {
        event.name = .operationCompleted
      } else {
        event.message = String(result.text.prefix(1000))
      }
      event.status = result.statusText
      events.send(event)
      return result
    } catch {
      if entry.status == nil {
        entry.elapsed = clock.uptime - start
        if case .status(let status, _)? = error.httpFailure { entry.httpStatus = status }
        entry.message = error.message
        try await journal.operation(entry)
      }
      event.message = error.message
      events.send(event)
      throw error
    }
  }

  private func keep(_ ids: [String], for item: KeyTuple?) async throws(FieldpackError) {
    guard !ids.isEmpty else { return }
    try await journal.captured(ids, by: address, for: item)
    for id in ids where work?.captures.contains(id) == false { work?.captures.append(id) }
  }

  // MARK: Work of an earlier run

  /// Gives a session back that an earlier run has left.
  ///
  /// - Returns: whether the sensor has taken it back. Else the session is kept.
  /// - Throws: where the sensor cannot be asked; the session is kept then, too.
  package func release(_ old: SensorSession) async throws(FieldpackError) -> Bool {
    guard let id = old.id else { return true }
    if old.holdsLock {
      switch try await ask(SensorRequest(.unlock, session: id)).status {
      case .success, .lockHeldByAnother, .lockNotHeld, .invalidId: break
      default: return false
      }
    }
    let result = try await ask(SensorRequest(.unregister, session: id))
    guard result.isSuccess || result.status == .invalidId else { return false }
    try await journal.forget(old)
    return true
  }

  /// Goes on with a session of an earlier run that could not be given back. A new one would take its place
  /// in the journal, and nobody would know any more who holds the lock.
  func adopt(_ old: SensorSession) {
    guard session == nil, work == nil else { return }
    (session, holdsLock) = (old.id, old.holdsLock)
  }
}
