import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCLI

@Suite struct TextTableTests {
  private let columns = [
    TableColumn("id", isNumeric: true), TableColumn("name"), TableColumn("depth", isNumeric: true),
  ]
  private let rows = [
    ["1", "Kirchfeldquelle", "12.5"], ["20", "日本\u{1b}[2J", ""], ["300", "x", "-1"],
  ]

  @Test func `columns are aligned and nothing is cut off a terminal`() {
    #expect(
      TextTable.text(columns, rows, width: nil) == """
         id  name             depth
        ───  ───────────────  ─────
          1  Kirchfeldquelle   12.5
         20  日本\\u{1b}[2J
        300  x                   -1

        """)
  }

  @Test func `wide columns give way on a terminal, in ASCII where need be`() {
    #expect(
      TextTable.text(columns, rows, width: 20, usesUnicode: false) == """
         id  name      depth
        ---  --------  -----
          1  Kirchfe~   12.5
         20  日本\\u{~
        300  x            -1

        """)
  }

  @Test func `columns without room are left out and counted`() {
    var table = TextTable(columns, width: 16)
    var bytes: [UInt8] = []
    for row in rows { table.add(row, to: &bytes) }
    table.finish(to: &bytes)
    #expect(table.hiddenColumns == 1)
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
         id  name      …
        ───  ────────  …
          1  Kirchfe…  …
         20  日本\\u{…  …
        300  x         …

        """)
  }

  @Test func `the first rows fix the widths and later ones stream`() {
    var table = TextTable([TableColumn("a"), TableColumn("b")], width: nil, sampleSize: 2)
    var bytes: [UInt8] = []
    table.add(["1", "2"], to: &bytes)
    #expect(bytes.isEmpty)
    table.add(["xx", "y"], to: &bytes)
    table.add(["longer", "z"], to: &bytes)
    table.finish(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "a   b\n──  ─\n1   2\nxx  y\nlonger  z\n")
  }

  @Test func `a table without rows is its header`() {
    #expect(TextTable.text([TableColumn("a")], [], width: 10) == "a\n─\n")
  }
}

@Suite struct JSONValueTests {
  @Test(
    arguments: [
      (JSONValue.null, "null"), (true, "true"),
      (-9_223_372_036_854_775_808, "-9223372036854775808"),
      (9_223_372_036_854_775_807, "9223372036854775807"), (0.1, "0.1"), (5.0, "5"), (-0.0, "-0"),
      (1e300, "1e+300"), (.real(.leastNonzeroMagnitude), "5e-324"), (.real(.nan), "null"),
      (.real(-.infinity), "null"),
      (123_456_789.125, "123456789.125"),
      ("q\"b\\n\n\r\t\u{1}\u{7f}\u{9b}é🙂/", #""q\"b\\n\n\r\t\u0001\u007f\u009bé🙂/""#),
      ([1, "a", nil, []], #"[1,"a",null,[]]"#),
      (["b": 1, "a": [:], "b\"": false], #"{"b":1,"a":{},"b\"":false}"#),
    ] as [(JSONValue, String)])
  func `values keep order and exactness`(value: JSONValue, text: String) {
    #expect(value.text == text)
  }
}

@Suite struct ErrorReportTests {
  @Test(arguments: [
    (
      FieldpackError(
        .invalidData, "the ring is not closed (it ends at 1 2). Try: --skip-errors",
        position: FilePosition(file: "a.geojson", line: 3, feature: 7)),
      "fieldpack: a.geojson:3, feature 7: the ring is not closed (it ends at 1 2)."
        + " Try: --skip-errors\n"
    ),
    (
      FieldpackError(
        .notFound, "cannot open a.gpkg: No such file", position: FilePosition(file: "a.gpkg")),
      "fieldpack: cannot open a.gpkg: No such file\n"
    ),
    (
      FieldpackError(
        .constraint, "name is NULL", location: .init(store: "s", layer: "wells", feature: 7)),
      "fieldpack: s/wells/7: name is NULL\n"
    ),
    (
      FieldpackError(
        .notFound, "layer 'wells' is not in store 's'", location: .init(store: "s", layer: "wells")),
      "fieldpack: layer 'wells' is not in store 's'\n"
    ),
    (
      FieldpackError(.corrupt, "bad \u{1b}[2J name\n"), "fieldpack: bad \\u{1b}[2J name\\n\n"
    ),
  ])
  func `errors say where and what`(error: FieldpackError, line: String) {
    #expect(ErrorReport(error).line == line)
  }

  @Test func `the document holds what is known`() {
    let error = FieldpackError(
      .constraint, "name is NULL. Try: --skip-errors",
      location: .init(store: "s", layer: "wells", feature: 7),
      position: FilePosition(file: "a.csv", line: 2, column: 5, byteOffset: 40, feature: 1))
    #expect(
      ErrorReport(error).document.text == """
        {"error":{"code":"constraint","message":"name is NULL","store":"s","layer":"wells",\
        "feature":7,"position":{"file":"a.csv","line":2,"column":5,"byte_offset":40,"feature_number":1},\
        "hint":"--skip-errors"}}
        """)
  }

  @Test func `exit statuses are frozen`() {
    let table = FieldpackError.Code.all.map { "\($0.name) \($0.exitStatus)" }
    #expect(
      table == [
        "invalidArgument 64", "invalidData 65", "corrupt 65", "notFound 66", "unavailable 69",
        "cannotCreate 73", "io 74", "full 74", "busy 75", "permission 77", "readOnly 77",
        "interrupted 130", "constraint 1", "unsupported 1", "configuration 1",
      ])
    #expect([ExitStatus.success, ExitStatus.failure, ExitStatus.skippedFeatures] == [0, 1, 2])
  }
}

@Suite struct ProgressDisplayTests {
  /// What progress writes while `work` goes on, by a clock that the test sets.
  private func written(
    mode: ProgressMode, terminal: Terminal, total: Int?, unit: ProgressUnit = .bytes,
    quiet: Bool = false, work: (Console, ProgressDisplay, Locked<Double>) -> Void
  ) throws -> String {
    let folder = try TemporaryFolder()
    let file = try folder.write("", to: "stderr")
    let handle = try FileHandle(forWritingTo: file)
    let console = Console(
      terminal: terminal, isQuiet: quiet, progressMode: mode, descriptor: handle.fileDescriptor)
    let clock = Locked(100.0)
    let progress = ProgressDisplay(
      "reading a", total: total, unit: unit, console: console,
      now: { clock.withLock { $0 } })
    work(console, progress, clock)
    return try String(contentsOf: file, encoding: .utf8)
  }

  private let clear = "\r\u{1b}[K"

  @Test func `the bar comes after a second, ten times a second, and goes`() throws {
    let terminal = Terminal(isErrorTerminal: true, width: 60)
    let text = try written(mode: .auto, terminal: terminal, total: 40_000_000) {
      console, progress, clock in
      for (time, done) in [(100.5, 1), (102.0, 10_000_000), (102.05, 11_000_000)] {
        clock.withLock { $0 = time }
        progress.update(done)
      }
      console.note("half way")
      clock.withLock { $0 = 104 }
      progress.update(40_000_000)
      progress.finish()
      progress.update(40_000_000)
    }
    #expect(
      text == clear
        + "reading a  [█████░░░░░░░░░░░░░░░]  25%  5.0 MB/s  ETA 0:06"
        + clear + "note: half way\n"
        + clear + "reading a  [███████████████████] 100%  10.0 MB/s  ETA 0:00" + clear)
  }

  @Test func `nothing is drawn where standard error is no terminal`() throws {
    let text = try written(mode: .auto, terminal: Terminal(), total: 10) { _, progress, clock in
      clock.withLock { $0 = 200 }
      progress.update(5)
    }
    #expect(text == "")
  }

  @Test func `plain progress is a line each ten seconds, with unknown totals too`() throws {
    let text = try written(mode: .plain, terminal: Terminal(), total: nil, unit: .features) {
      _, progress, clock in
      for step in 1...25 {
        clock.withLock { $0 = 100 + Double(step) }
        progress.update(step * 1000)
      }
      progress.finish()
    }
    #expect(
      text == """
        reading a: 10.0 k features  1.0 k features/s
        reading a: 20.0 k features  1.0 k features/s

        """)
  }

  @Test(arguments: [(0.4, "0 B"), (999, "999 B"), (999.6, "1.0 kB"), (12_345_678, "12.3 MB")])
  func `amounts are short`(value: Double, text: String) {
    #expect(ProgressDisplay.amount(value, .bytes) == text)
  }

  @Test(arguments: [(0.2, "0:01"), (61, "1:01"), (3723, "1:02:03"), (.infinity, "-:--")])
  func `durations read like a clock`(seconds: Double, text: String) {
    #expect(ProgressDisplay.duration(seconds) == text)
  }
}
