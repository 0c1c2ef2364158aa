import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackTestSupport
import Testing

/// Fixes taken together, against the same fixes one at a time.
@Suite(.calculation) struct GeofenceBatchTests {
  private static let kinds: [Set<Detection.Kind>] = [
    [.enter, .exit], [.dwell, .inside, .cross], [.enter, .exit, .cross, .dwell, .inside],
  ]

  private func options(_ kinds: Set<Detection.Kind>) -> GeofenceMonitor.Options {
    var options = GeofenceMonitor.Options()
    options.kinds = kinds
    options.dwell = 20
    options.accuracyGate = 180
    return options
  }

  /// Devices that walk and jump, some of whose fixes are late, inaccurate, not on Earth or without a
  /// time.
  private func fixes(_ count: Int, around centre: Position, seed: UInt64) -> [Fix] {
    var random = FilterGenerator.SplitMix(state: seed)
    var positions = [Position](repeating: centre, count: 40)
    return (0..<count).map { number in
      let device = Int.random(in: 0..<positions.count, using: &random)
      let step = Bool.random(using: &random) ? 0.002 : 0.05
      var x = positions[device].x + .random(in: -step...step, using: &random)
      var y = positions[device].y + .random(in: -step...step, using: &random)
      if abs(x - centre.x) > 0.2 || abs(y - centre.y) > 0.2 { (x, y) = (centre.x, centre.y) }
      positions[device] = Position(x: x, y: y)
      if x > 180 { x -= 360 }
      let late = Int64.random(in: 0..<20, using: &random) == 0 ? Int64(500_000) : 0
      let odd = Int.random(in: 0..<30, using: &random)
      return Fix(
        longitude: odd == 0 ? 500 : x, latitude: y,
        time: odd == 1 ? nil : Instant(milliseconds: Int64(number) * 1000 - late),
        accuracy: .random(in: 0...200, using: &random), device: "device \(device)")
    }
  }

  private func regions(_ count: Int, around centre: Position, seed: UInt64) -> [WatchedRegion] {
    let box = Envelope(
      minX: centre.x - 0.1, minY: centre.y - 0.1, maxX: centre.x + 0.1, maxY: centre.y + 0.1)
    var random = RandomRegions(seed: seed, in: box, through: [])
    return random.regions(count)
  }

  private func expectSame(
    _ fixes: [Fix], _ options: GeofenceMonitor.Options, _ watched: [WatchedRegions],
    last: Int = 2100
  ) async throws {
    var together = try GeofenceMonitor(watched[0], options: options)
    var single = together
    var (seen, expected): ([Detection], [Detection]) = ([], [])
    // Of no fix, of one, of a piece, of more than one piece.
    var start = 0
    for (number, count) in [0, 1, 999, 1025, last].enumerated() {
      together.watch(watched[number % watched.count])
      single.watch(watched[number % watched.count])
      let some = Array(fixes[start..<min(fixes.count, start + count)])
      try await together.take(together: some, from: start, into: &seen)
      single.take(some, from: start, into: &expected)
      start += some.count
      #expect(together.state == single.state)
    }
    #expect(seen.count > 500)
    #expect(seen == expected)
  }

  @Test(arguments: kinds)
  func `fixes taken together are seen as one at a time`(kinds: Set<Detection.Kind>) async throws {
    let centre = Position(x: 13.4, y: 52.5)
    let watched = try WatchedRegions(regions(60, around: centre, seed: 4))
    try await expectSame(fixes(4000, around: centre, seed: 3), options(kinds), [watched])
  }

  @Test func `more fixes than are held at once are seen as one at a time`() async throws {
    let centre = Position(x: 13.4, y: 52.5)
    let watched = try WatchedRegions(regions(20, around: centre, seed: 4))
    try await expectSame(
      fixes(19_000, around: centre, seed: 3), options([.enter, .exit, .cross]), [watched],
      last: 16_700)
  }

  @Test func `regions may change between fixes taken together`() async throws {
    let centre = Position(x: 179.99, y: -17)
    let all = regions(60, around: centre, seed: 5)
    let watched = try [all, Array(all.dropFirst(30)), Array(all.prefix(20))].map {
      try WatchedRegions($0)
    }
    try await expectSame(
      fixes(4000, around: centre, seed: 6), options([.enter, .exit, .cross]), watched)
  }

  @Test func `hysteresis and accuracy decide alike`() async throws {
    let centre = Position(x: -70, y: 3)
    var options = options([.enter, .exit])
    options.hysteresis = 70
    options.usesAccuracy = true
    let watched = try WatchedRegions(regions(60, around: centre, seed: 8))
    try await expectSame(fixes(4000, around: centre, seed: 7), options, [watched])
  }

  @Test func `more distances than are measured at once are those of each`() async throws {
    let centre = Position(x: 13.4, y: 52.5)
    let watched = try WatchedRegions(regions(60, around: centre, seed: 4))
    var together = try GeofenceMonitor(watched, options: options([.outside]))
    var single = together
    let fixes = fixes(1450, around: centre, seed: 9)
    var seen: [Detection] = []
    try await together.take(together: fixes, into: &seen)
    #expect(seen.count > 65_536)
    #expect(seen == single.take(fixes))
  }

  @Test func `a cancelled task takes no fix`() async throws {
    let centre = Position(x: 13.4, y: 52.5)
    let watched = try WatchedRegions(regions(20, around: centre, seed: 4))
    let fixes = fixes(2000, around: centre, seed: 9)
    let options = options([.enter, .exit])
    let task = Task {
      var monitor = try GeofenceMonitor(watched, options: options)
      var seen = monitor.take(Array(fixes.prefix(500)))
      let (state, count) = (monitor.state, seen.count)
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: FieldpackError.self) {
        try await monitor.take(together: Array(fixes.dropFirst(500)), from: 500, into: &seen)
      }
      return monitor.state == state && seen.count == count
    }
    #expect(try await task.value)
  }
}
