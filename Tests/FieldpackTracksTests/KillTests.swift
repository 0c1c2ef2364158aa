import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs that are killed at any step go on as if they had not been: 20 kills, or as many as
/// `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct KillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 20

  /// What is recorded and which rows have to be the same in the end.
  enum Subject: String, CaseIterable {
    case points, region, detections, zones, photos

    func arguments(_ zones: String, _ album: String) -> [String] {
      switch self {
      case .points: ["track", "record", "--name", "run", "--sampling", "all"]
      case .region: ["track", "record", "--name", "run", "--sampling", "region:20"]
      case .detections: ["monitor", "--record", "run", "--radius", "20"]
      case .zones:
        [
          "monitor", "--record", "run", "--regions", zones, "--detect",
          "enter,exit,cross,dwell,inside", "--hysteresis", "10", "--dwell", "5",
        ]
      case .photos: Self.points.arguments(zones, album) + ["--photos", album + ":photos"]
      }
    }

    var rows: [String] {
      let rows = isMonitor ? detectionRows + runRows : trackRows + runRows
      return self == .photos ? rows + pictureRows : rows
    }

    private var isMonitor: Bool { self == .detections || self == .zones }

    /// The rows that output tells of.
    var acknowledged: String {
      isMonitor
        ? "SELECT fix FROM detection" : "SELECT fid || ' ' || fix FROM track_point"
    }

    private var detectionRows: [String] {
      [
        "SELECT fid, seq, fix, kind, device, region, time, distance_m, hex(geom) FROM detection",
        "SELECT device, region, fix, since_ms, has_dwelt FROM monitor_stay ORDER BY 1, 2",
      ]
    }

    private var trackRows: [String] {
      [
        "SELECT fid, track_fid, seq, fix, time, id_md5, hex(geom) FROM track_point ORDER BY fid",
        "SELECT fid, ordinal, name, length_m, hex(geom) FROM track ORDER BY fid",
      ]
    }

    /// In which order pictures of two devices are looked for is left to chance: what belongs together
    /// has to be there, not under the same ids.
    private var pictureRows: [String] {
      [
        "SELECT p.fix, p.photo_state, f.photo_id, m.distance_m, hex(d.data) FROM track_point p "
          + "LEFT JOIN track_point_photo m ON m.base_id = p.fid AND m.chosen "
          + "LEFT JOIN photo f ON f.fid = m.related_id "
          + "LEFT JOIN photo_media x ON x.base_id = f.fid LEFT JOIN media d ON d.id = x.related_id "
          + "ORDER BY p.fid",
        "SELECT count(*) FROM media WHERE id NOT IN (SELECT related_id FROM photo_media)",
        "SELECT count(*) FROM photo_job",
      ]
    }

    private var runRows: [String] {
      [
        "SELECT name, parameters, fixes FROM monitor_run",
        "SELECT device, last_fix, longitude, latitude, time_ms, late_count, late_ms, anchor_fix, "
          + "anchor_longitude, anchor_latitude, anchor_beyond_ms FROM monitor_state",
      ]
    }
  }

  /// Some metres and a second apart; devices take turns, and each stands still at times.
  private static func line(_ number: Int) -> String {
    let step = Double(number / 3 * 3) * 0.00004
    return #"{"longitude": \#(13.4 + step), "latitude": 52.5, "device": "d\#(number % 2)", "#
      + #""time": "\#(Instant.at(Double(number)))"}"# + "\n"
  }

  /// Circles that are entered, dwelt in and left, and strips that are crossed.
  private static func zones() -> String {
    let features = (0..<200).map { number in
      let x = 13.4 + Double(number / 2) * 0.0006
      let geometry =
        number % 2 == 0
        ? #"{"type":"Point","coordinates":[\#(x),52.5]}"#
        : #"{"type":"Polygon","coordinates":[[[\#(x + 0.00005),52],[\#(x + 0.00007),52],"#
          + #"[\#(x + 0.00007),53],[\#(x + 0.00005),53],[\#(x + 0.00005),52]]]}"#
      return #"{"type":"Feature","id":\#(number),"properties":{"radius_m":15},"#
        + #""geometry":\#(geometry)}"#
    }
    return #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
  }

  /// A photo at each place of the first lines, of few pictures.
  private static func album(in folder: TemporaryFolder, lines: Int) async throws -> String {
    for number in 0..<3 {
      let shade = UInt8(number * 100)
      try Data(TestPicture.png(color: (shade, shade, 0))).write(to: folder.file("\(number).png"))
    }
    let photos = (0..<lines / 3).map { number in
      #"{"type":"Feature","properties":{"path":"\#(number % 3).png"},"geometry":"#
        + #"{"type":"Point","coordinates":[\#(13.4 + Double(number) * 0.00012),52.50001]}}"#
    }
    let text = #"{"type":"FeatureCollection","features":["# + photos.joined(separator: ",") + "]}"
    let path = folder.file("album.gpkg").path
    let result = try await Tool.run(
      "import", try folder.write(text, to: "photos.geojson").path, "--into", path)
    #expect(result.status == 0, "\(result)")
    return path
  }

  @Test(arguments: Subject.allCases)
  func `a recording that is killed goes on as if it had not been`(subject: Subject) async throws {
    let package = try FieldFile()
    let folder = try TemporaryFolder()
    let kills = Self.kills / Subject.allCases.count
    let album = subject == .photos ? try await Self.album(in: folder, lines: kills * 45 + 60) : ""
    let arguments = subject.arguments(
      try folder.write(Self.zones(), to: "zones.geojson").path, album)
    var numbers = FilterGenerator.SplitMix(state: 42)
    var acknowledged: [String] = []
    for _ in 0..<kills {
      let reading = try Reading(package, arguments)
      try reading.feedAndKill(from: try package.taken(), Self.line, &numbers)
      let (fixes, rows) = reading.acknowledged()
      acknowledged += rows
      #expect(try package.taken() >= fixes)
    }
    let total = try package.taken() + 50
    let last = try Reading(package, arguments)
    try await last.feedToEnd(try package.taken()..<total, Self.line)
    try await compare(package, subject, arguments, total, acknowledged)
  }

  private func compare(
    _ package: FieldFile, _ subject: Subject, _ arguments: [String], _ total: Int,
    _ acknowledged: [String]
  ) async throws {
    let whole = try FieldFile()
    let lines = (0..<total).map(Self.line).joined()
    let result = try await Tool.run(
      arguments + ["-", "--into", whole.path],
      input: Data(lines.utf8))
    #expect(result.status == 0)
    for sql in subject.rows {
      let expected = try whole.rows(sql)
      #expect(try package.rows(sql) == expected)
    }
    let kept = Set(try package.rows(subject.acknowledged))
    #expect(acknowledged.filter { !kept.contains($0) } == [])
    #expect(try package.findings() == [])
    #expect(
      try package.rows(
        "SELECT count(*) FROM track_point WHERE track_fid NOT IN (SELECT fid FROM track)")
        == ["0"])
  }
}

