import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// "Posted" means stored, wherever a link is killed. 20 kills, or as many as `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct SensorKillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 20

  @Test func `a link that is killed stores each capture once`() async throws {
    let file = try SensorFile()
    try await file.run { persons, _ in
      let person = try await persons.add()
      for type in [CaptureType.leftSlap, .rightSlap] {
        try await persons.add(.finger(type), to: person.key)
      }
    }
    var numbers = FilterGenerator.SplitMix(state: 23)
    var told: [String] = []
    for _ in 0..<Self.kills {
      let program = try Program(
        Tool.built("FieldpackTestSubject"), ["captures", file.file.path])
      let wanted = Int.random(in: 1...4, using: &numbers)
      try program.block(for: "captures") {
        program.outputSoFar.count { $0 == "\n" } >= wanted
      }
      usleep(UInt32.random(in: 0...20_000, using: &numbers))
      program.destroy()
      let lines = program.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false)
      told += lines.dropLast().map(String.init).filter { $0 != "ready" }
      // What is told is stored, and what is stored is whole.
      let stored = Set(
        try file.file.rows("SELECT capture_id FROM bio_capture WHERE state = 'stored'"))
      #expect(Set(told).subtracting(stored) == [])
    }
    #expect(!told.isEmpty && Set(told).count == told.count)
    let broken = try file.file.rows(
      "SELECT count(*) FROM bio_capture c LEFT JOIN media m ON m.id = c.media_id "
        + "WHERE c.media_id IS NOT NULL AND (m.id IS NULL "
        + "OR m.byte_count <> 500 * length(c.capture_id))")
    #expect(broken == ["0"])
    // Each file belongs to an item, by one capture.
    #expect(
      try file.file.rows(
        "SELECT (SELECT count(*) FROM media) = (SELECT count(media_id) FROM bio_capture), "
          + "(SELECT count(*) FROM media) = (SELECT count(*) FROM bio_item_media)") == ["1|1"])
    #expect(try file.file.findings() == [])
  }
}
