import FieldpackCheck
import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackLocation
import FieldpackServices
import FieldpackTestSupport
import Foundation
import Testing

struct LocationServiceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A track of a fix a second, 11 m apart.
  private static let track = (0..<100).map { number in
    Fix(
      longitude: 13.4, latitude: 52.5 + Double(number) / 10_000, elevation: Double(number),
      time: Instant(milliseconds: 1_000_000 + Int64(number) * 1000), accuracy: 4.5)
  }

  /// The service over a track that is there already.
  private func service(
    _ settings: LocationService.Settings = .init(), of fixes: [Fix] = track
  ) async throws -> LocationService {
    try await LocationService.open(
      folder: folder.url.path, settings: settings, clock: TestClock().clock
    ) { _ in ScriptedSource([fixes.map { .fix($0) }], isComplete: true) }
  }

  /// Waits until positions are no longer followed.
  private func finish(_ service: LocationService) async {
    var wasTracking = false
    for await isTracking in service.isTracking {
      if wasTracking, !isTracking { return }
      wasTracking = wasTracking || isTracking
      if await !service.isReading { return }
    }
  }

  private func count(_ service: LocationService) async throws -> Int {
    try await service.store.readOnly.count(Query(LocationStore.layer))
  }

  @Test(arguments: [
    (nil, 0.0, 100), (Duration.seconds(5), 0, 20), (.seconds(1), 0, 100), (nil, 20, 50),
  ])
  func `each last known position of a track is a row`(
    interval: Duration?, distance: Double, rows: Int
  ) async throws {
    let service = try await service(.init(distance: distance, interval: interval))
    try await service.enable()
    await service.start()
    await finish(service)
    #expect(try await count(service) == rows)
    #expect(await service.failure?.message == nil)
    await service.close()
    let path = folder.file("LOCATION_STORE.gpkg").path
    #expect(try GeoPackageChecker(path: path, store: "x").run().findings.map { "\($0)" } == [])
  }

  @Test func `a row has the place, the height, the time and the accuracy`() async throws {
    let service = try await service(of: [
      Self.track[7], Fix(longitude: 1, latitude: 2), Fix(longitude: 200, latitude: 2),
    ])
    try await service.enable()
    await service.start()
    await finish(service)
    let store = service.store.readOnly
    #expect(store.id == "LOCATION_STORE")
    let first = try await store.feature(.integer(1), in: "last_known_location")
    #expect(first?.geometry == .point(Position(x: 13.4, y: 52.5007, z: 7), .xyz))
    #expect(first?.attributes == ["accuracy": "4.5", "timestamp": 1_007_000])
    let second = try await store.feature(.integer(2), in: "last_known_location")
    #expect(second?.geometry == .point(x: 1, y: 2))
    // The clock's time, where the source tells none.
    #expect(second?.attributes == ["accuracy": nil, "timestamp": 1_000_000])
    #expect(try await count(service) == 2)
    #expect((store as any Store as? any WritableStore) == nil)
    await service.close()
  }

  @Test func `the newest fix of a receiver is taken whenever the interval has passed`() async throws
  {
    let clock = TestClock()
    let (fixes, receiver) = AsyncStream.makeStream(of: Fix.self)
    let service = try await LocationService.open(folder: folder.url.path, clock: clock.clock) { _ in
      Receiver(fixes: fixes)
    }
    try await service.enable()
    await service.start()
    var known = service.lastKnown.makeAsyncIterator()
    receiver.yield(Self.track[0])
    #expect(await known.next(isolation: nil) == Self.track[0])
    for fix in Self.track[1...3] { receiver.yield(fix) }
    while await service.newestTime != Self.track[3].time { await Task.yield() }
    while clock.sleeps.count < 1 { await Task.yield() }
    clock.advance(by: .seconds(5))
    #expect(await known.next(isolation: nil) == Self.track[3])
    receiver.yield(Self.track[4])
    receiver.finish()
    #expect(await known.next(isolation: nil) == Self.track[4])
    #expect(try await count(service) == 3)
    var late = service.lastKnown.makeAsyncIterator()
    #expect(await late.next(isolation: nil) == Self.track[4])
    await service.close()
    #expect(await known.next(isolation: nil) == nil)
  }

  @Test func `nothing is followed until it is enabled, and the choice is kept`() async throws {
    let first = try await service()
    await first.start()
    #expect(await !first.isReading)
    #expect(await !first.isEnabled)
    try await first.enable()
    await finish(first)
    #expect(try await count(first) == 20)
    await first.close()
    let second = try await service()
    #expect(await second.isEnabled)
    try await second.disable()
    await second.start()
    #expect(await !second.isReading)
    await second.close()
    let third = try await service()
    #expect(await !third.isEnabled)
    await third.close()
  }

  @Test func `whether positions are followed is told`() async throws {
    let service = try await LocationService.open(folder: folder.url.path, clock: TestClock().clock)
    {
      _ in
      SilentSource(first: [Self.track[0]])
    }
    var tracking = service.isTracking.makeAsyncIterator()
    #expect(await tracking.next(isolation: nil) == false)
    try await service.enable()
    await service.start()
    #expect(await tracking.next(isolation: nil) == true)
    await service.stop()
    #expect(await tracking.next(isolation: nil) == false)
    await service.start()
    #expect(await tracking.next(isolation: nil) == true)
    try await service.disable()
    #expect(await tracking.next(isolation: nil) == false)
    await service.close()
    #expect(await tracking.next(isolation: nil) == nil)
  }

  @Test func `a source is asked for the accuracy, and its failure is told`() async throws {
    let asked = Locked<[LocationAccuracy]>([])
    let service = try await LocationService.open(
      folder: folder.url.path, settings: .init(accuracy: .low), clock: TestClock().clock
    ) { accuracy in
      asked.withLock { $0.append(accuracy) }
      return ScriptedSource([], authorization: .denied)
    }
    try await service.enable()
    await service.start()
    await finish(service)
    #expect(asked.withLock { $0 } == [.low])
    #expect(await service.failure?.locationFailure == .permissionDenied)
    #expect(LocationAccuracy.allCases.map(\.rawValue) == [0, 1, 3])
    await service.close()
  }

  @Test func `the sensor service follows positions while it runs`() async throws {
    let location = try await LocationService.open(folder: folder.url.path, clock: TestClock().clock)
    {
      _ in SilentSource(first: [Self.track[0]])
    }
    let sensors = SensorService(location: location, reachability: NoNetwork())
    let graph = try ServiceGraph([sensors])
    try await location.enable()
    #expect(await !location.isReading)
    await graph.startAll()
    #expect(await graph.status(.sensor) == .running)
    #expect(await location.isReading)
    await sensors.pause()
    #expect(await !location.isReading)
    await sensors.resume()
    #expect(await location.isReading)
    await graph.stopAll()
    #expect(await !location.isReading)
    await location.close()
  }

  @Test func `other settings stay where the choice is kept`() async throws {
    _ = try folder.write("{\"other\": [1, 2]}", to: "settings.json")
    let service = try await service()
    try await service.enable()
    await service.close()
    #expect(
      try String(contentsOf: folder.file("settings.json"), encoding: .utf8)
        == "{\"other\":[1,2],\"service.sensor.gps.enabled\":true}\n")
  }
}

/// Gives what is put into a stream.
private struct Receiver: LocationSource {
  let fixes: AsyncStream<Fix>

  func updates() -> LocationUpdates {
    let fixes = fixes
    return LocationUpdates {
      let iterator = Iterator(fixes)
      return { () async throws(FieldpackError) in await iterator.next().map { [.fix($0)] } }
    }
  }

  private actor Iterator {
    private let fixes: AsyncStream<Fix>.Iterator

    init(_ fixes: AsyncStream<Fix>) { self.fixes = fixes.makeAsyncIterator() }

    func next() async -> Fix? {
      var fixes = fixes
      return await fixes.next(isolation: self)
    }
  }
}

private struct NoNetwork: Reachability {
  var paths: AsyncStream<NetworkPath> {
    AsyncStream { continuation in
      continuation.yield(.none)
      continuation.finish()
    }
  }
}
