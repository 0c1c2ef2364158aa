import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct SplitFileNamesTests {
  @Test func `names are safe on every system, and no two are alike`() {
    var names = SplitFileNames(fileExtension: "csv")
    let texts = [
      "a/b", "a:b", "A", "a", "", "..", ".x", "CON", "con.a", "lpt1", "COM10", "x.", "y ", "null",
      "tab\there", "safe\u{202E}txt", "\u{1F469}\u{200D}\u{1F33E}", "e\u{301}", "\u{E9}", "-5",
    ]
    #expect(names.name(for: .null) == "null.csv")
    #expect(
      texts.map { names.name(for: .text($0)) } == [
        "a_b.csv", "a_b-2.csv", "A.csv", "a-2.csv", "empty.csv", "__.csv", "_x.csv", "_CON.csv",
        "_con.a.csv", "_lpt1.csv", "COM10.csv", "x_.csv", "y_.csv", "null-2.csv", "tab_here.csv",
        "safe_txt.csv", "\u{1F469}\u{200D}\u{1F33E}.csv", "e\u{301}.csv", "\u{E9}-2.csv", "-5.csv",
      ])
  }

  @Test func `numbers, truth values, dates and blobs are written out`() throws {
    var names = SplitFileNames(fileExtension: "csv")
    let values: [Value] = [
      3, -2.5, 4.0, true, .date(try #require(CalendarDate("2024-05-01"))),
      .dateTime(try #require(Instant("2024-05-01T10:00:00Z"))), .blob([0, 255]),
    ]
    #expect(
      values.map { names.name(for: $0) } == [
        "3.csv", "-2.5.csv", "4.csv", "true.csv", "2024-05-01.csv", "2024-05-01T10_00_00.000Z.csv",
        "00ff.csv",
      ])
  }

  @Test func `a long value is cut between characters, and what is cut alike gets a number`() {
    var names = SplitFileNames(fileExtension: "csv")
    let long = String(repeating: "\u{1F468}\u{200D}\u{1F469}", count: 100)
    let kept = String(repeating: "\u{1F468}\u{200D}\u{1F469}", count: 200 / 11)
    #expect(names.name(for: .text(long)) == kept + ".csv")
    #expect(names.name(for: .text(long + "2")) == kept + "-2.csv")
  }
}

@Suite struct SplitExportTests {
  private let folder: TemporaryFolder
  private var output: URL { folder.file("out") }

  init() throws { folder = try TemporaryFolder() }

