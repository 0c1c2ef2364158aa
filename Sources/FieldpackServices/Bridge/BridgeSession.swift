public import FieldpackCore

/// The conversation with one page, see ``Bridge``.
///
/// Each message is answered by any number of replies whose event is the `responseId` of the message, or
/// its type where it has none; then by one more: `…_completed`, or `…_error` with
/// `{"domain": "SCJavascriptBridgeErrorDomain", "code", "message"}`. Lists of stores and forms, the
/// position, the status of the sign-in, notifications and the connection to the backend are told again
/// whenever they change, until the session ends.
///
/// Whatever is asked, a page also gets `lastKnownLocation`, `303` (the status of the sign-in) and
/// `notification`.
public actor BridgeSession {
  /// What a page may do.
  public struct Rights: Hashable, Sendable {
    /// Whether it may change stores and configs, and send to servers.
    public var writes: Bool

    public init(writes: Bool = true) { self.writes = writes }
  }

  let bridge: Bridge
  private let rights: Rights
  private let reply: @Sendable (BridgeReply) -> Void
  /// The words in which an error is told; `nil` for the error's own message.
  private let words: (@Sendable (FieldpackError) -> String)?
  /// What goes on after the call that began it, by the event.
  private var streams: [String: Stream] = [:]
  private var lastStream = 0
  /// Calls that wait for a server.
  private var calls: [Int: Task<Void, Never>] = [:]
  private var lastCall = 0
  private var isFinished = false

  private struct Stream {
    let number: Int
    /// `nil` for what nobody asked for.
    let message: BridgeMessage?
    let task: Task<Void, Never>
  }

  /// How many calls of one page may wait for servers, and how many events may go on.
  private static let most = 64

  /// - Parameters:
  ///   - words: how errors are told; by default in their own words.
  ///   - reply: gets all replies, one after the other. It must not wait.
  public init(
    of bridge: Bridge, rights: Rights = Rights(),
    words: (@Sendable (FieldpackError) -> String)? = nil,
    reply: @escaping @Sendable (BridgeReply) -> Void
  ) {
    (self.bridge, self.rights, self.words, self.reply) = (bridge, rights, words, reply)
  }

  deinit {
    for stream in streams.values { stream.task.cancel() }
    for call in calls.values { call.cancel() }
  }

  // MARK: Life

  /// Tells what pages get unasked.
  public func start() async {
    if let authentication = bridge.authentication {
      follow("303", authentication.loginStatus) { [authentication] _ in
        .integer(Int64(await authentication.status.rawValue))
      }
    }
    if let location = bridge.location {
      follow("lastKnownLocation", location.lastKnown) { $0.bridgeDocument }
    }
    guard let backend = bridge.backend else { return }
    keep(
      "notification", nil,
      Task { [backend, reply] in
        for await notification in backend.notifications {
          reply(BridgeReply(event: "notification", data: notification.bridgeDocument))
        }
      })
  }

  /// Waits for the calls that run, and ends what goes on.
  ///
  /// - Parameter givesUp: whether calls that wait for a server are given up.
  public func finish(givingUp givesUp: Bool = false) async {
    guard !isFinished else { return }
    if givesUp { for call in calls.values { call.cancel() } }
    while let call = calls.first?.value { await call.value }
    isFinished = true
    let ending = streams.values.sorted { $0.number < $1.number }
    streams = [:]
    for stream in ending {
      stream.task.cancel()
      await stream.task.value
      if let message = stream.message { reply(BridgeReply(endOf: message)) }
    }
  }

  /// Ends everything at once, where the page has gone.
  public func cancel() {
    isFinished = true
    for stream in streams.values { stream.task.cancel() }
    for call in calls.values { call.cancel() }
    streams = [:]
  }

  // MARK: Messages

  /// Answers a message. The call returns when the message is answered, except for messages that wait
  /// for a server.
  public func receive(_ text: String) async {
    guard !isFinished else { return }
    let message: BridgeMessage
    do throws(BridgeMessage.Mistake) { message = try BridgeMessage(text) } catch {
      return reply(BridgeReply(error: error.event, code: 0, message: error.message))
    }
    guard rights.writes || !message.action.writes else {
      return fail(message, .init(code: message.action.errorCode, message: Self.readOnly))
    }
    guard message.action.waitsForServer else { return await answer(message) }
    guard calls.count < Self.most else {
      return fail(
        message, .init(code: message.action.errorCode, message: "too many calls wait for answers"))
    }
    lastCall += 1
    let number = lastCall
    calls[number] = Task {
      await self.answer(message)
      self.calls[number] = nil
    }
  }

  private static let readOnly = "this bridge only reads"

  private func answer(_ message: BridgeMessage) async {
    do throws(BridgeFailure) {
      if try await perform(message) == .done, !isFinished { reply(BridgeReply(endOf: message)) }
    } catch {
      if !isFinished { fail(message, error) }
    }
  }

  private func fail(_ message: BridgeMessage, _ failure: BridgeFailure) {
    reply(
      BridgeReply(
        error: message.event + "_error", code: failure.code, message: failure.message))
  }

  func failure(_ error: FieldpackError, code: Int) -> BridgeFailure {
    BridgeFailure(code: code, message: words?(error) ?? error.message)
  }

  /// One of the answers to a message.
  func tell(_ message: BridgeMessage, _ payload: JSONValue) {
    reply(BridgeReply(to: message, payload: payload))
  }

  func tell(_ message: BridgeMessage, json payload: ArraySlice<UInt8>) {
    reply(BridgeReply(to: message, payload: payload))
  }

  // MARK: What goes on

  enum Outcome {
    case done
    /// More answers follow.
    case goesOn
  }

  /// Tells a value now, and again whenever a sequence moves and the value is another one.
  ///
  /// - Parameter repeats: whether a value that is the same is told again.
  func follow<S: AsyncSequence & Sendable>(
    _ message: BridgeMessage, _ changes: S, repeats: Bool = false,
    _ value: @escaping @Sendable (S.Element?) async -> JSONValue?
  ) async throws(BridgeFailure) -> Outcome where S.Failure == Never, S.Element: Sendable {
    guard streams.count < Self.most || streams[message.event] != nil else {
      throw BridgeFailure(
        code: message.action.errorCode, message: "too many answers of this page go on")
    }
    let first = await value(nil)
    if let first { tell(message, first) }
    relay(message.event, message, after: first, repeats: repeats, changes, value) { payload in
      BridgeReply(to: message, payload: payload)
    }
    return .goesOn
  }

  /// The same for an event that nobody asked for; the sequence itself gives the first value.
  private func follow<S: AsyncSequence & Sendable>(
    _ event: String, _ changes: S,
    _ value: @escaping @Sendable (S.Element) async -> JSONValue?
  ) where S.Failure == Never, S.Element: Sendable {
    relay(event, nil, after: nil, repeats: false, changes) { element in
      if let element { await value(element) } else { nil }
    } reply: { payload in
      BridgeReply(event: event, data: ["type": .text(event), "payload": payload])
    }
  }

  private func relay<S: AsyncSequence & Sendable>(
    _ event: String, _ message: BridgeMessage?, after first: JSONValue?, repeats: Bool,
    _ changes: S,
    _ value: @escaping @Sendable (S.Element?) async -> JSONValue?,
    reply make: @escaping @Sendable (JSONValue) -> BridgeReply
  ) where S.Failure == Never, S.Element: Sendable {
    let reply = reply
    keep(
      event, message,
      Task {
        var last = first
        for await element in changes {
          guard let new = await value(element), repeats || new != last, !Task.isCancelled
          else { continue }
          last = new
          reply(make(new))
        }
      })
  }

  private func keep(_ event: String, _ message: BridgeMessage?, _ task: Task<Void, Never>) {
    streams[event]?.task.cancel()
    lastStream += 1
    streams[event] = Stream(number: lastStream, message: message, task: task)
  }

  /// Ends what goes on for an action.
  func end(_ action: BridgeAction) {
    let ending = streams.filter { $0.value.message?.action == action }
    for (event, stream) in ending.sorted(by: { $0.value.number < $1.value.number }) {
      stream.task.cancel()
      streams[event] = nil
      if let message = stream.message { reply(BridgeReply(endOf: message)) }
    }
  }
}

extension BridgeAction {
  /// Whether the answer may take as long as a server likes.
  fileprivate var waitsForServer: Bool {
    switch self {
    case .getRequest, .postRequest, .signIn, .accessToken: true
    default: false
    }
  }
}
