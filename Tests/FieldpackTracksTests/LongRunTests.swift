import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import FieldpackTracks
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc

  /// A day of positions, one a second, as fast as they are read.
  @Suite(.serialized, .programs) struct LongRunTests {
    private static let count = 86_400

    /// What the system says of a process: memory in use, in pages, and open files.
    private struct Usage {
      var pages: Int
      var files: [String]

      init(_ process: pid_t) throws {
        let text = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        pages = Int(text.split(separator: " ")[1]) ?? 0
        files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
      }
    }

    private func line(_ number: Int) -> String {
      let angle = Double(number) * 0.001
      return #"{"longitude": \#(13.4 + 0.01 * cos(angle)), "#
        + #""latitude": \#(52.5 + 0.00001 * Double(number % 2000)), "#
        + #""time": "\#(Instant.at(Double(number)))"}"# + "\n"
    }

    @Test(arguments: [["--sampling", "region:80"], ["--sampling", "all"]])
    func `memory and open files stay as they are`(arguments: [String]) async throws {
      let package = try FieldFile()
      let path = package.folder.file("fixes").path
      mkfifo(path, 0o600)
      let pipe = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
      let program = try Tool.start(
        ["track", "record", path, "--into", package.path, "--name", "day"] + arguments)
      var usages: [Usage] = []
      let half = Self.count / 2
      for part in [0..<half, half..<Self.count] {
        try await feed(part, to: pipe, of: program)
        try await program.wait(for: "fix \(part.upperBound)") {
          try fixes(package) >= part.upperBound
        }
        usages.append(try Usage(program.processID))
      }
      close(pipe)
      let result = try await program.result()
      #expect(result.status == 0, "\(result)")
      #expect(usages[1].files.count <= usages[0].files.count)
      // The line of a track with all fixes as points is 1.4 MB in the end.
      let growth = (usages[1].pages - usages[0].pages) * Int(sysconf(Int32(_SC_PAGESIZE)))
      #expect(growth < 8 << 20, "\(usages.map(\.pages)) pages")
      #expect(try fixes(package) == Self.count)
      let lines = try package.rows(
        "SELECT length(geom) = 49 + 16 * (SELECT count(*) FROM track_point) FROM track")
      #expect(lines == ["1"])
    }

    private func feed(_ numbers: Range<Int>, to pipe: Int32, of program: Program) async throws {
      for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 30) {
        let end = min(start + 30, numbers.upperBound)
        let bytes = Array((start..<end).map(line).joined().utf8)
        // No more than a pipe takes at once, so all or nothing of it is written.
        try await program.wait(for: "it took fix \(end)") {
          let count = write(pipe, bytes, bytes.count)
          try #require(count > 0 || errno == EAGAIN)
          return count > 0
        }
      }
    }

    private func fixes(_ package: FieldFile) throws -> Int {
      guard try package.rows("SELECT 1 FROM sqlite_master WHERE name = 'monitor_run'") == ["1"]
      else { return 0 }
      return Int(try package.rows("SELECT fixes FROM monitor_run").first ?? "0") ?? 0
    }
  }
#endif
