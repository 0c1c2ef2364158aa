#if MQTT
  import Fieldpack
  import FieldpackCore
  import FieldpackField
  import FieldpackServices
  import FieldpackTestSupport
  import Foundation

  @testable import FieldpackMQTT

  /// The device `D1` with its network, whose backend is behind a broker.
  struct TestDevice {
    struct Network: Reachability {
      let broadcast = Broadcast<NetworkPath>(capacity: 8, present: .wan)
      var paths: AsyncStream<NetworkPath> { broadcast.subscribe().stream }
    }

    private struct Nobody: SignedIn {
      var user: String? { nil }
      func token() async throws(FieldpackError) -> String? { nil }
    }

    let data = DataService()
    let network = Network()
    let backend: BackendService

    init(in folder: TemporaryFolder, _ broker: TestBroker) async throws {
      let configs = ConfigService([try folder.write("{}", to: "own.scfg").path], data: data)
      try await configs.start()
      let remote = RemoteConfig(
        uri: "http://localhost",
        broker: .init(isEncrypted: false, host: "127.0.0.1", port: broker.port))
      let client = MQTTClient(
        MQTTConfiguration(backOff: BackOff(first: .milliseconds(5), limit: .milliseconds(20))))
      backend = try BackendService(
        remote, broker: client, signedIn: Nobody(), configs: configs, reachability: network,
        folder: folder.file("remote").path, device: "D1")
    }

    func untilReady() async { for await isReady in backend.isReady where isReady { return } }

    func stop() async {
      await backend.stop()
      await data.close()
    }
  }
#endif