/// The tool as it records from a pipe.
private final class Reading {
  private let program: Program
  private let package: FieldFile
  private let folder: TemporaryFolder
  private var pipe: Int32

  init(_ package: FieldFile, _ arguments: [String]) throws {
    self.package = package
    folder = try TemporaryFolder()
    let path = folder.file("fixes").path
    mkfifo(path, 0o600)
    // Both ends, so that it opens at once.
    pipe = open(path, O_RDWR | O_CLOEXEC)
    program = try Tool.start(
      arguments + [path, "--into", package.path, "--follow", "--json"])
  }

  deinit { if pipe >= 0 { close(pipe) } }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(FileWriting.write(pipe, bytes, bytes.count) == bytes.count)
  }

  /// Feeds some lines, waits until they are stored, feeds some more and kills at any moment.
  func feedAndKill(
    from first: Int, _ line: (Int) -> String, _ numbers: inout FilterGenerator.SplitMix
  ) throws {
    var next = first
    for _ in 0..<Int.random(in: 0...3, using: &numbers) {
      let count = Int.random(in: 1...9, using: &numbers)
      write((next..<next + count).map(line).joined())
      next += count
      try wait(for: next)
    }
    let isAtStart = next == first
    write((next..<next + Int.random(in: 1...30, using: &numbers)).map(line).joined())
    usleep(UInt32.random(in: 0...(isAtStart ? 150_000 : 4_000), using: &numbers))
    program.destroy()
  }

  private func wait(for fixes: Int) throws {
    try program.block(for: "fix \(fixes)") { try package.taken() >= fixes }
  }

  func feedToEnd(_ fixes: Range<Int>, _ line: (Int) -> String) async throws {
    write(fixes.map(line).joined())
    try wait(for: fixes.upperBound)
    close(pipe)
    pipe = -1
    #expect(try await program.result().status == 0)
  }

  /// What the whole lines of the output say: how many fixes were stored, and which points and
  /// detections.
  func acknowledged() -> (fixes: Int, rows: [String]) {
    var fixes = 0
    var rows: [String] = []
    let text = program.outputSoFar
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      let data = Data(line.utf8)
      if let step = try? JSONDecoder().decode(Step.self, from: data) {
        fixes = step.fixes
        rows += step.points.map { "\($0.id) \($0.fix)" }
      } else if let detection = try? JSONDecoder().decode(Seen.self, from: data) {
        fixes = detection.fix + 1
        rows.append("\(detection.fix)")
      }
    }
    return (fixes, rows)
  }

  private struct Step: Decodable {
    struct Point: Decodable {
      let id: Int
      let fix: Int
    }

    let fixes: Int
    let points: [Point]
  }

  private struct Seen: Decodable {
    let fix: Int
  }
}

extension FieldFile {
  /// How many fixes the file says were taken; 0 before the run began.
  func taken() throws -> Int {
    guard try rows("SELECT 1 FROM sqlite_master WHERE name = 'monitor_run'") == ["1"] else {
      return 0
    }
    return Int(try rows("SELECT fixes FROM monitor_run").first ?? "0") ?? 0
  }
}

/// `write(2)`, out of the way of the methods of that name.
private enum FileWriting {
  static func write(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes, count)
    #else
      Darwin.write(descriptor, bytes, count)
    #endif
  }
}
