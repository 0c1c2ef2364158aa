import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite(.programs) struct CaptureUploadTests {
  /// What Toast answers when it has a capture.
  private static let taken = #"{"error_present":false,"error_number":0}"#
  private static let token = "338d2c23d2308bfced6117b3e9d63180d5594c8a9f5b8bd5a050914c239f358d"

  private static func settings(attempts: Int = 3) -> CaptureUpload.Settings {
    var settings = CaptureUpload.Settings()
    settings.attempts = attempts
    return settings
  }

  private static func time() -> TestClock {
    TestClock(.movedBySleep(), at: Instant(milliseconds: 1_714_978_230_750))
  }

  /// Sends the captures of a sample and gives what happened, word by word.
  private func send(
    _ sample: CaptureSample, to url: String, _ settings: CaptureUpload.Settings = settings()
  ) async throws -> [String] {
    try await sample.withCatalogue { catalogue in
      let events = Locked<[String]>([])
      let upload = try CaptureUpload(
        catalogue, to: url, settings: settings, clock: Self.time().clock)
      let outcomes = try await upload.run(try await catalogue.list()) { _, event in
        let word: String? =
          switch event {
          case .started: "started"
          case .waiting(let pause): "waits \(pause)"
          case .progress(let share): share == 1 ? "1.0" : nil
          case .succeeded: "succeeded"
          case .failed(let error): "failed: \(error.message)"
          }
        if let word { events.withLock { $0.append(word) } }
      }
      let ends = outcomes.map { "\($0.attempts) tries, status \($0.status ?? 0)" }
      return events.withLock { $0 } + ends
    }
  }

  private func jobs(_ sample: CaptureSample) async throws -> [String] {
    try await sample.withCatalogue { catalogue in
      try await catalogue.store.query(Query("upload_job")).features.reduce(into: []) { jobs, row in
        let status = row[Column<Int>("http_status")] ?? 0
        jobs.append("\(row[Column<String>("state")] ?? "?") \(status)")
      }
    }
  }

  @Test func `in compatibility mode the body is that of old programs, byte by byte`() async throws {
    var settings = CaptureUpload.Settings()
    settings.usesOldBoundary = true
    let info = CaptureInfo(
      token: Self.token, kind: .image, longitude: 0, latitude: 0, createdAt: 0)
    let form = try CaptureUpload.form(
      info, media: Array("JPEG-BYTES".utf8), thumbnail: Array("PNG-BYTES".utf8),
      info: Array(#"{"token":"\#(Self.token)"}"#.utf8), geodata: Array(#"{"points":[]}"#.utf8),
      settings)
    let server = try LoopbackServer { _ in .text(200, Self.taken) }
    _ = try await HTTPClient().send(
      HTTPRequest(
        .post, server.address, fields: ["Content-Type": form.contentType],
        body: .multipart(form)))
    let request = try #require(server.requests.first)
    #expect(request["Content-Type"] == "multipart/form-data; boundary=0xKhTmLbOuNdArY")
    #expect(request.body.count == 813)
    #expect(
      SHA256.hex(request.body)
        == "2ee5be1108541ce615ce14f9b70ce8e598851b97d959f282b0743ca6353c0ea5")
  }

  @Test func `a capture that the server takes is uploaded, and stored there the same`()
    async throws
  {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    let receiver = Locked(CaptureReceiver())
    let received = Locked<[CaptureReceiver.Received]>([])
    let server = try LoopbackServer { request in
      let reply = receiver.withLock {
        $0.receive(contentType: request["Content-Type"] ?? "", body: request.body)
      }
      if let capture = reply.capture { received.withLock { $0.append(capture) } }
      return .response(reply.status, body: reply.body)
    }
    var settings = Self.settings()
    settings.fields = [(name: "email", value: "a@example.org")]
    #expect(
      try await send(sample, to: server.address + "/upload", settings) == [
        "started", "1.0", "succeeded", "1 tries, status 200",
      ])
    #expect(try await jobs(sample) == ["succeeded 200"])
    let counts = try await sample.withCatalogue { catalogue in
      try await catalogue.store.query(Query("upload_job")).features.reduce(into: []) { all, row in
        all += [row[Column<Int>("bytes_sent")], row[Column<Int>("bytes_total")]]
      }
    }
    let length = server.requests[0].body.count
    #expect(counts == [length, length])
    var form = try UploadForm(contentType: server.requests[0]["Content-Type"] ?? "")
    try form.take(server.requests[0].body[...])
    #expect(
      form.parts.map(\.name) == ["email", "media_file", "thumbnail", "capture_info", "geo_data"])
    let other = try CaptureSample()
    let capture = try #require(received.withLock { $0.first })
    try await other.withNewCatalogue { _ = try await $0.store(capture) }
    let sent = try await sample.withCatalogue { catalogue in
      let sent = try await catalogue.list()[0]
      #expect(sent.info.uploadedAt == 1_714_978_230.75)
      return (sent.info, try await catalogue.geodata(of: sent))
    }
    try await other.withCatalogue { catalogue in
      let stored = try await catalogue.list()[0]
      var info = sent.0
      info.uploadedAtStated = 1_344_352_275.333697
      #expect(stored.info == info)
      #expect(try await catalogue.geodata(of: stored) == sent.1)
    }
    #expect(try await other.counts() == sample.counts())
  }

  @Test(arguments: [
    (500, "no", 3, "the server answered with the status 500"),
    (503, "{\"message\": \"later\"}", 3, "the server answered with the status 503: later"),
    (404, "", 1, "the server answered with the status 404"),
    (200, "{\"error\": \"true\", \"message\": \"full\"}", 3, "the server refused it: full"),
    (200, "{\"token\"", 3, "the server's answer is no JSON object"),
    (200, "[]", 3, "the server's answer is no JSON object"),
    (200, "{\"token\": \"other\"}", 3, "the server answered for another capture"),
    (200, "{}", 3, "the server's answer does not say that it has the capture"),
    (200, "{\"error\": false}", 3, "the server's answer does not say that it has the capture"),
    (
      200, "{\"error_present\":true,\"error_number\":4,\"error_string\":\"no files\"}", 3,
      "the server refused it: no files"
    ),
    (200, "{\"error_present\":true,\"error_number\":4}", 3, "the server refused it: error 4"),
  ])
  func `what a server does not take is not uploaded`(
    _ status: Int, _ body: String, _ tries: Int, _ message: String
  ) async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    let server = try LoopbackServer { _ in .text(status, body) }
    let events = try await send(sample, to: server.address)
    #expect(events.last == "\(tries) tries, status \(status)")
    #expect(events.dropLast().last == "failed: \(message)")
    #expect(events.count { $0 == "started" } == tries)
    #expect(server.requests.count == tries)
    #expect(try await jobs(sample) == ["failed \(status)"])
    try await sample.withCatalogue { catalogue in
      let info = try await catalogue.list()[0].info
      #expect(info.uploadedAtStated == 1_344_352_275.333697)
    }
  }

  @Test func `a server that is busy once gets it the second time`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    let count = Locked(0)
    let server = try LoopbackServer { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number == 1 ? .nothing : .text(200, Self.taken)
    }
    let events = try await send(sample, to: server.address)
    #expect(events.suffix(2) == ["succeeded", "2 tries, status 200"])
  }

  @Test func `an upload waits longer each time, and as long as the server asks`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    let fields = Locked<[[[String]]]>([[], [["Retry-After", "90"]], [["Retry-After", "1"]]])
    let server = try LoopbackServer { _ in
      let next = fields.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      return next.map { .text(429, "", fields: $0) } ?? .text(200, Self.taken)
    }
    let events = try await send(sample, to: server.address, Self.settings(attempts: 4))
    #expect(
      events.filter { $0.hasPrefix("waits") } == [0.5, 90.0, 2.0].map { "waits \($0) seconds" })
    #expect(events.last == "4 tries, status 200")
  }

  @Test func `a capture that lacks a file is not sent`() async throws {
    let sample = try CaptureSample()
    try sample.addSecondForm()
    _ = try await sample.load()
    let server = try LoopbackServer { _ in .text(200, Self.taken) }
    let token = CaptureSample.second
    #expect(
      try await send(sample, to: server.address) == [
        "failed: \(token) lacks \(token)/\(token).png, and only whole captures are uploaded",
        "0 tries, status 0",
      ])
    #expect(server.requests.isEmpty)
    #expect(try await jobs(sample) == ["failedToStart 0"])
  }

  @Test func `cancelling stops the transfer and the job`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    let server = try LoopbackServer { _ in .silence }
    let task = Task { try await send(sample, to: server.address) }
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    task.cancel()
    await #expect(throws: FieldpackError.self) { try await task.value }
    #expect(try await jobs(sample) == ["stopped 0"])
  }

  @Test func `an address that is none is told, and the job did not start`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    await #expect(throws: FieldpackError.self) { try await send(sample, to: "ftp://x/") }
    #expect(try await jobs(sample) == ["failedToStart 0"])
  }

  @Test(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
  func `Python's parser of mails finds the same bytes in the parts`() async throws {
    let sample = try CaptureSample()
    try sample.addVideo()
    _ = try await sample.load()
    let server = try LoopbackServer { _ in .text(200, Self.taken) }
    _ = try await send(sample, to: server.address)
    let request = try #require(server.requests.first)
    let mail = sample.folder.file("mail")
    let head = "Content-Type: \(request["Content-Type"] ?? "")\r\n\r\n"
    try Data(Array(head.utf8) + request.body).write(to: mail)
    let script = """
      import email, hashlib, sys
      with open(sys.argv[1], "rb") as f: mail = email.message_from_bytes(f.read())
      for p in mail.get_payload():
        print(p.get_content_type(), p.get_filename(),
              hashlib.sha256(p.get_payload(decode=True)).hexdigest())
      """
    let token = CaptureSample.video
    let output = try Programs.output(Programs.python ?? "", ["-c", script, mail.path])
    let lines = output.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(2) == [
        "video/quicktime \(token).mov \(SHA256.hex(CaptureSample.media))",
        "image/png \(token).png \(SHA256.hex(CaptureSample.picture))",
      ])
    let folder = sample.folder.file("out").path
    let names = ["capture-info.json", "\(token).json"]
    try await sample.withCatalogue { catalogue in
      let capture = try await catalogue.list()[0]
      var sent = capture
      sent.info.uploadedAtStated = 1_344_352_275.333697
      _ = try await catalogue.export([sent], to: folder)
    }
    #expect(
      try lines.suffix(2)
        == names.map { name in
          let bytes = try [UInt8](
            Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(token)/\(name)")))
          return "application/json \(name) \(SHA256.hex(bytes))"
        })
  }
}
