import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMQTT
import FieldpackServices
import FoundationEssentials

/// `deliver DEVICE.gpkg PORT`: a device that edits a layer of wells all the time, and sends the edits to
/// the backend behind the broker at that port of 127.0.0.1. It needs the trait `MQTT`.
///
/// It goes on until it is killed. It ends by itself only where edits are not sent any more.
struct EditingDevice {
  /// All pauses and limits are a hundredth of what they are elsewhere.
  private static let clock = FieldClock(
    wall: { .seconds(FieldClock.system.unixSeconds) }, uptime: { FieldClock.system.uptime * 100 },
    sleep: { try await FieldClock.system.sleep(until: $0 / 100) })
  /// With so many edits that are not sent, no further ones are made.
  private static let mostPending = 40

  private let store: GeoPackageStore
  private let backend: BackendService
  private let deliveries: EditDeliveries

  init(_ store: GeoPackageStore, atPort port: Int) async throws {
    self.store = store
    let configs = ConfigService(data: DataService())
    try await configs.start()
    backend = try BackendService(
      RemoteConfig(
        uri: "http://127.0.0.1",
        broker: .init(isEncrypted: false, host: "127.0.0.1", port: port)),
      broker: MQTTClient(MQTTConfiguration(clock: Self.clock)), signedIn: Nobody(),
      configs: configs, reachability: Everywhere(),
      folder: store.path + ".backend", device: "D1",
      replyLimit: .seconds(5), clock: Self.clock)
    deliveries = EditDeliveries(by: backend.transport, to: "the backend", clock: Self.clock)
    await deliveries.add(store)
  }

  func run() async throws {
    let (store, backend, deliveries) = (store, backend, deliveries)
    try await backend.start()
    try await withThrowingTaskGroup { group in
      group.addTask { await deliveries.follow(backend.isReady) }
      group.addTask {
        for await batch in deliveries.events(from: 0) {
          guard case .events(let events) = batch else { continue }
          for event in events { _ = try event.outcome.get() }
        }
      }
      group.addTask {
        while true {
          try await store.write(Self.edit)
          try await Task.sleep(for: .milliseconds(.random(in: 0..<20)))
        }
      }
      try await group.next()
      group.cancelAll()
    }
  }

  /// Makes a few edits in one transaction.
  private static func edit(_ writer: GeoPackageWriter) throws(FieldpackError) {
    let pending = try writer.rows(
      "SELECT 1 FROM wells_audit WHERE sent IS NULL LIMIT \(mostPending)")
    guard pending.count < mostPending else { return }
    var ids = try writer.features(Query("wells").select([])).compactMap(\.id)
    for _ in 0..<Int.random(in: 1...3) {
      let choice = Int.random(in: 0..<5)
      let state = Value.integer(.random(in: 0..<1_000_000))
      guard let id = ids.randomElement(), choice > 1 || ids.count > 30 else {
        let place = Geometry.point(x: .random(in: -180...180), y: .random(in: -90...90))
        let feature = Feature(geometry: place, attributes: ["name": "well", "state": state])
        ids.append(try writer.create(feature, in: "wells"))
        continue
      }
      if choice == 2 {
        try writer.delete(id, in: "wells")
        ids.removeAll { $0 == id }
      } else {
        try writer.update(id, in: "wells", set: ["state": state])
      }
    }
  }

  private struct Nobody: SignedIn {
    var user: String? { nil }
    func token() async throws(FieldpackError) -> String? { nil }
  }

  private struct Everywhere: Reachability {
    var paths: AsyncStream<NetworkPath> { AsyncStream { $0.yield(.wan) } }
  }
}
