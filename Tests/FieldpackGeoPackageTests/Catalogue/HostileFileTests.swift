import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Files made to do harm: an error or a report, soon, and little memory.
@Suite(.programs) struct HostileFileTests {
  @Test func `opening and reading end in an error or a report`() async throws {
    let packages = try await HostilePackages()
    for (name, file) in try packages.all() {
      // What is not bounded never ends.
      let lines = await Survey.lines(of: file.path)
      #expect(!lines.isEmpty, "\(name)")
      let box = Envelope(minX: 100.5, minY: 0, maxX: 102.5, maxY: 1)
      for filter in [Filter.intersects(box), .relation(.crosses, .point(x: 7, y: 3))] {
        guard let store = try? await GeoPackageStore(path: file.path, id: "file") else { continue }
        let error = await thrown { _ = try await store.ids(Query("cases", where: filter)) }
        let known: [FieldpackError.Code?] = [nil, .corrupt, .invalidData, .notFound]
        #expect(known.contains(error?.code), "\(name): \(String(describing: error))")
        await store.close()
      }
    }
    let sound = await Survey.lines(of: packages.sound.path)
    #expect(
      sound == [
        "cases 400 geom GEOMETRY EPSG:4326 LINESTRING:400 [1.0 0.0 400.0 9.0] rtree "
          + "(fid; name TEXT)"
      ])
  }

  @Test(arguments: [32, 33, 2_000])
  func `a geometry nested too deep is refused before GEOS sees it`(depth: Int) async throws {
    let packages = try await HostilePackages()
    let package = try TestPackage(copying: packages.sound)
    for trigger in RTreeSQL(table: "cases", column: "geom", idColumn: "fid").triggerNames {
      try package.run("DROP TRIGGER IF EXISTS \(quoted(trigger))")
    }
    // A point in the midst, so that its envelope does not decide.
    let point = "0101000000000000000000F03F0000000000001440"
    let body = HostilePackages.nested(depth - 1).dropLast(8) + "01000000" + point
    try package.run("UPDATE cases SET geom = x'4750000100000000\(body)' WHERE fid = 1")
    let store = try await package.store()
    let query = Query("cases", where: .relation(.intersects, line(1, 0, 1, 9)))
    let error = await thrown { _ = try await store.ids(query) }
    if depth == 32 {
      #expect(error == nil)
      #expect(try await store.ids(query) == [1])
    } else {
      #expect(error?.code == .invalidData)
      #expect(error?.location.feature == 1)
      #expect(error?.message.contains("nested more than 32 deep") == true)
      let batches = try await store.query(query.skippingErrors())
      for try await batch in batches { #expect(batch.count == 0) }
      #expect(batches.report.current.skipped.listed.map(\.location.feature) == [1])
    }
    await store.close()
  }

  @Test(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
  func `the tool needs little memory and time for them`() async throws {
    let packages = try await HostilePackages()
    var files = try packages.all().filter { !$0.name.hasPrefix("page-") }.map(\.file)
    if SharedData.isPresent {
      files += SharedData.files(in: "real/gpkg-malformed", extensions: ["gpkg"])
    }
    for command in ["info", "query --skip-errors --limit 500", "check"] {
      let runs = try await runs(of: command, [packages.sound] + files)
      let usual = try #require(runs.first)
      for (file, run) in zip(files, runs.dropFirst()) {
        let name = "\(command) \(file.lastPathComponent): \(run)"
        let size = (try file.resourceValues(forKeys: [.fileSizeKey])).fileSize ?? 0
        #expect([0, 1, 2, 65].contains(run.status), "\(name)")
        #expect(run.kibibytes < usual.kibibytes + size / 1_024 + 64 << 10, "\(name)")
        #expect(run.seconds < 5, "\(name)")
      }
    }
  }

  /// The exit status, the most memory and the processor time of the tool on each of the files.
  private func runs(
    of command: String, _ files: [URL]
  ) async throws -> [(status: Int, kibibytes: Int, seconds: Double)] {
    // Asked from here, a child's memory would begin with that of the tests.
    let script = """
      import os, subprocess, sys
      for file in sys.argv[3:]:
        words = sys.argv[2].split()
        run = subprocess.Popen([sys.argv[1], words[0], file] + words[1:],
          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        seconds = usage.ru_utime + usage.ru_stime
        print(os.waitstatus_to_exitcode(status), usage.ru_maxrss, seconds)
      """
    let result = try await Program.run(
      Programs.python ?? "", ["-c", script, Tool.path, command] + files.map(\.path))
    let lines = result.output.split(separator: "\n").map { line in
      line.split(separator: " ").compactMap { Double($0) }
    }
    try #require(lines.count == files.count, "\(result)")
    return lines.map { (Int($0[0]), Int($0[1]), $0[2]) }
  }
}
