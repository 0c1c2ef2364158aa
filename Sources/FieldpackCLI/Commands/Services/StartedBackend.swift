import Fieldpack
import FieldpackCore
import FieldpackMQTT
import FieldpackServices

/// The service of a config's backend, as the tool starts it.
struct StartedBackend {
  let service: BackendService
  /// The broker for people.
  let words: String
  /// All that happens, from the first on.
  private let batches: EventBatches<BackendEvent>

  /// - Returns: `nil` where the backend has no broker.
  init?(
    _ remote: RemoteConfig, signedIn: any SignedIn, configs: ConfigService, allowsUnencrypted: Bool
  ) throws(FieldpackError) {
    guard let broker = remote.broker else { return nil }
    words = "broker \(broker.host):\(broker.port)"
    // Its uris reach what lies beside a config, so each backend has a folder of its own.
    let name = SHA256.hex(Array("\(remote.uri) \(broker.host):\(broker.port)".utf8)).prefix(32)
    let state = try StateFolder.path(for: "the config of a backend")
    service = try BackendService(
      remote, broker: MQTTClient(MQTTConfiguration(allowsUnencrypted: allowsUnencrypted)),
      signedIn: signedIn, configs: configs, reachability: Self.reachability,
      folder: "\(state)/backends/\(name)",
      device: try MachineIdentity.stored(.device).uuid)
    batches = service.events(from: 0)
  }

  /// Where the system does not tell, all machines are taken to be reachable.
  private static var reachability: any Reachability {
    #if os(Linux)
      if let reachability = try? LinuxReachability() { return reachability }
    #endif
    return Everywhere()
  }

  private struct Everywhere: Reachability {
    var paths: AsyncStream<NetworkPath> { AsyncStream { $0.yield(.wan) } }
  }

  /// Tells what happens, but the same failure to connect once.
  func tell(_ line: (ServiceLine) -> Void) async {
    var failure: String?
    for await batch in batches {
      guard case .events(let events) = batch else { continue }
      for event in events {
        if case .disconnected(let error) = event {
          if error.message == failure { continue }
          failure = error.message
        } else {
          failure = nil
        }
        line(ServiceLine(event))
      }
    }
  }
}
