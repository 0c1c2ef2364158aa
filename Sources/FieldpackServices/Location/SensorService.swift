public import FieldpackCore

/// The service of what a device senses: where it is, and whether it reaches others.
///
///     let sensors = SensorService(location: location, reachability: try LinuxReachability())
///     let graph = try ServiceGraph([sensors, data, configs])
///     await graph.startAll()
///     await data.follow(sensors.reachability.isConnected)
///
/// It starts without a network and without positions, so that the services that need it start anywhere.
public struct SensorService: Service {
  public let location: LocationService
  public let reachability: any Reachability

  public init(location: LocationService, reachability: any Reachability) {
    self.location = location
    self.reachability = reachability
  }

  public var id: ServiceID { .sensor }

  public func start() async throws(FieldpackError) { await location.start() }

  public func pause() async { await location.stop() }

  public func resume() async { await location.start() }

  public func stop() async { await location.stop() }
}
