import FieldpackCore
import FieldpackField
import FieldpackHTTP

extension MotionClient {
  private enum Answer {
    case accepted
    /// The session is over.
    case unknownSession
    /// The server may ask to wait.
    case failed(asked: Duration?)
    /// Of a server that is not the one any more.
    case outdated
  }

  /// Starts sessions and posts batches, one request after the other, until the source has ended.
  func post() async -> FieldpackError? {
    var wakes = wake.stream.makeAsyncIterator()
    var failures = 0
    while !Task.isCancelled {
      let isPaused = !shouldPostData
      let isDone = isEnded && (queue.isEmpty || (isPaused && isLive))
      let answer: Answer
      if session == nil {
        if isDone, failures > 0 { return nil }
        answer = await start()
        if case .accepted = answer { continue }
      } else if queue.isEmpty || isPaused {
        if isDone { return nil }
        _ = await wakes.next(isolation: self)
        continue
      } else {
        answer = await send(queue.removeFirst())
        room.give()
      }
      switch answer {
      case .accepted: failures = 0
      case .outdated: failures = 0
      case .unknownSession:
        // One new start at once; a server that goes on refusing has to be waited for.
        failures += 1
        if let limit = options.attempts, failures >= limit { return unreachable(failures) }
        if failures > 1 { await waitAgain(failures - 1) }
      case .failed(let asked):
        failures += 1
        if let limit = options.attempts, failures >= limit { return unreachable(failures) }
        if isDone, isLive { return nil }
        await waitAgain(failures, asked: asked)
      }
    }
    return Self.cancelled
  }

  private func unreachable(_ failures: Int) -> FieldpackError {
    FieldpackError(
      .unavailable,
      "the server at \(server.scheme)://\(server.host):\(server.port) failed "
        + (failures == 1 ? "once" : "\(failures) times"))
  }

  private func waitAgain(_ failures: Int, asked: Duration? = nil) async {
    isFailing = true
    let duration = options.backOff.pause(after: failures, asked: asked)
    options.onEvent?(.waiting(duration.inSeconds))
    let clock = clock
    let task = Task { _ = try? await clock.sleep(for: duration) }
    pause = task
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    pause = nil
    isFailing = false
  }

  private func start() async -> Answer {
    let number = generation
    let request = MotionRequest.start(.init(timestamp: clock.unixSeconds, device: device))
    let response = await exchange(request)
    guard number == generation else { return .outdated }
    guard case .success(let response) = response, response.status == 200,
      response.body.count <= MotionRequest.maximumTextLength,
      let id = String(validating: response.body, as: UTF8.self)
    else {
      setActive(false)
      options.onEvent?(.failed(Self.reason(response)))
      return .failed(asked: asked(response))
    }
    session = id
    report.starts += 1
    options.onEvent?(.started(session: id))
    setActive(true)
    return .accepted
  }

  private func send(_ batch: Batch) async -> Answer {
    guard let session else { return .failed(asked: nil) }
    let number = generation
    report.posts += 1
    let response = await exchange(
      .data(.init(session: session, timestamp: batch.time, readings: batch.readings)))
    guard number == generation else {
      refuse(batch)
      return .outdated
    }
    switch response {
    case .success(let response) where response.status == 200:
      report.sent += 1
      serverData = response.body
      setActive(true)
      return .accepted
    case .success(let response) where response.status == 401:
      self.session = nil
      refuse(batch)
      setActive(false)
      options.onEvent?(.failed("the session is over"))
      return .unknownSession
    default:
      refuse(batch)
      serverData = []
      setActive(false)
      options.onEvent?(.failed(Self.reason(response)))
      return .failed(asked: asked(response))
    }
  }

  private static func reason(_ response: Result<HTTPResponse, FieldpackError>) -> String {
    switch response {
    case .failure(let error): error.message
    case .success(let response) where response.status == 200: "the answer is no session"
    case .success(let response): "the server answered \(response.status)"
    }
  }

  /// How long the server asks to wait.
  private func asked(_ response: Result<HTTPResponse, FieldpackError>) -> Duration? {
    guard case .success(let response) = response else { return nil }
    return response.retryAfter(at: clock.now)
  }

  /// A batch that was not taken: it is sent again where that loses no newer one.
  private func refuse(_ batch: Batch) {
    if !isLive || queue.count < options.unsentLimit {
      queue.insert(batch, at: 0)
    } else {
      report.lost += 1
    }
  }

  private func exchange(_ request: MotionRequest) async -> Result<HTTPResponse, FieldpackError> {
    do throws(FieldpackError) {
      return .success(try await http.send(server.request(try request.body())))
    } catch {
      return .failure(error)
    }
  }
}
