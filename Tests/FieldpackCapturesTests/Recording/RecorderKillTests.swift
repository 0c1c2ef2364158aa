import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Recordings that are killed at any moment leave whole captures to the next start, and nothing else:
/// 20 kills, or as many as `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct RecorderKillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 20

  /// Where captures go, and how they are made.
  enum Destination: String, CaseIterable {
    case folder, both, geoPackage

    func arguments(_ work: KillFolder) -> [String] {
      let folder = ["--folder", work.captures]
      let into = ["--into", work.target]
      return switch self {
      case .folder: folder
      case .both: folder + into
      case .geoPackage: into
      }
    }

    /// Whether thumbnails are made, by ffmpeg in a process of its own; one is enough.
    var hasThumbnails: Bool { self == .both && Programs.ffmpeg != nil }
  }

  @Test(arguments: Destination.allCases)
  func `killed recordings are whole after the next start`(destination: Destination) async throws {
    let work = try await KillFolder(hasThumbnails: destination.hasThumbnails)
    var numbers = FilterGenerator.SplitMix(state: 7)
    var told: [[Int]] = []
    for run in 0..<max(1, Self.kills / Destination.allCases.count) {
      let recording = try KilledRecording(work, run, destination.arguments(work))
      told.append(try recording.killAnywhere(&numbers))
    }
    let last = try await work.tool(destination.arguments(work))
    #expect(last.status == 0, "\(last)")
    let found = try await work.captures(destination)
    #expect(!found.isEmpty && !told.joined().isEmpty)
    // A recording is one capture at most, and has all that was told of it.
    for (run, points) in told.enumerated() where !points.isEmpty {
      let own = found.filter { $0.contains { KilledRecording.run(of: $0) == run } }
      #expect(own.count == 1, "run \(run)")
      #expect(Set(points).isSubset(of: Set(own.first ?? [])), "run \(run)")
    }
    for points in found {
      #expect(Set(points.map(KilledRecording.run)).count == 1)
      #expect(points == points.sorted() && Set(points).count == points.count)
    }
    let leftovers = try work.leftovers(destination)
    #expect(leftovers == [])
  }
}

/// What the runs of one test share.
struct KillFolder {
  private let folder: TemporaryFolder
  let hasThumbnails: Bool
  private let film: [UInt8]
  var captures: String { folder.file("captures").path }
  var target: String { folder.file("field.gpkg").path }
  var media: String { folder.file("clip.mov").path }
  private var environment: [String: String] { ["XDG_STATE_HOME": folder.file("state").path] }

  init(hasThumbnails: Bool) async throws {
    self.hasThumbnails = hasThumbnails
    folder = try TemporaryFolder()
    let file = folder.file("clip.mov")
    if hasThumbnails {
      try await MediaSample.movie(Pixels(quartersOf: 64, 48), codec: "mjpeg", to: file.path)
    } else {
      try Data(RecorderRig.film).write(to: file)
    }
    film = [UInt8](try Data(contentsOf: file))
  }

  func file(_ name: String) -> String { folder.file(name).path }

  private func words(_ arguments: [String]) -> [String] {
    ["capture", "record"] + (hasThumbnails ? [] : ["--no-thumbnail"]) + arguments
  }

  func tool(_ arguments: [String]) async throws -> RunResult {
    try await Tool.run(words(arguments), environment: environment)
  }

  func start(_ arguments: [String]) throws -> Program {
    try Tool.start(words(arguments), environment: environment)
  }

