import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs at full speed over a file, watched ahead of what is stored, that are killed at any moment: four
/// kills each, or a tenth of what `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct ReplayKillTests {
  private static let kills = max(
    4, (ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 0) / 10)
  /// After so many, a run is brought to its end, and the next one begins.
  private static let killsARun = 4

  /// Where the fixes are.
  enum Source: CaseIterable {
    case lines
    /// In the file that the run is kept in.
    case sameFile
  }

  /// Five devices that go along circles and over strips; some fixes are late.
  private static func fixes() -> [(coordinates: String, device: String, time: Instant)] {
    (0..<12_000).map { number in
      let step = Double(number / 3 * 3 % 6000) * 0.00004
      let time = number % 61 == 7 ? number - 40 : number
      return ("[\(13.4 + step),52.5]", "d\(number % 5)", .at(Double(time)))
    }
  }

  private static func collection(_ features: [String]) -> String {
    #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
  }

  private static func zones() -> String {
    collection(
      (0..<200).map { number in
        let x = 13.4 + Double(number / 2) * 0.0006
        let geometry =
          number % 2 == 0
          ? #"{"type":"Point","coordinates":[\#(x),52.5]}"#
          : #"{"type":"Polygon","coordinates":[[[\#(x),52],[\#(x + 0.00002),52],[\#(x),53],[\#(x),52]]]}"#
        return #"{"type":"Feature","id":\#(number),"properties":{},"geometry":\#(geometry)}"#
      })
  }

  private let folder: TemporaryFolder
  private let zones: String

  init() throws {
    folder = try TemporaryFolder()
    zones = try folder.write(Self.zones(), to: "zones.geojson").path
  }

  /// A source, and the file that a run over it begins with.
  private func source(_ kind: Source) async throws -> (path: String?, template: FieldFile) {
    let template = try FieldFile()
    switch kind {
    case .lines:
      let lines = Self.fixes().map { fix in
        #"{"type":"Feature","properties":{"device":"\#(fix.device)","time":"\#(fix.time)"},"#
          + #""geometry":{"type":"Point","coordinates":\#(fix.coordinates)}}"# + "\n"
      }
      return (try folder.write(lines.joined(), to: "fixes.jsonl").path, template)
    case .sameFile:
      let features = Self.fixes().enumerated().map { number, fix in
        #"{"type":"Feature","id":\#(number + 1),"properties":{"device":"\#(fix.device)","#
          + #""time":"\#(fix.time)"},"geometry":{"type":"Point","coordinates":\#(fix.coordinates)}}"#
      }
      let path = try folder.write(Self.collection(features), to: "waypoints.geojson").path
      let result = try await Tool.run("import", path, "--into", template.path)
      #expect(result.status == 0, "\(result)")
      return (nil, template)
    }
  }

  private func arguments(_ source: String?, _ package: FieldFile) -> [String] {
    let inputs = source.map { [$0, "--into", package.path] } ?? ["\(package.path):waypoints"]
    return ["monitor"] + inputs + [
      "--record", "run", "--regions", zones, "--radius", "30", "--detect",
      "enter,exit,cross,dwell,inside", "--hysteresis", "10", "--dwell", "5",
    ]
  }

  private static let rows = [
    "SELECT fid, seq, fix, kind, device, region, time, distance_m, hex(geom) FROM detection",
    "SELECT device, region, fix, since_ms, has_dwelt FROM monitor_stay ORDER BY 1, 2",
    "SELECT device, last_fix, longitude, latitude, time_ms, late_count, late_ms "
      + "FROM monitor_state ORDER BY device",
    "SELECT name, parameters, fixes, fixes_digest, state FROM monitor_run",
    "SELECT id FROM rtree_detection_geom ORDER BY id",
    "SELECT fix, device, message FROM track_log WHERE level = 'warning' ORDER BY id",
  ]

  @Test(arguments: Source.allCases)
  func `a replay that is killed goes on as if it had not been`(kind: Source) async throws {
    let (source, template) = try await source(kind)
    func makePackage() throws -> FieldFile {
      let package = try FieldFile()
      try Data(contentsOf: URL(fileURLWithPath: template.path)).write(
        to: URL(fileURLWithPath: package.path))
      return package
    }
    let whole = try makePackage()
    let begin = ContinuousClock.now
    let result = try await Tool.run(arguments(source, whole))
    #expect(result.status == 0, "\(result)")
    let duration = (ContinuousClock.now - begin) / .microseconds(1)
    let expected = try Self.rows.map { try whole.rows($0) }
    #expect(expected[0].count > 5000)
    var numbers = FilterGenerator.SplitMix(state: 7)
    var killedWithin = 0
    var kills = 0
    // On a machine that is busy a few kills may all come too late.
    while kills < Self.kills || killedWithin == 0 && kills < 10 * Self.kills {
      let package = try makePackage()
      for number in 0..<Self.killsARun {
        let before = try package.taken()
        let limit = number % 2 == 0 ? 50_000 : UInt32(duration / 2)
        let wait = UInt32.random(in: 0...limit, using: &numbers)
        await kill(
          try Tool.start(arguments(source, package)), of: package,
          after: number % 2 == 0 ? before : nil, wait)
        kills += 1
        let after = try package.taken()
        if after > before, after < 12_000 { killedWithin += 1 }
      }
      let last = try await Tool.run(arguments(source, package))
      #expect(last.status == 0, "\(last)")
      #expect(try Self.rows.map { try package.rows($0) } == expected)
      #expect(try package.findings() == [])
    }
    #expect(killedWithin > 0)
  }

  /// Kills a program some microseconds after its start, or after it has stored more than so many fixes.
  private func kill(
    _ program: Program, of package: FieldFile, after fixes: Int?, _ wait: UInt32
  ) async {
    await withCheckedContinuation { (killed: CheckedContinuation<Void, Never>) in
      // A task's sleep may last while other tests have all threads, and a thread of theirs is not ours.
      Thread.detachNewThread {
        for _ in 0..<10_000 {
          guard let fixes else { break }
          let taken = (try? package.taken()) ?? 0
          if taken > fixes || taken == 12_000 { break }
          usleep(3000)
        }
        usleep(wait)
        program.destroy()
        killed.resume()
      }
    }
  }
}
