import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackHTTP

/// Sends the events of a file to all webhooks of a server.
final class WebhookService: Sendable {
  private let tasks = Locked<[Task<Void, Never>]>([])
  private let off = Locked<[String]>([])

  /// The receivers that get no more events until the next start of the server.
  var switchedOff: [String] { off.withLock { $0 } }

  /// - Parameter file: the path of the served file.
  /// - Throws: `.permission`, `.invalidArgument`, `.configuration` where the user has no folder for the
  ///   states, `.unsupported` for brokers where the server cannot connect to any.
  func start(
    _ options: FieldServer.Options, of file: String, hub: EventHub
  ) throws(FieldpackError) {
    guard !options.webhooks.isEmpty else { return }
    for webhook in options.webhooks {
      try webhook.check(allowsUnencrypted: options.allowsUnencryptedWebhooks)
    }
    let folder: String
    if let given = options.stateFolder {
      folder = given
    } else {
      folder = try StateFolder.path(for: "webhooks")
    }
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(30)
    configuration.maximumRedirects = 0
    let client = try HTTPClient(configuration)
    var deliveries: [WebhookDelivery] = []
    for webhook in options.webhooks {
      let sender: any EventSender
      let target = try BrokerTarget(webhook.url)
      if let target {
        guard let broker = options.broker else { throw Self.missing(target) }
        sender = BrokerEventSender(webhook, target, by: try broker())
      } else {
        sender = HTTPEventSender(webhook: webhook, client: client)
      }
      var delivery = WebhookDelivery(
        webhook, of: hub, keeping: WebhookState(webhook, of: file, in: folder), by: sender,
        logger: options.logger)
      // To try a connection costs a broker little, so the pauses between the tries stay short.
      if target != nil { delivery.backOff.limit = .seconds(10) }
      deliveries.append(delivery)
    }
    for delivery in deliveries {
      let task = Task { await self.run(delivery) }
      tasks.withLock { $0.append(task) }
    }
  }

  private static func missing(_ target: BrokerTarget) -> FieldpackError {
    FieldpackError(
      .unsupported,
      "the server has nothing that connects to the broker \(target.broker.host). Try: set the option "
        + "'broker' to a client of the library FieldpackMQTT")
  }

  private func run(_ delivery: WebhookDelivery) async {
    if await Self.deliver(delivery) == .switchedOff {
      off.withLock { $0.append(delivery.webhook.origin) }
    }
    await delivery.sender.close()
  }

  /// Delivers until the hub is closed or the webhook is switched off. A failure that may pass, such as a full
  /// disk, only makes a pause.
  private static func deliver(_ delivery: WebhookDelivery) async -> WebhookDelivery.End {
    var told: String?
    while !Task.isCancelled {
      do throws(FieldpackError) {
        if try await delivery.run() == .switchedOff { return .switchedOff }
        if await delivery.hub.isOver { return .closed }
      } catch {
        if error.code == .unavailable, await delivery.hub.isOver { return .closed }
        if error.message != told {
          delivery.logger.error(
            "the events of a webhook are sent later",
            ["url": .text(delivery.shownAddress), "reason": .text("\(error)")])
        }
        told = error.message
      }
      do throws(CancellationError) { try await delivery.clock.sleep(for: .seconds(5)) } catch {
        return .closed
      }
    }
    return .closed
  }

  /// To be called once the hub is closed.
  func close() async {
    let running = tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    for task in running { task.cancel() }
    for task in running { await task.value }
  }
}
