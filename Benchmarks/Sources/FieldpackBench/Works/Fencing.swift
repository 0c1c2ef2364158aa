import Fieldpack
import Foundation

/// Fixes against circles of 80 m and areas: enters and exits.
enum Fencing {
  /// - Parameter files: of fixes, of the circles' centres, and of areas as WKT, one a line.
  static func run(_ work: String, _ files: [String]) async throws -> Figures {
    let fixes = try fixes(in: files[0])
    let regions = try circles(in: files[1]) + areas(in: files[2])
    var options = GeofenceMonitor.Options()
    options.kinds = [.enter, .exit]
    var detections: [Detection] = []
    let (start, cpu) = (ContinuousClock.now, Figures.processorTime())
    let watched = try WatchedRegions(regions)
    var monitor = try GeofenceMonitor(watched, options: options)
    let (made, cpuMade) = (ContinuousClock.now, Figures.processorTime())
    if work == "batch" {
      try await monitor.take(together: fixes, into: &detections)
    } else {
      for (number, fix) in fixes.enumerated() {
        monitor.take(fix, number: number, into: &detections)
      }
    }
    let (end, cpuEnd) = (ContinuousClock.now, Figures.processorTime())
    // As an application does, the peer makes its tree before the stream of fixes.
    let seconds = (work == "batch" ? start : made).duration(to: end) / .seconds(1)
    let enters = detections.count { $0.kind == .enter }
    return Figures(
      seconds: seconds, cpu: cpuEnd - (work == "batch" ? cpu : cpuMade),
      count: fixes.reduce(0) { $0 + watched.ids(holding: $1.position).count },
      checksum: [enters, detections.count - enters])
  }

  /// Watches as ``run(_:_:)`` does and keeps detections and all states, in the transactions of a replay.
  static func store(_ files: [String], in path: String) async throws -> Figures {
    let fixes = try fixes(in: files[0])
    let regions = try WatchedRegions(try circles(in: files[1]) + areas(in: files[2]))
    var options = GeofenceMonitor.Options()
    options.kinds = [.enter, .exit]
    let monitor = try GeofenceMonitor(regions, options: options)
    _ = try GeoPackageBulkWriter(creating: path, overwrite: true, store: "fences").commit()
    let store = try await GeoPackageStore(path: path, id: "fences")
    let source = ScriptedSource(
      stride(from: 0, to: fixes.count, by: 16_384).map { start in
        fixes[start..<min(start + 16_384, fixes.count)].map { .fix($0) }
      }, isComplete: true)
    var count = 0
    let (start, cpu) = (ContinuousClock.now, Figures.processorTime())
    let run = RecordedMonitor(monitor, in: store, as: "fences")
    for try await step in run.watch(source, isReplay: true) { count += step.detections.count }
    let (end, cpuEnd) = (ContinuousClock.now, Figures.processorTime())
    await store.close()
    return Figures(
      seconds: start.duration(to: end) / .seconds(1), cpu: cpuEnd - cpu, count: count, checksum: [])
  }

  private static func fixes(in path: String) throws -> [Fix] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    return bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 20).map { place in
        let device = Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self))
        func value(_ offset: Int) -> Double {
          Double(
            bitPattern: UInt64(
              littleEndian: bytes.loadUnaligned(fromByteOffset: place + offset, as: UInt64.self)))
        }
        return Fix(longitude: value(4), latitude: value(12), device: "device \(device)")
      }
    }
  }

  private static func lines(in path: String) throws -> [Substring] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
  }

  private static func circles(in path: String) throws -> [WatchedRegion] {
    try lines(in: path).enumerated().map { number, line in
      let place = line.split(separator: " ").compactMap { Double($0) }
      return WatchedRegion(
        id: .integer(Int64(number)), geometry: .point(x: place[0], y: place[1]), radius: 80)
    }
  }

  private static func areas(in path: String) throws -> [WatchedRegion] {
    try lines(in: path).enumerated().map { number, line in
      WatchedRegion(id: .integer(Int64(1_000_000 + number)), geometry: try WKT.read(line))
    }
  }
}
