import FieldpackCore
import FieldpackField
import FieldpackHTTP

/// Sends the events of a file to all webhooks of a server.
final class WebhookService: Sendable {
  private let tasks = Locked<[Task<Void, Never>]>([])

  /// - Parameter folder: keeps the state of each webhook; `nil` for the folder of the user.
  /// - Throws: `.permission`, `.invalidArgument`, `.configuration` where the user has no such folder.
  func start(
    _ webhooks: [Webhook], of file: String, hub: EventHub, folder: String?,
    allowsUnencrypted: Bool, logger: Logger
  ) throws(FieldpackError) {
    guard !webhooks.isEmpty else { return }
    for webhook in webhooks { try webhook.check(allowsUnencrypted: allowsUnencrypted) }
    let place: String
    if let folder { place = folder } else { place = try StateFolder.path(for: "webhooks") }
    var configuration = HTTPConfiguration()
    configuration.timeout = .seconds(30)
    configuration.maximumRedirects = 0
    let client = try HTTPClient(configuration)
    for webhook in webhooks {
      let delivery = WebhookDelivery(
        webhook: webhook, hub: hub, state: WebhookState(webhook, of: file, in: place),
        client: client, logger: logger)
      let task = Task { await Self.run(delivery) }
      tasks.withLock { $0.append(task) }
    }
  }

  /// Delivers until the hub is closed. A failure that may pass, such as a full disk, only makes a pause.
  private static func run(_ delivery: WebhookDelivery) async {
    var told: String?
    while !Task.isCancelled {
      do throws(FieldpackError) {
        if try await delivery.run() == .switchedOff { return }
      } catch {
        if error.code == .unavailable { return }
        if error.message != told {
          delivery.logger.error(
            "the events of a webhook are sent later",
            [
              "url": .text(Job.target(ofAddress: delivery.webhook.url)),
              "reason": .text("\(error)"),
            ])
        }
        told = error.message
      }
      do throws(CancellationError) { try await delivery.clock.sleep(for: .seconds(5)) } catch {
        return
      }
    }
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
