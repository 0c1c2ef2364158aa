import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackTestSupport
import Foundation
import Testing

@Suite(.calculation) struct RegionOracleTests {
  private static let all = Set<Detection.Kind>([.enter, .exit, .cross, .dwell, .inside, .outside])

  private func options(
    _ kinds: Set<Detection.Kind>, _ change: (inout GeofenceMonitor.Options) -> Void = { _ in }
  ) -> GeofenceMonitor.Options {
    var options = GeofenceMonitor.Options()
    options.kinds = kinds
    if kinds.contains(.dwell) { options.dwell = 30 }
    change(&options)
    return options
  }

  /// Compares event by event, distances to a millimetre.
  private func compare(
    _ fixes: [Fix], _ regions: [WatchedRegion], _ options: GeofenceMonitor.Options,
    checkingDistances: Bool = true
  ) throws -> Int {
    var monitor = try GeofenceMonitor(try WatchedRegions(regions.shuffled()), options: options)
    let oracle = try RegionOracle(regions, options)
    var count = 0
    for (number, fix) in fixes.enumerated() {
      var seen: [Detection] = []
      monitor.take(fix, number: number, into: &seen)
      let expected = try oracle.take(fix, number)
      count += seen.count
      func bare(_ detection: Detection) -> Detection {
        var copy = detection
        copy.distance = nil
        return copy
      }
      for odd in Set(seen.map(bare)).symmetricDifference(expected.map(bare)) {
        let region = regions.first { $0.id == odd.region }
        Issue.record("only one saw \(odd) at \(fix) in \(region.map { "\($0)" } ?? "none")")
      }
      #expect(seen.map(\.sortKey) == expected.map(\.sortKey))
      guard seen.count == expected.count else { return count }
      for (a, b) in zip(seen, expected) where checkingDistances {
        let isNear = abs((a.distance ?? .nan) - (b.distance ?? .nan)) <= 1e-3
        #expect(isNear, "\(a) is not as far as \(b)")
      }
    }
    return count
  }

  private func walk(
    _ count: Int, from start: Position, step: Double, seed: UInt64, devices: Int = 1
  ) -> [Fix] {
    var random = FilterGenerator.SplitMix(state: seed)
    var positions = [Position](repeating: start, count: devices)
    return (0..<count).map { number in
      let device = number % devices
      var (x, y) = (positions[device].x, positions[device].y)
      x += .random(in: -step...step, using: &random)
      y = max(-90, min(90, y + .random(in: -step...step, using: &random)))
      if x > 180 { x -= 360 } else if x < -180 { x += 360 }
      positions[device] = Position(x: x, y: y)
      return Fix(
        longitude: x, latitude: y, time: Instant(milliseconds: Int64(number) * 5000),
        accuracy: .random(in: 0...200, using: &random), device: "device \(device)")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `random regions are seen as GEOS sees them`(seed: UInt64) throws {
    let fixes = walk(80, from: Position(x: 13.4, y: 52.5), step: 0.004, seed: seed, devices: 3)
    let box = Envelope(minX: 13.37, minY: 52.48, maxX: 13.43, maxY: 52.52)
    var random = RandomRegions(seed: seed &+ 100, in: box, through: fixes)
    let regions = random.regions(40)
    let count = try compare(fixes, regions, options(Self.all))
    #expect(count > 3000)
    _ = try compare(fixes, regions, options([.enter, .exit, .cross]))
    _ = try compare(fixes, regions, options([.enter, .exit, .dwell]) { $0.hysteresis = 60 })
    _ = try compare(fixes, regions, options([.enter, .exit, .cross]) { $0.usesAccuracy = true })
  }

  @Test(arguments: [
    (Position(x: 180, y: 10), 0.02), (Position(x: -179.99, y: -66), 0.05),
    (Position(x: 20, y: 89.98), 0.01), (Position(x: -100, y: -89.99), 0.02),
    (Position(x: 179.9, y: 89), 1.0),
  ])
  func `regions near the antimeridian and the poles are seen as GEOS sees them`(
    start: Position, step: Double
  ) throws {
    let fixes = walk(100, from: start, step: step, seed: 9, devices: 2)
    let reach = 6 * step
    for (seed, east) in [(1, 0.0), (2, 360), (3, -360)] as [(UInt64, Double)] {
      let box = Envelope(
        minX: start.x + east - reach, minY: max(-90, start.y - reach),
        maxX: start.x + east + reach, maxY: min(90, start.y + reach))
      guard box.minX > -535, box.maxX < 535 else { continue }
      var random = RandomRegions(seed: seed, in: box, through: fixes.filter { _ in east == 0 })
      // Slivers between fixes on both sides of the antimeridian reach around the Earth.
      _ = try compare(
        fixes, random.regions(25), options([.enter, .exit, .cross, .inside]),
        checkingDistances: abs(start.y) < 80)
    }
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    arguments: SharedData.files(in: "real/gpx", extensions: ["gpx"]))
  func `regions along a real track are seen as GEOS sees them`(file: URL) throws {
    let fixes = Array(try Self.fixes(in: file).prefix(Self.limit))
    guard var box = fixes.first.map({ Envelope(point: $0.position) }) else { return }
    for fix in fixes { box.extend(x: fix.longitude, y: fix.latitude) }
    var random = RandomRegions(seed: UInt64(fixes.count), in: box, through: fixes)
    let regions = random.regions(20)
    _ = try compare(
      fixes, regions, options([.enter, .exit, .cross, .inside]),
      checkingDistances: max(box.width, box.height) < 1)
  }

  /// `FIELDPACK_ORACLE=all` takes every fix of each file, 43,000 together.
  private static let limit =
    ProcessInfo.processInfo.environment["FIELDPACK_ORACLE"] == "all" ? Int.max : 150

  /// The points of tracks and routes and the waypoints, in the order of the file.
  private static func fixes(in file: URL) throws -> [Fix] {
    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    return text.matches(of: #/<(?:trkpt|rtept|wpt)\s([^>]*)>/#).compactMap { match in
      let attributes = match.1
      guard let latitude = attributes.firstMatch(of: #/lat\s*=\s*["']([^"']*)["']/#),
        let longitude = attributes.firstMatch(of: #/lon\s*=\s*["']([^"']*)["']/#),
        let y = Double(latitude.1), let x = Double(longitude.1)
      else { return nil }
      let fix = Fix(longitude: x, latitude: y)
      return fix.isOnEarth ? fix : nil
    }
  }
}

extension Detection {
  fileprivate var sortKey: String { "\(region.map { "\($0)" } ?? "-") \(kind)" }
}

extension Envelope {
  init(point: Position) {
    self.init(minX: point.x, minY: point.y, maxX: point.x, maxY: point.y)
  }
}
