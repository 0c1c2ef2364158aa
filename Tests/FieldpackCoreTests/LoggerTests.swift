import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCore

/// Keeps what it is given.
private final class Recorder: LogHandler {
  let entries = Locked<[LogEntry]>([])

  func log(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }

  var lines: [String] {
    entries.withLock { entries in
      entries.map { entry in
        let facts = entry.metadata.map { " \($0.name)=\($0.value)" }.joined()
        return "\(entry.level) \(entry.label): \(entry.message)\(facts)"
      }
    }
  }
}

@Suite struct LoggerTests {
  @Test func `messages below the level are not even built`() {
    let recorder = Recorder()
    let logger = Logger(label: "import", level: .notice, handler: recorder)
    var built = 0
    for level in LogLevel.allCases {
      logger.log(
        level,
        {
          built += 1
          return "at \(level)"
        }())
    }
    #expect(built == 4)
    #expect(
      recorder.lines == [
        "notice import: at notice", "warning import: at warning", "error import: at error",
        "critical import: at critical",
      ])
    #expect(!logger.isEnabled(.info))
    #expect(logger.isEnabled(.notice))
  }

  @Test func `silence builds nothing at any level`() {
    var built = 0
    for level in LogLevel.allCases {
      Logger.silent.log(
        level,
        {
          built += 1
          return ""
        }())
      #expect(!Logger.silent.isEnabled(level))
    }
    #expect(built == 0)
  }

  @Test func `facts of the logger stand before those of the message`() {
    let recorder = Recorder()
    let logger = Logger(label: "fieldpack", level: .trace, handler: recorder)
      .labelled("import", ["file": "a.gpx", "dry": true])
    logger.info("layer written", ["count": 3, "seconds": 0.5])
    logger.trace("a")
    logger.debug("b")
    logger.notice("c")
    logger.warning("d")
    logger.error("e")
    logger.critical("f")
    #expect(
      recorder.lines == [
        "info import: layer written file=a.gpx dry=true count=3 seconds=0.5",
        "trace import: a file=a.gpx dry=true", "debug import: b file=a.gpx dry=true",
        "notice import: c file=a.gpx dry=true", "warning import: d file=a.gpx dry=true",
        "error import: e file=a.gpx dry=true", "critical import: f file=a.gpx dry=true",
      ])
  }

  private static let entry = LogEntry(
    level: .warning, label: "import", message: "odd\nname \u{1b}[2J",
    metadata: [
      ("file", "a b\".gpx"), ("layer", "wells"), ("count", 3), ("share", 0.25),
      ("nan", .real(.nan)),
      ("ok", false), ("none", ""),
    ])

  @Test(arguments: [
    (
      LogFormat.text,
      "1970-01-01T00:00:01.500Z warning import: odd name  [2J file=\"a b\\\".gpx\" layer=wells"
        + " count=3 share=0.25 nan=nan ok=false none=\"\"\n"
    ),
    (
      LogFormat.json,
      #"{"time":"1970-01-01T00:00:01.500Z","level":"warning","label":"import","#
        + #""message":"odd\nname \u001b[2J","file":"a b\".gpx","layer":"wells","count":3,"#
        + #""share":0.25,"nan":null,"ok":false,"none":""}"# + "\n"
    ),
  ])
  func `an entry is one line whatever it holds`(format: LogFormat, line: String) {
    let bytes = format.line(Self.entry, at: Instant(milliseconds: 1500))
    #expect(String(decoding: bytes, as: UTF8.self) == line)
  }
}

@Suite struct FileLogHandlerTests {
  private let noon = Instant("2026-01-31T12:00:00Z")!
  private let day: Int64 = 86_400_000

  private func log(_ message: String, to handler: FileLogHandler) {
    handler.log(LogEntry(level: .info, label: "x", message: message))
  }

