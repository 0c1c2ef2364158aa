import FieldpackCore
public import FieldpackField

/// The receiving side of the DaCo protocol as a value: takes a request, and gives the answer and
/// the record to be stored.
///
///     var ingest = MotionIngest()
///     let (response, record) = ingest.answer(body, at: now)
///
/// It neither stores nor sends. The caller stores the record before sending the answer, so that
/// nothing that was acknowledged is lost. A body that cannot be read gets 400 and leaves its
/// session as it was; readings of an unknown or revoked session get 401, after which the device
/// starts anew.
public struct MotionIngest: Sendable {
  public struct Response: Hashable, Sendable {
    public var status: Int
    /// UTF-8 of the type `text/plain`.
    public var body: String

    public init(_ status: Int, _ body: String = "") {
      self.status = status
      self.body = body
    }
  }

  private struct State: Hashable, Sendable {
    var rate: Double
    var isRevoked: Bool
  }

  /// The largest number of sessions; a further start gets status 503.
  public var maximumSessions = 1_000_000
  /// The sampling rate that new sessions are assumed to have, in hertz.
  public var rate: Double
  private var sessions: [String: State] = [:]
  private let newSession: @Sendable () -> String

  /// - Parameters:
  ///   - sessions: those known from before.
  ///   - rate: more than 0.
  ///   - newSession: gives ids that cannot be guessed, each once.
  public init(
    sessions: [MotionSession] = [], rate: Double = MotionSession.standardRate,
    newSession: @escaping @Sendable () -> String = { RandomID.make() }
  ) {
    self.rate = rate
    self.newSession = newSession
    for session in sessions {
      self.sessions[session.id] = State(rate: session.rate, isRevoked: session.revokedAt != nil)
    }
  }

  /// The answer to the body of a POST.
  ///
  /// - Parameter now: seconds since 1970.
  public mutating func answer(
    _ body: [UInt8], at now: Double
  ) -> (response: Response, record: MotionRecord?) {
    do throws(FieldpackError) {
      return answer(try MotionRequest(body: body), at: now)
    } catch {
      return (Response(400, error.message), nil)
    }
  }

  /// The answer to a request that has been read.
  public mutating func answer(
    _ request: MotionRequest, at now: Double
  ) -> (response: Response, record: MotionRecord?) {
    switch request {
    case .start(let start): self.start(start, at: now)
    case .data(let data): receive(data, at: now)
    }
  }

  /// Ends a session, whose readings get 401 from now on.
  ///
  /// - Returns: what is to be stored; `nil` where there is no such session or it has ended.
  public mutating func revoke(_ session: String, at now: Double) -> MotionRecord? {
    guard sessions[session]?.isRevoked == false else { return nil }
    sessions[session]?.isRevoked = true
    return .revoked(session: session, at: now)
  }

  /// Whether readings of the session are accepted.
  public func accepts(_ session: String) -> Bool { sessions[session]?.isRevoked == false }

  /// Whether the session is known, revoked or not.
  func knows(_ session: String) -> Bool { sessions[session] != nil }

  private mutating func start(
    _ start: MotionRequest.Start, at now: Double
  ) -> (response: Response, record: MotionRecord?) {
    guard sessions.count < maximumSessions else {
      return (Response(503, "there are too many sessions"), nil)
    }
    let id = newSession()
    guard sessions[id] == nil else { return (Response(503, "no session can be made"), nil) }
    return (
      Response(200, id),
      add(
        MotionSession(
          id: id, device: start.device, startedAt: now, rate: rate))
    )
  }

  private mutating func receive(
    _ data: MotionRequest.Data, at now: Double
  ) -> (response: Response, record: MotionRecord?) {
    guard let state = sessions[data.session], !state.isRevoked else {
      return (Response(401, "there is no such session"), nil)
    }
    let samples = MotionSample.samples(
      of: data.readings, sentAt: data.timestamp, rate: state.rate)
    let batch = MotionBatch(
      session: data.session, sentAt: data.timestamp, receivedAt: now, sections: data.sections,
      samples: samples)
    return (Response(200), .received(batch))
  }

  /// Takes a session that was started elsewhere.
  mutating func add(_ session: MotionSession) -> MotionRecord {
    sessions[session.id] = State(rate: session.rate, isRevoked: session.revokedAt != nil)
    return .started(session)
  }
}
