import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackMonitoring
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTracks

/// Runs that go on with a source whose fixes are not those that they took.
@Suite struct ChangedReplayTests {
  private let package: FieldFile

  init() throws { package = try FieldFile() }

  /// A fix `x` hundred metres to the east, `seconds` after a fixed moment.
  private func fix(_ x: Double, _ seconds: Double?, _ device: String = "a") -> Fix {
    Fix(
      longitude: 13.4 + x * 0.0015, latitude: 52.5, time: seconds.map { .at($0) }, device: device)
  }

  /// Watches fixes, two a batch; gives what was noted.
  @discardableResult
  private func watch(_ fixes: [Fix], in package: FieldFile? = nil) async throws -> [String] {
    let notes = Locked<[String]>([])
    let batches = stride(from: 0, to: fixes.count, by: 2).map { start in
      fixes[start..<min(start + 2, fixes.count)].map { LocationUpdate.fix($0) }
    }
    try await (package ?? self.package).withStore { store in
      let monitor = RecordedMonitor(
        try AnchorMonitor(radius: 80), in: store, as: "watch",
        clock: TestClock(at: .at(1_000_000)).clock)
      try await monitor.watch(ScriptedSource(batches), origin: "log", isReplay: true) { note in
        notes.withLock { $0.append(note) }
      }.run()
    }
    return notes.withLock { $0 }
  }

  /// What was seen, without the numbers of fixes.
  private func detections(_ package: FieldFile? = nil) throws -> [String] {
    try (package ?? self.package).rows(
      "SELECT kind, device, time, distance_m, hex(geom) FROM detection ORDER BY fid")
  }

  private func run() throws -> [String] {
    try package.rows("SELECT fixes, state FROM monitor_run")
  }

  private func reason(_ fixes: [Fix]) async -> String? {
    let error = await failure { try await watch(fixes) }
    #expect(error?.code == .invalidArgument)
    let (head, tail) = (
      "the run 'watch' cannot go on with a source that was changed: ",
      ". Try: another name, which begins anew"
    )
    guard let message = error?.message, message.hasPrefix(head), message.hasSuffix(tail) else {
      return error?.message
    }
    return String(message.dropFirst(head.count).dropLast(tail.count))
  }

  @Test func `what has the time of the last fix is not taken twice`() async throws {
    let taken = [fix(0, 0), fix(1, 5), fix(2, 5), fix(1, 5)]
    try await watch(taken)
    let notes = try await watch([fix(0, 0), fix(9, 1)] + taken[1...] + [fix(3, 9)])
    let whole = try FieldFile()
    try await watch(taken + [fix(3, 9)], in: whole)
    let expected = try detections(whole)
    #expect(try detections() == expected)
    #expect(try run() == ["5|ended"])
    #expect(
      notes == [
        "the source was changed: its fix 3 is another one now; goes on after the last fix of each "
          + "device, and passes over what was added before"
      ])
    #expect(try package.rows("SELECT message FROM track_log WHERE level = 'warning'") == notes)
  }

  @Test func `late fixes that were passed over stay late`() async throws {
    let taken = [fix(0, 10), fix(1, 100), fix(2, 60), fix(3, 50), fix(4, 51)]
    try await watch(taken)
    let before = try detections()
    try await watch([fix(9, 1, "b")] + taken)
    #expect(try detections().dropLast() == before[...])
    let state = "SELECT time_ms, late_count, late_ms FROM monitor_state WHERE device = 'a'"
    let (last, late) = (Instant.at(100).milliseconds, Instant.at(51).milliseconds)
    #expect(try package.rows(state) == ["\(last)|2|\(late)"])
  }

  @Test func `a file in another order than by time goes on after the last fix that was taken`()
    async throws
  {
    let taken = [fix(0, 1), fix(1, 2), fix(2, 2_000_000), fix(3, 3), fix(4, 4), fix(5, 5)]
    try await watch(taken)
    try await watch([fix(9, 0, "b")] + taken + [fix(6, 6)])
    let whole = try FieldFile()
    try await watch(taken + [fix(6, 6)], in: whole)
    let expected = try detections(whole)
    #expect(try detections().filter { !$0.contains("|b|") } == expected)
    #expect(try run() == ["8|ended"])
  }

  @Test func `a last fix in the future is told of`() async throws {
    let taken = [fix(0, 1), fix(1, 2_000_000)]
    try await watch(taken)
    let notes = try await watch([taken[0], fix(2, 3), taken[1]])
    #expect(notes.count == 1)
    #expect(
      notes.first?.hasSuffix(
        "; of 'a' the last one, of \(Instant.at(2_000_000)), lies in the future, and none before that "
          + "is new") == true)
    #expect(try run() == ["2|ended"])
  }

  @Test func `a source without the last fixes is refused before anything is taken`() async throws {
    try await watch([fix(0, 0), fix(0, 1, "b"), fix(1, 5), fix(1, 6, "b")])
    let before = try detections()
    #expect(
      await reason([fix(9, -5, "c"), fix(0, 0), fix(1, 5), fix(8, 7), fix(2, 9, "b")])
        == "the last fix of device 'b' that the run took, of \(Instant.at(6)), is not there any more"
    )
    #expect(
      await reason([fix(7, 1, "c"), fix(8, 2, "c")])
        == "none of the last fixes that the run took is there any more")
    #expect(try detections() == before)
    #expect(try run() == ["4|failed"])
  }

  @Test func `a fix without a time among others is refused`() async throws {
    let taken = [fix(1, nil), fix(0, 1), fix(1, 5)]
    try await watch(taken)
    #expect(
      await reason([taken[0], fix(0, 0)] + taken[1...])
        == "its fix 2 is another one now, and not all fixes have times")
    #expect(try run() == ["3|failed"])
  }

  @Test func `bad lines are counted once though they are read again`() async throws {
    let folder = try TemporaryFolder()
    func line(_ x: Double, _ second: Int) -> String {
      #"{"lon":\#(13.4 + x * 0.0015),"lat":52.5,"time":"2020-09-13T12:26:4\#(second)Z"}"# + "\n"
    }
    let path = try folder.write(line(0, 0) + line(1, 1), to: "fixes.jsonl").path
    var options = LineSource.Options()
    options.skipsErrors = true
    for _ in 0..<2 {
      let source = LineSource(path: path, options: options)
      try await package.withStore { store in
        let run = RecordedMonitor(try AnchorMonitor(radius: 80), in: store, as: "watch")
        try await run.watch(source, origin: "log", isReplay: true).run()
      }
      let isFirst = try run() == ["2|ended"]
      #expect(source.report.current.skipped.count == (isFirst ? 0 : 1))
      _ = try folder.write(
        "hello\n" + line(7, 0) + line(0, 0) + line(1, 1) + line(2, 5), to: "fixes.jsonl")
    }
  }
}
