import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackTestSupport
import Testing

@Suite struct MotionImportTests {
  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func `the documented bodies are a session of their device`() async throws {
    let package = try FieldFile()
    let files = [
      try package.file("start.json", MotionBodies.start.replacing(",", with: ",\n  ")),
      try package.file("data.json", MotionBodies.data.replacing(",\"", with: ",\n\"")),
    ]
    let reports = try await package.withStore { store in
      [try await store.importMotion(from: files), try await store.importMotion(from: files)]
    }
    var first = MotionImportReport()
    (first.sessions, first.batches, first.samples) = (1, 1, 5)
    var second = MotionImportReport()
    second.known = 1
    #expect(reports == [first, second])
    #expect(
      try package.rows(
        "SELECT e.uuid, d.name, e.started_at_unix FROM daco_session e, daco_device d")
        == ["00000000-0000-0000-0000-000000000000|iPhone|1719634844.78179"])
  }

  @Test func `a log gives what its server took`() async throws {
    let package = try FieldFile()
    let a = Self.text(try MadeMotion.rising(session: "a", at: 10, from: 0))
    let b = Self.text(try MadeMotion.rising(session: "b", at: 20, from: 0))
    let quoted = a.replacing("\"", with: "\\\"")
    let log = try package.file(
      "log.jsonl",
      """
      {"time":9,"status":503,"body":\(MotionBodies.start)}
      {"time":9.5,"status":200,"response":"a","body":\(MotionBodies.start)}

      {"time":10.25,"status":200,"body":"\(quoted)"}
      {"time":10.25,"status":401,"body":\(b)}
      {"time":11,"status":200,"body":\(a)}
      \(b)
      """)
    let reports = try await package.withStore { store in
      [
        try await store.importMotion(from: [log], rate: 25),
        try await store.importMotion(from: [log], rate: 25),
      ]
    }
    var report = MotionImportReport()
    (report.sessions, report.batches, report.samples, report.refused) = (2, 3, 15, 2)
    #expect(reports[0] == report)
    (report.sessions, report.batches, report.samples, report.known) = (0, 0, 0, 3)
    #expect(reports[1] == report)
    #expect(
      try package.rows(
        "SELECT uuid, name, started_at_unix, sample_rate_hz FROM daco_session e "
          + "JOIN daco_device d ON d.id = device_id ORDER BY e.id")
        == ["a|iPhone|9.5|25.0", "b||20.0|25.0"])
    #expect(
      try package.rows("SELECT session_id, sent_at_unix, received_at_unix FROM daco_batch")
        == ["1|10.0|10.25", "1|10.0|11.0", "2|20.0|20.0"])
  }

  @Test func `a line that cannot be read is named, or passed over where asked`() async throws {
    let package = try FieldFile()
    let a = Self.text(try MadeMotion.rising(session: "a", at: 10, from: 0))
    let log = try package.file(
      "log.jsonl", "\(a)\n\(a.replacing("0.0", with: "nan"))\n{\"time\":-1,\"body\":\(a)}\n")
    try await package.withStore { store in
      do {
        _ = try await store.importMotion(from: [log])
        Issue.record("nothing was thrown")
      } catch {
        #expect(
          "\(error)"
            == "\(log):2: the body is not JSON: byte 66: expected a value")
      }
      let report = try await store.importMotion(from: [log], skipsErrors: true)
      #expect(report.batches == 1 && report.skipped == 2)
      #expect(report.skippedRequests.map(\.position.line) == [2, 3])
      #expect(
        report.skippedRequests.map(\.reason) == [
          "the body is not JSON: byte 66: expected a value",
          "time is no moment of the years 1970 to 9999",
        ])
    }
    #expect(try package.rows("SELECT count(*) FROM daco_sample") == ["5"])
  }

  @Test(arguments: [
    (#""401""#, "a text"), ("401.0", "a number"), ("true", "true or false"), ("[200]", "an array"),
  ])
  func `a status that is no whole number is an error`(
    status: String, kind: String
  ) async throws {
    let package = try FieldFile()
    let body = Self.text(try MadeMotion.rising(session: "a", at: 10, from: 0))
    let log = try package.file("log.jsonl", #"{"status":\#(status),"body":\#(body)}"# + "\n")
    try await package.withStore { store in
      do throws(FieldpackError) {
        _ = try await store.importMotion(from: [log])
        Issue.record("nothing was thrown")
      } catch {
        #expect(error.code == .invalidData)
        #expect(error.message == "status is \(kind), not a whole number")
      }
    }
  }

  @Test func `a request that got no answer brought nothing`() async throws {
    let package = try FieldFile()
    let body = Self.text(try MadeMotion.rising(session: "a", at: 10, from: 0))
    let log = try package.file("log.jsonl", #"{"status":null,"body":\#(body)}"# + "\n")
    let report = try await package.withStore { store in
      try await store.importMotion(from: [log])
    }
    var expected = MotionImportReport()
    expected.refused = 1
    #expect(report == expected)
  }

  @Test func `a start without a session is counted`() async throws {
    let package = try FieldFile()
    let log = try package.file("log.jsonl", "\(MotionBodies.start)\n\(MotionBodies.start)\n")
    let report = try await package.withStore { store in
      try await store.importMotion(from: [log])
    }
    #expect(report.startsWithoutSession == 2 && report.sessions == 0)
  }

  @Test func `hostile logs are errors and leave the file as it was`() async throws {
    let package = try FieldFile()
    let logs = [
      String(repeating: "[", count: 5000), "\u{0}\u{0}\n", "{\"body\":7}\n",
      String(repeating: " ", count: 3 << 20), String(repeating: "x", count: 3 << 20),
    ]
    try await package.withStore { store in
      for (index, text) in logs.enumerated() {
        let log = try package.file("log\(index).jsonl", text)
        await #expect(throws: FieldpackError.self) {
          try await store.importMotion(from: [log])
        }
      }
    }
    #expect(try package.rows("SELECT table_name FROM gpkg_contents") == [])
  }
}
