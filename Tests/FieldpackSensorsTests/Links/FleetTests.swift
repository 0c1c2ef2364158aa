import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// Many links to many sensors that fail by chance: nothing is lost without a word, nothing twice.
@Suite struct FleetTests {
  /// Ten captures of each of twenty sensors, or as many in all as `FIELDPACK_SENSOR_CAPTURES` says.
  private static let captures =
    ProcessInfo.processInfo.environment["FIELDPACK_SENSOR_CAPTURES"].flatMap { Int($0) } ?? 200
  private static let sensorCount = 20

  private static func faults() -> [SensorFault] {
    [
      SensorFault(nil, .lost, chance: 0.03), SensorFault(nil, .http(503), chance: 0.03),
      SensorFault(nil, .broken, chance: 0.02),
      SensorFault(.capture, .status(.sensorFailure), chance: 0.05),
      SensorFault(.capture, .status(.initializationNeeded), chance: 0.05),
      SensorFault(.lock, .status(.invalidId), chance: 0.05),
      SensorFault(.configure, .status(.sensorBusy), chance: 0.05),
      SensorFault(.thriftyDownload, .status(.preparingDownload), chance: 0.2),
      SensorFault(.download, .status(.invalidId), chance: 0.05),
      SensorFault(.unlock, .status(.failure), chance: 0.05),
    ]
  }

  @Test func everyCaptureEndsStoredOrLost() async throws {
    let time = TestClock(.movedBySleep())
    let areFaulty = Locked(true)
    let random = Locked(FilterGenerator.SplitMix(state: 7))
    let simulators = (0..<Self.sensorCount).map { number in
      var options = SensorSimulator.Options()
      options.faults = Self.faults()
      options.capacity = 1 << 20
      options.maximumSessions = 1 << 20
      options.preventionPeriod = .zero
      options.inactivityTimeout = nil
      options.capturesAtOnce = 1 + number % 3
      options.picture.make = { number, side in Array("picture \(number) of \(side)".utf8) }
      options.random = {
        areFaulty.withLock { $0 } ? random.withLock { Double.random(in: 0..<1, using: &$0) } : 1
      }
      return SensorSimulator(options, clock: time.clock)
    }
    let journal = MemoryJournal()
    let opening: SensorLinks.Opening = { address in simulators[Int(address.name) ?? 0] }
    let links = SensorLinks(journal: journal, clock: time.clock, opening: opening)
    let each = Self.captures / Self.sensorCount
    let told = links.events.subscribe()
    let posted = Task {
      var posted: [String: Int] = [:]
      for await event in told.stream where event.name == .downloadPosted {
        posted[event.captureId ?? "", default: 0] += 1
      }
      return posted
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.sensorCount {
        group.addTask {
          let target = SensorTarget(
            SensorAddress(uri: "http://127.0.0.1/\(number)", name: "\(number)"),
            LinkedSensor.configuration,
            item: KeyTuple(store: "s", layer: "bio_item", feature: .integer(Int64(number))))
          for _ in 0..<each { try await links.capture(target) }
        }
      }
      try await group.waitForAll()
    }
    let made = simulators.flatMap(\.captureIds).count
    let known = await journal.known
    #expect(known.count <= made)
    #expect(known.count > Self.captures / 2)
    // Nobody closes the links: it is as if the program had been killed.
    areFaulty.withLock { $0 = false }
    let later = SensorLinks(journal: journal, clock: time.clock, opening: opening)
    let toldLater = later.events.subscribe()
    try await later.finishEarlierWork()
    let (stored, lost) = (await journal.stored, await journal.lost)
    #expect(await journal.pending.isEmpty)
    #expect(Set(stored.keys).union(lost.keys) == known)
    #expect(Set(stored.keys).isDisjoint(with: lost.keys))
    #expect(stored.values.allSatisfy { String(decoding: $0, as: UTF8.self).hasPrefix("picture ") })
    #expect(await journal.sessions.isEmpty)
    links.events.finish()
    later.events.finish()
    var counts = await posted.value
    for await event in toldLater.stream where event.name == .downloadPosted {
      counts[event.captureId ?? "", default: 0] += 1
    }
    #expect(counts == stored.mapValues { _ in 1 })
    // Of no sensor that our journal knew of the lock is still held.
    #expect(simulators.filter(\.isLocked).isEmpty)
  }
}
