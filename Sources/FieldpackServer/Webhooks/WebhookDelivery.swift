import FieldpackCore
import FieldpackField

/// Sends all events to one webhook, one after the other, each until the receiver has taken it.
///
/// After a kill of the server, the last event may be sent again, with the same id.
struct WebhookDelivery: Sendable {
  let webhook: Webhook
  let hub: EventHub
  let state: WebhookState
  let sender: any EventSender
  var clock = FieldClock.system
  var backOff = BackOff(first: .seconds(1), limit: .seconds(300), jitter: 0.3)
  let logger: Logger
  /// The state as it is now, which the file may not have where the disk is full; `nil` before the first run.
  private let known = Locked<WebhookState.Kept?>(nil)

  /// How long a receiver may fail before its webhook is switched off, in milliseconds. The next start of the
  /// server switches the webhook on again.
  static let patience: Int64 = 86_400_000

  /// Why the delivery ended.
  enum End: Hashable, Sendable {
    case closed
    /// The receiver failed for a day, or wants no more events.
    case switchedOff
  }

  init(
    _ webhook: Webhook, of hub: EventHub, keeping state: WebhookState, by sender: any EventSender,
    logger: Logger
  ) {
    (self.webhook, self.hub, self.state, self.sender) = (webhook, hub, state, sender)
    self.logger = logger
  }

  /// Goes on until the hub is closed, the task is cancelled or the receiver has failed for a day. Another run
  /// goes on where the last one stopped.
  func run() async throws(FieldpackError) -> End {
    let query = try webhook.query()
    let (channel, follower) = try await hub.follow(query)
    defer { channel.leave(follower) }
    var kept = try begin(at: channel.position.place)
    var runs: [Int64: Int64] = [:]
    while !Task.isCancelled {
      let missed = try await hub.missed(after: kept.place, in: channel)
      for event in missed.events {
        guard let place = event.place else { continue }
        guard try await tell(event, &kept) else { return ending }
        kept = WebhookState.Kept(place: place)
        try keep(kept)
      }
      if kept.place != missed.place {
        kept.place = missed.place
        try keep(kept)
      }
      if query.kinds.contains(.position) {
        let devices = try await hub.positions(since: runs, in: channel)
        for event in devices.positions {
          guard try await tell(event, &kept) else { return ending }
        }
        // A position that was taken ends the failures, although it changes no place.
        if kept != known.withLock({ $0 }) { try keep(kept) }
        runs = devices.runs
      }
      if let next = missed.next, await !wait(for: next, of: channel, follower) { return .closed }
    }
    return .closed
  }

  /// The address of the receiver for the log, without its query, which may hold a key.
  var shownAddress: String { Job.target(ofAddress: webhook.url) }

  private var ending: End { Task.isCancelled ? .closed : .switchedOff }

  /// The state to begin with: that of the last run, else that of the last start of the server, else the
  /// present. The failures of the last start count on, unless they have switched the webhook off.
  private func begin(at place: EventPlace) throws(FieldpackError) -> WebhookState.Kept {
    if let kept = known.withLock({ $0 }) { return kept }
    var kept = state.read() ?? WebhookState.Kept(place: place)
    if isOver(kept) { kept.failingSince = nil }
    try keep(kept)
    return kept
  }

  private func keep(_ kept: WebhookState.Kept) throws(FieldpackError) {
    known.withLock { $0 = kept }
    try state.write(kept)
  }

  private func isOver(_ kept: WebhookState.Kept) -> Bool {
    guard let since = kept.failingSince else { return false }
    return clock.now.milliseconds - since.milliseconds >= Self.patience
  }

  /// Waits until the channel has a chunk of that number; false at its end.
  private func wait(for number: Int, of channel: EventChannel, _ follower: Int) async -> Bool {
    await withCheckedContinuation { continuation in
      let taken = channel.take(number, for: follower) { { continuation.resume(returning: true) } }
      switch taken {
      case .nothing: break
      case .end: continuation.resume(returning: false)
      case .chunk, .lost: continuation.resume(returning: true)
      }
    }
  }

  // MARK: One event

  /// Tries until the receiver has taken the event, or until the event is left out because no other try
  /// helps.
  ///
  /// - Returns: false where the delivery ends before that.
  private func tell(
    _ event: LiveEvent, _ kept: inout WebhookState.Kept
  ) async throws(FieldpackError) -> Bool {
    var failures = 0
    while !Task.isCancelled {
      guard let refusal = await sender.send(event) else {
        kept.failingSince = nil
        return true
      }
      if Task.isCancelled { return false }
      if refusal.isOfEvent {
        logger.error(
          "an event was left out",
          [
            "url": .text(shownAddress), "id": .text(event.id), "reason": .text(refusal.reason),
          ])
        kept.failingSince = nil
        return true
      }
      if kept.failingSince == nil {
        kept.failingSince = clock.now
        try keep(kept)
      }
      if refusal.isFinal || isOver(kept) {
        logger.error(
          "a webhook is switched off until the next start",
          ["url": .text(shownAddress), "reason": .text(refusal.reason)])
        return false
      }
      failures += 1
      if failures == 1 {
        logger.warning(
          "a webhook did not take an event, which is sent again",
          ["url": .text(shownAddress), "reason": .text(refusal.reason)])
      }
      let pause = backOff.pause(after: failures, asked: refusal.asked)
      do throws(CancellationError) { try await clock.sleep(for: pause) } catch { return false }
    }
    return false
  }
}
