import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Captures that come in pieces.
  @Suite(.programs) struct ResumableUploadTests {
    private static let capture = SampleCapture(media: SampleCapture.movie(300_000))

    private func put(
      _ server: TestServer, _ bytes: ArraySlice<UInt8>, of whole: [UInt8] = capture.body,
      name: String = "a", _ more: HTTPFields = [:]
    ) async throws -> TestServer.Answer {
      var fields = more
      fields["Content-Type"] = fields["Content-Type"] ?? SampleCapture.type
      fields["Content-Range"] =
        "bytes \(bytes.startIndex)-\(bytes.endIndex - 1)/\(whole.count)"
      return try await server.send("PUT", "/uploads/\(name)", Array(bytes), fields: fields)
    }

    private func receipt(_ server: TestServer) async throws -> JSONValue {
      let key = try await CaptureCatalogue(server.store).capture("c1").key
      func file(_ role: String, _ name: String, _ type: String, _ bytes: [UInt8]) -> JSONValue {
        [
          "role": .text(role), "file_name": .text(name), "content_type": .text(type),
          "byte_count": JSONValue(bytes.count), "sha256": .text(SHA256.hex(bytes)),
        ]
      }
      return [
        "id": "a", "state": "complete", "token": "c1",
        "record": ["layer": "capture", "key": .text("\(key)")],
        "media": [
          file("media", "c1.mov", "video/quicktime", Self.capture.media),
          file("thumbnail", "c1.png", "image/png", Self.capture.thumbnail),
        ],
      ]
    }

    private static let once = [
      "capture": 1, "capture_point": 2, "capture_track": 1, "media": 2,
    ]

    private static func base64(_ bytes: some Sequence<UInt8>) -> String {
      Base64.encode(SHA256.digest(Array(bytes)))
    }

    @Test func `pieces become a capture, and the receipt lists what is stored`() async throws {
      let server = try await TestServer(isWritable: true)
      let body = Self.capture.body
      let first = try await put(server, body[..<100_000])
      #expect(first.status == 202)
      let state = #"{"id":"a","state":"incomplete","offset":100000,"length":\#(body.count)}"#
      #expect(first.text == state)
      let head = try await server.get("/uploads/a", "HEAD")
      #expect(head.fields["Upload-Offset"] == "100000")
      #expect(head.fields["Upload-Length"] == "\(body.count)")
      #expect(try await server.get("/uploads/a").text == state)
      #expect(try await server.store.layers().map(\.id) == ["wells"])
      // One that went on, but whose answer was lost: the bytes come again.
      _ = try await put(server, body[100_000..<200_000])
      #expect(try await put(server, body[100_000..<200_000]).fields["Upload-Offset"] == "200000")
      let last = try await put(server, body[200_000...])
      #expect(last.status == 201)
      #expect(try await last.json == receipt(server))
      #expect(last.fields["Location"] == "\(server.address)/captures/c1")
      // Repeated in whole and in part, and asked for.
      #expect(try await put(server, body[200_000...]).text == last.text)
      #expect(try await put(server, body[...]).text == last.text)
      #expect(try await server.get("/uploads/a").text == last.text)
      #expect(try await server.captureRows() == Self.once)
      // The same capture under another name.
      #expect(try await put(server, body[...], name: "b").status == 201)
      #expect(try await server.captureRows() == Self.once)
      await server.close()
    }

    @Test func `digests are checked, of pieces and of the whole`() async throws {
      let server = try await TestServer(isWritable: true)
      let body = Self.capture.body
      let piece = body[..<1000]
      let wrong = try await put(
        server, piece, ["Content-Digest": "sha-256=:\(Self.base64([1])):"])
      #expect(wrong.status == 400)
      #expect(try wrong.json["detail"] == "the bytes are not those of Content-Digest")
      #expect(try await server.get("/uploads/a", "HEAD").fields["Upload-Offset"] == "0")
      let right = try await put(
        server, piece, ["Content-Digest": "sha-512=:AA==:, sha-256=:\(Self.base64(piece)):"])
      #expect(right.fields["Upload-Offset"] == "1000")
      let broken = try await put(server, body[1000...], ["Digest": "SHA-256=x"])
      #expect(try broken.json["detail"] == "Digest is no SHA-256 digest in base 64")
      let other = try await put(server, body[1000...], ["Digest": "SHA-256=\(Self.base64([1]))"])
      #expect(
        try other.json["detail"] == "the upload has another SHA-256 digest than it should")
      // Nothing is left of bytes that are wrong.
      #expect(try await server.get("/uploads/a").status == 404)
      let whole = try await put(
        server, body[...], ["Repr-Digest": "sha-256=:\(Self.base64(body)):"])
      #expect(whole.status == 201)
      // The name stands for what was stored under it.
      let again = try await put(server, body[...], ["Digest": "SHA-256=\(Self.base64([1]))"])
      #expect(again.status == 409)
      #expect(try await put(server, (body + [1])[...], of: body + [1]).status == 409)
      #expect(try await server.captureRows() == Self.once)
      await server.close()
    }

    @Test func `what does not fit is refused with what is there`() async throws {
      let server = try await TestServer(isWritable: true)
      let body = Self.capture.body
      _ = try await put(server, body[..<1000])
      let gap = try await put(server, body[2000...])
      #expect("\(gap.status) \(gap.fields["Upload-Offset"] ?? "")" == "409 1000")
      let longer = try await put(server, body[1000..<2000], of: body + [1])
      #expect(longer.status == 409)
      let form: HTTPFields = ["Content-Type": "multipart/form-data; boundary=other"]
      #expect(try await put(server, body[1000...], form).status == 409)
      let range: HTTPFields = ["Content-Type": SampleCapture.type, "Content-Range": "bytes 0-5/9"]
      #expect(try await server.send("PUT", "/uploads/a", [1, 2], fields: range).status == 400)
      #expect(
        try await put(server, body[1000...], ["Content-Type": "text/plain"]).status == 400)
      #expect(try await put(server, body[...], name: "..%2Fa").status == 400)
      #expect(try await put(server, body[...], name: "a.b").status == 400)
      let huge: HTTPFields = [
        "Content-Type": SampleCapture.type, "Content-Range": "bytes 0-0/99999999999",
      ]
      #expect(try await server.send("PUT", "/uploads/b", [1], fields: huge).status == 413)
      // What is no capture is forgotten.
      let bad = Array(body.dropLast(9))
      #expect(try await put(server, bad[...], of: bad, name: "c").status == 400)
      #expect(try await server.get("/uploads/c").status == 404)
      #expect(try await server.get("/uploads/a", "DELETE").status == 204)
      #expect(try await server.get("/uploads/a").status == 404)
      #expect(!FileManager.default.fileExists(atPath: server.store.path + "-uploads"))
      await server.close()
    }

    @Test func `an upload that was whole when the server ended is stored when it is asked for`()
      async throws
    {
      let server = try await TestServer(isWritable: true)
      let body = Self.capture.body
      _ = try await put(server, body[..<1000])
      // As a server leaves it that is killed between the last byte and the transaction.
      let part = URL(fileURLWithPath: server.store.path + "-uploads/a.part")
      try Data(body).write(to: part)
      #expect(try await server.get("/uploads/a", "HEAD").fields["Upload-Offset"] == "\(body.count)")
      let first = try await server.get("/uploads/a")
      #expect(first.status == 201)
      #expect(try await first.json == receipt(server))
      // Or between the transaction and the note of it.
      let note = URL(fileURLWithPath: server.store.path + "-uploads/a.json")
      let text = try String(decoding: Data(contentsOf: note), as: UTF8.self)
      try Data(text.replacing(#","token":"c1""#, with: "").utf8).write(to: note)
      try Data(body).write(to: part)
      let again = try await server.get("/uploads/a")
      #expect(try again.json == first.json)
      #expect(try await server.captureRows() == Self.once)
      await server.close()
    }

    @Test func `a later request takes an upload over from an earlier one`() throws {
      let folder = try TemporaryFolder()
      let uploads = ResumableUploads(beside: folder.file("f.gpkg").path)
      func piece(_ range: String) throws -> UploadPiece {
        try UploadPiece(
          ServerRequest(
            "PUT", ["uploads", "a"],
            fields: ["Content-Type": SampleCapture.type, "Content-Range": range]))
      }
      func take(_ receiver: PieceReceiver, _ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { receiver.take($0) }?.status
      }
      let hanging = try PieceReceiver(piece("bytes 0-9/10"), of: "a", uploads)
      #expect(take(hanging, [0, 1, 2]) == nil)
      let next = try PieceReceiver(piece("bytes 2-9/10"), of: "a", uploads)
      #expect(take(hanging, [9, 9]) == 409)
      #expect(take(next, [2, 3]) == nil)
      #expect(throws: FieldpackError.self) { try hanging.finish() }
      let file = URL(fileURLWithPath: uploads.path(of: "a"))
      #expect(try Array(Data(contentsOf: file)) == [0, 1, 2, 3])
      #expect(take(next, [UInt8](repeating: 4, count: 7)) == 400)
    }

    @Test func `nobody cuts an upload while it is stored, and one request stores it`() async throws
    {
      let server = try await TestServer(isWritable: true)
      let body = Self.capture.body
      let uploads = ResumableUploads(beside: server.store.path)
      var options = ServerDocuments.Options(title: "field")
      options.isWritable = true
      let published = PublishedStore(server.store, options) { .zero }
      let router = ServerRouter(published, publicBase: nil, hosts: nil, logger: .silent)
      @Sendable func ask(_ method: String, _ range: String? = nil) async -> String {
        var head = ServerRequest(
          method, ["uploads", "a"], fields: ["Content-Type": SampleCapture.type])
        head.fields["Content-Range"] = range
        head.receiver = router.receiver(of: head)
        if method == "PUT" { _ = body.withUnsafeBytes { head.receiver?.take($0) } }
        let answer = await router.answer(head)
        return "\(answer.status) \(answer.fields["Upload-Offset"] ?? "")"
      }
      let all = "bytes 0-\(body.count - 1)/\(body.count)"
      let gate = DispatchSemaphore(value: 0)
      let isHeld = Locked(false)
      async let holding: Void = server.store.write {
        (_: GeoPackageWriter) throws(FieldpackError) in
        isHeld.withLock { $0 = true }
        gate.wait()
      }
      while !isHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
      async let first = ask("PUT", all)
      let taken = try router.devices.uploads
      while !taken.isBeingStored("a") { try await Task.sleep(for: .milliseconds(1)) }
      let here = "\(body.count)"
      #expect(await ask("PUT", "bytes 0-0/\(body.count)") == "409 \(here)")
      #expect(await ask("PUT", all) == "409 \(here)")
      #expect(await ask("DELETE") == "409 ")
      #expect(await ask("GET") == "200 \(here)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: uploads.path(of: "a"))) == Data(body))
      gate.signal()
      try await holding
      #expect(await first == "201 ")
      #expect(await ask("PUT", all) == "200 ")
      #expect(await ask("DELETE") == "204 ")
      #expect(try await server.captureRows() == Self.once)
      await server.close()
    }

    @Test func `a piece that another request writes is not stored`() async throws {
      let folder = try TemporaryFolder()
      let uploads = ResumableUploads(beside: folder.file("f.gpkg").path)
      let piece = try UploadPiece(
        ServerRequest(
          "PUT", ["uploads", "a"],
          fields: ["Content-Type": SampleCapture.type, "Content-Range": "bytes 0-2/3"]))
      let first = try PieceReceiver(piece, of: "a", uploads)
      _ = [UInt8]([1, 2, 3]).withUnsafeBytes { first.take($0) }
      try first.finish()
      let record = try #require(uploads.record(of: "a"))
      // Until the first request has its answer, it alone stores the upload.
      #expect(!uploads.isWhole("a", record))
      let second = try PieceReceiver(piece, of: "a", uploads)
      for writer in [first.writer, second.writer] {
        let error = await #expect(throws: FieldpackError.self) {
          try await uploads.store("a", record, as: writer) {}
        }
        #expect(error?.message == "another request goes on with the upload")
      }
      _ = [UInt8]([4, 5, 6]).withUnsafeBytes { second.take($0) }
      try await uploads.store("a", record, as: second.writer) {
        #expect(uploads.isBeingStored("a"))
      }
      #expect(!uploads.isBeingStored("a"))
    }

    @Test func `what nobody goes on with goes, and all together is bounded`() throws {
      let folder = try TemporaryFolder()
      let now = Locked(Duration.seconds(Date().timeIntervalSince1970))
      let clock = FieldClock(
        wall: { now.withLock { $0 } }, uptime: { .zero }, sleep: { _ in })
      let limits = ResumableUploads.Limits(total: 1000, count: 3, age: 60)
      let uploads = ResumableUploads(
        beside: folder.file("f.gpkg").path, limits: limits, clock: clock)
      func begin(_ name: String, _ total: Int) throws -> PieceReceiver {
        try PieceReceiver(
          UploadPiece(
            ServerRequest(
              "PUT", ["uploads", name],
              fields: ["Content-Type": SampleCapture.type, "Content-Range": "bytes 0-0/\(total)"])),
          of: name, uploads)
      }
      _ = try begin("a", 600)
      #expect(throws: FieldpackError.self) { _ = try begin("b", 401) }
      _ = try begin("b", 400)
      _ = try begin("a", 600)
      uploads.remove("b")
      _ = try begin("c", 1)
      _ = try begin("d", 1)
      #expect(throws: FieldpackError.self) { _ = try begin("e", 1) }
      now.withLock { $0 += .seconds(61) }
      _ = try begin("e", 1000)
      #expect(uploads.record(of: "a") == nil)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.file("f.gpkg-uploads").path)
          .sorted() == ["e.json", "e.part"])
    }

    /// curl sends a file from an offset on.
    @Test func `curl goes on with an upload`() async throws {
      let server = try await TestServer(isWritable: true)
      let body = Self.capture.body
      let file = server.folder.file("form")
      try Data(body).write(to: file)
      _ = try await put(server, body[..<123_456])
      let head = try await Program.run("curl", ["-sSI", "\(server.address)/uploads/a"])
      #expect(head.output.contains("\r\nUpload-Offset: 123456\r\n"), "\(head)")
      let rest = try await Program.run(
        "curl",
        [
          "-sS", "-H", "Content-Type: \(SampleCapture.type)", "-C", "123456", "-T", file.path,
          "\(server.address)/uploads/a",
        ])
      #expect(try await JSONValueReader.read(rest.output) == receipt(server), "\(rest)")
      await server.close()
    }
  }
#endif
