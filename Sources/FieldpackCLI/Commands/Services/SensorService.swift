import FieldpackCore
import FieldpackServices

/// Tells stores whether other machines can be reached, and apps where the device is, as long as it runs.
actor SensorService: Service {
  nonisolated let id = ServiceID.sensor
  private let data: DataService
  private let location: LocationService?
  private var reachability: (any Reachability)?
  private var following: Task<Void, Never>?

  init(_ data: DataService, _ location: LocationService?) {
    (self.data, self.location) = (data, location)
  }

  func start() async throws(FieldpackError) {
    await location?.start()
    #if os(Linux)
      // Where the system does not tell, all servers are taken to be reachable.
      guard let reachability = try? LinuxReachability() else { return }
      self.reachability = reachability
      following = Task { [data] in await data.follow(reachability.isConnected) }
    #endif
  }

  func pause() async {}

  func resume() async {}

  func stop() async {
    await location?.stop()
    following?.cancel()
    (following, reachability) = (nil, nil)
  }
}