  private func files(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  /// Makes the file as old as if it had been written at `time`.
  private func date(_ file: URL, _ time: Instant) throws {
    let date = Date(timeIntervalSince1970: Double(time.milliseconds) / 1000)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
  }

  @Test func `each day has its file and seven are kept`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("run.log")
    let clock = Locked(noon)
    let handler = try FileLogHandler(path: file.path, now: { clock.withLock { $0 } })
    for number in 0..<10 {
      let time = Instant(milliseconds: noon.milliseconds + Int64(number) * day)
      clock.withLock { $0 = time }
      // The day that a file is named after is the one it was last written.
      if number > 0 { try date(file, Instant(milliseconds: time.milliseconds - day)) }
      log("day \(number)", to: handler)
      log("again", to: handler)
    }
    #expect(
      try files(folder) == [
        "run.log", "run.log.2026-02-03", "run.log.2026-02-04", "run.log.2026-02-05",
        "run.log.2026-02-06", "run.log.2026-02-07", "run.log.2026-02-08",
      ])
    #expect(
      try String(contentsOf: folder.file("run.log.2026-02-08"), encoding: .utf8) == """
        2026-02-08T12:00:00.000Z info x: day 8
        2026-02-08T12:00:00.000Z info x: again

        """)
  }

  @Test func `a file of today is appended to and an older one put aside`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("old\n", to: "run.log")
    try date(file, noon)
    let now = noon
    let later = Instant(milliseconds: now.milliseconds + day)
    log("first", to: try FileLogHandler(path: file.path, now: { now }))
    #expect(
      try String(contentsOf: file, encoding: .utf8)
        == "old\n2026-01-31T12:00:00.000Z info x: first\n")
    try date(file, noon)
    log("next", to: try FileLogHandler(path: file.path, now: { later }))
    #expect(try files(folder) == ["run.log", "run.log.2026-01-31"])
  }

  @Test func `files that are not ours stay, and a taken name gets a number`() throws {
    let folder = try TemporaryFolder()
    let others = [
      "run.log.2026-01-31", "run.log.bak", "run.log.2026-13-01", "run.log.2020-01-01.gz",
      "run.logs.2019-01-01",
    ]
    for name in others { _ = try folder.write("kept", to: name) }
    for number in 1...9 { _ = try folder.write("", to: "run.log.2025-01-0\(number)") }
    let file = try folder.write("old\n", to: "run.log")
    try date(file, noon)
    let later = Instant(milliseconds: noon.milliseconds + day)
    log("x", to: try FileLogHandler(path: file.path, now: { later }))
    let dated = (6...9).map { "run.log.2025-01-0\($0)" }
    #expect(
      try files(folder) == (others + dated + ["run.log", "run.log.2026-01-31.2"]).sorted())
    #expect(try String(contentsOf: folder.file(others[0]), encoding: .utf8) == "kept")
  }

  @Test func `writers of one file renew it once`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("run.log")
    let clock = Locked(noon)
    let handlers = try (0..<4).map { _ in
      try FileLogHandler(path: file.path, now: { clock.withLock { $0 } })
    }
    for handler in handlers { log("one", to: handler) }
    try date(file, noon)
    let later = Instant(milliseconds: noon.milliseconds + day)
    clock.withLock { $0 = later }
    for handler in handlers {
      log("two", to: handler)
      // The present day is not the test's day; the file must look as if it were.
      try date(file, later)
    }
    #expect(try files(folder) == ["run.log", "run.log.2026-01-31"])
    #expect(
      try String(contentsOf: file, encoding: .utf8)
        == String(repeating: "2026-02-01T12:00:00.000Z info x: two\n", count: 4))
  }

  @Test func `a folder that is missing cannot hold the file`() throws {
    let path = try TemporaryFolder().file("missing/run.log").path
    let error = #expect(throws: FieldpackError.self) { try FileLogHandler(path: path) }
    #expect(error?.code == .cannotCreate)
    #expect(error?.message == "cannot open the log file \(path): No such file or directory")
  }

  @Test func `a pipe is written to as it is`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("run.log").path
    try #require(mkfifo(path, 0o600) == 0)
    let reader = FileHandle(
      fileDescriptor: open(path, O_RDONLY | O_NONBLOCK), closeOnDealloc: true)
    let now = noon
    log("once", to: try FileLogHandler(path: path, now: { now }))
    let line = String(decoding: reader.availableData, as: UTF8.self)
    #expect(line == "2026-01-31T12:00:00.000Z info x: once\n")
    #expect(try files(folder) == ["run.log"])
  }
}