  /// Points with the values in the column `kind`, in that order.
  private func workspace(_ kinds: [String]) async throws -> Workspace {
    var text = ""
    for (number, kind) in kinds.enumerated() {
      text +=
        "{\"type\":\"Feature\",\"id\":\(number),\"properties\":{\"kind\":\(kind),\"n\":\(number)},"
        + "\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(number),50]}}\n"
    }
    let file = try folder.write(text, to: "points.geojsonl")
    var options = FileStore.Options()
    options.cache = .private
    return try await Workspace.open(file: file.path, options: options)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: output.path).sorted()
  }

  @Test func `each value gets a file with its features`() async throws {
    let workspace = try await workspace(["\"b\"", "\"a\"", "null", "\"b\"", "\"A\"", "\"b\""])
    let query = Query(where: Column<Int64>("n") < 5).select("n")
    let report = try await workspace.exportFeatures(
      query, splitBy: "kind", into: output.path, as: .csv)
    #expect(
      report.files == [
        .init(name: "null.csv", value: .null, count: 1),
        .init(name: "A.csv", value: "A", count: 1),
        .init(name: "a-2.csv", value: "a", count: 1),
        .init(name: "b.csv", value: "b", count: 2),
      ])
    #expect(report.layers == [.init(store: "points", layer: "points", count: 5)])
    #expect(try names() == ["A.csv", "a-2.csv", "b.csv", "null.csv"])
    #expect(
      try String(contentsOf: output.appendingPathComponent("b.csv"), encoding: .utf8)
        == "fid,n,kind,wkt\r\n0,0,b,POINT (0 50)\r\n3,3,b,POINT (3 50)\r\n")
    await workspace.close()
  }

  @Test(arguments: Format.written.filter { ![.svg, .html].contains($0) })
  func `every format but maps is split`(format: Format) async throws {
    let workspace = try await workspace(["2", "1", "2"])
    let report = try await workspace.exportFeatures(
      Query(), splitBy: "kind", into: output.path, as: format)
    #expect(report.files.map(\.count) == [1, 2])
    for file in report.files {
      let written = try await Workspace.open(file: output.appendingPathComponent(file.name).path)
      #expect(try await written.count(Query()) == file.count)
      await written.close()
    }
    await workspace.close()
  }

  @Test func `what cannot be split is refused, and no folder is made`() async throws {
    let workspace = try await workspace(["1", "2", "3"])
    func refusal(
      _ query: Query, _ column: String = "kind", _ format: Format = .csv
    ) async -> FieldpackError.Code? {
      do throws(FieldpackError) {
        try await workspace.exportFeatures(query, splitBy: column, into: output.path, as: format)
        return nil
      } catch { return error.code }
    }
    #expect(await refusal(Query().limit(2)) == .invalidArgument)
    #expect(await refusal(Query().nearest(to: .point(x: 1, y: 1))) == .invalidArgument)
    #expect(await refusal(Query(), "kind", .html) == .invalidArgument)
    #expect(await refusal(Query(), "fid") == .invalidArgument)
    #expect(await refusal(Query(), "kin") == .notFound)
    #expect(!FileManager.default.fileExists(atPath: output.path))
    await workspace.close()
  }

  @Test func `too many values are told before a feature is written`() async throws {
    let workspace = try await workspace(["1", "2", "2", "3", "4"])
    var options = ExportOptions()
    options.progress = { _ in Issue.record("a feature was written") }
    let run = ExportRun(workspace: workspace, query: Query(), options: options)
    let format = try #require(Format.csv.file.exported as? any StreamedFormat)
    let error = await #expect(throws: FieldpackError.self) {
      try await run.split(as: format, by: "kind", into: output.path, atMost: 2)
    }
    #expect(
      error?.message == "column 'kind' has 4 values, and 2 files are written at most")
    #expect(!FileManager.default.fileExists(atPath: output.path))
    await workspace.close()
  }

  @Test func `cancelling leaves no file`() async throws {
    let workspace = try await workspace(["1", "2", "3"])
    let target = output
    let code = await Task { () -> FieldpackError.Code? in
      var options = ExportOptions()
      options.progress = { _ in withUnsafeCurrentTask { $0?.cancel() } }
      do throws(FieldpackError) {
        try await workspace.exportFeatures(
          Query(), splitBy: "kind", into: target.path, options: options)
        return nil
      } catch { return error.code }
    }.value
    #expect(code == .interrupted)
    #expect(!FileManager.default.fileExists(atPath: output.path))
    await workspace.close()
  }

  @Test func `files that exist stay, or are replaced where they may be`() async throws {
    let workspace = try await workspace(["1", "2"])
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: false)
    for name in ["2.csv", "other.txt"] { _ = try folder.write(name, to: "out/" + name) }
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.exportFeatures(Query(), splitBy: "kind", into: output.path, as: .csv)
    }
    #expect(error?.message == "\(output.path)/2.csv exists")
    #expect(error?.advice == .overwrite)
    #expect(try names() == ["2.csv", "other.txt"])
    var options = ExportOptions()
    options.overwrite = true
    try await workspace.exportFeatures(
      Query(), splitBy: "kind", into: output.path, as: .csv, options: options)
    #expect(try names() == ["1.csv", "2.csv", "other.txt"])
    #expect(
      try String(contentsOf: output.appendingPathComponent("2.csv"), encoding: .utf8)
        == "fid,kind,n,wkt\r\n1,2,1,POINT (1 50)\r\n")
    await workspace.close()
  }
}

@Suite struct PendingFolderTests {
  @Test func `a file that cannot get its name takes back those before it`() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] { _ = try folder.write("old", to: name) }
    let leftover = ".fieldpack-0123456789abcdef/0"
    try FileManager.default.createDirectory(
      at: folder.file(leftover), withIntermediateDirectories: true)
    _ = try folder.write("x", to: leftover + "/left")
    do {
      let pending = try PendingFolder(target: folder.url.path, overwrite: true)
      for name in ["a", "b", "c"] {
        try Data("new".utf8).write(to: URL(fileURLWithPath: pending.place(for: name)))
      }
      try FileManager.default.createDirectory(
        at: folder.file("c"), withIntermediateDirectories: false)
      #expect(throws: FieldpackError.self) { try pending.commit() }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names.sorted() == ["a", "b", "c"])
    for name in ["a", "b"] {
      #expect(try String(contentsOf: folder.file(name), encoding: .utf8) == "old")
    }
  }

  @Test func `a journal that would be played into a new file stops it`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("x", to: "a.gpkg-wal")
    let pending = try PendingFolder(target: folder.url.path, overwrite: true)
    let error = #expect(throws: FieldpackError.self) { try pending.place(for: "a.gpkg") }
    #expect(error?.code == .busy)
  }
}