  /// The longitudes of the points of each capture, once its files were found to be whole.
  func captures(_ destination: RecorderKillTests.Destination) async throws -> [[Int]] {
    var folders: [[Int]] = []
    if destination != .geoPackage, FileManager.default.fileExists(atPath: captures) {
      for token in try FileManager.default.contentsOfDirectory(atPath: captures).sorted() {
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(captures)/\(token)")
        let thumbnail = hasThumbnails ? ["\(token).png"] : []
        #expect(
          Set(files) == Set(["\(token).json", "\(token).mov", "capture-info.json"] + thumbnail))
        let found = try CaptureFolder(path: captures).capture(token)
        #expect(found.media?.bytes == film)
        folders.append(found.geodata.points.map { KilledRecording.point(at: $0.longitude) })
      }
    }
    guard destination != .folder, FileManager.default.fileExists(atPath: target) else {
      return folders
    }
    let stored = try await storedCaptures()
    if destination == .both {
      func key(_ points: [Int]) -> Int { points.first ?? -1 }
      #expect(folders.sorted { key($0) < key($1) } == stored.sorted { key($0) < key($1) })
    }
    return stored
  }

  private func storedCaptures() async throws -> [[Int]] {
    let store = try await GeoPackageStore(path: target, id: "field")
    let catalogue = CaptureCatalogue(store)
    var points: [[Int]] = []
    let captures = try await catalogue.list()
    for capture in captures {
      let geodata = try await catalogue.geodata(of: capture)
      points.append(geodata.points.map { KilledRecording.point(at: $0.longitude) })
    }
    // Each has its media, and there are no others.
    #expect(
      try await catalogue.missingFiles(of: captures).values.map(\.count)
        == (hasThumbnails ? [] : captures.map { _ in 1 }))
    let files = hasThumbnails ? 2 : 1
    #expect(try await store.count(Query(CaptureLayers.media)) == captures.count * files)
    #expect(
      try await store.count(Query(CaptureLayers.point)) == points.map(\.count).reduce(0, +))
    await store.close()
    return points
  }

  /// Whatever is there beside whole captures.
  func leftovers(_ destination: RecorderKillTests.Destination) throws -> [String] {
    let manager = FileManager.default
    let known: Set = ["captures", "clip.mov", "field.gpkg", "state"]
    var names = try manager.contentsOfDirectory(atPath: folder.url.path)
      // Of a GeoPackage that was killed in its making, which holds nothing yet.
      .filter {
        !known.contains($0) && !$0.hasPrefix("pipe") && !$0.hasPrefix(".field.gpkg.fieldpack-")
      }
    if let inner = try? manager.contentsOfDirectory(atPath: captures) {
      names += inner.filter { $0.hasPrefix(".") }
    }
    return names
  }
}

/// The tool as it records from a pipe, to be killed.
final class KilledRecording {
  private let program: Program
  private let number: Int
  private let hasThumbnails: Bool
  private var pipe: Int32
  private var next = 0

  /// Which run a point is of.
  static func run(of point: Int) -> Int { point / 100 }

  init(_ work: KillFolder, _ number: Int, _ arguments: [String]) throws {
    self.number = number
    hasThumbnails = work.hasThumbnails
    // A pipe of its own: what the last run has not read stays in its pipe as long as anything has it open, as a
    // program does that another test starts.
    let path = work.file("pipe\(number)")
    mkfifo(path, 0o600)
    // Both ends, so that it opens at once.
    pipe = open(path, O_RDWR | O_CLOEXEC)
    program = try work.start(
      arguments + ["--media", work.media, "--fixes", path, "--follow", "--json"])
  }

  deinit { if pipe >= 0 { close(pipe) } }

  static func point(at longitude: Double) -> Int { Int((longitude * 10_000).rounded()) }

  /// Feeds some positions and kills at any moment: while it starts, records, or ends.
  ///
  /// - Returns: the points that were told.
  func killAnywhere(_ numbers: inout FilterGenerator.SplitMix) throws -> [Int] {
    let kind = Int.random(in: 0..<4, using: &numbers)
    if kind > 0 {
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        feed(Int.random(in: 1...9, using: &numbers))
        try waitForPoints()
      }
    }
    if kind < 3 { feed(Int.random(in: 1...30, using: &numbers)) }
    if kind == 3 {
      // Its end begins.
      close(pipe)
      pipe = -1
    }
    let most: UInt32 = [150_000, 3_000, 3_000, hasThumbnails ? 300_000 : 25_000][kind]
    usleep(UInt32.random(in: 0...most, using: &numbers))
    program.destroy()
    return told()
  }

  private func feed(_ count: Int) {
    for _ in 0..<count {
      let longitude = Double(number * 100 + next) / 10_000
      let line = Array(#"{"lon": \#(longitude), "lat": 52, "accuracy": 5}"#.utf8) + [10]
      #expect(line.withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) } == line.count)
      next += 1
    }
  }

  private func waitForPoints() throws {
    try program.block(for: "point \(next)") { told().count == next }
  }

  /// What the whole lines of the output tell.
  private func told() -> [Int] {
    let lines = program.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.dropLast().flatMap { line in
      let step = try? JSONDecoder().decode(Step.self, from: Data(line.utf8))
      return step?.points.map { Self.point(at: $0.longitude) } ?? []
    }
  }

  private struct Step: Decodable {
    struct Point: Decodable {
      let longitude: Double
    }

    let points: [Point]
  }
}
