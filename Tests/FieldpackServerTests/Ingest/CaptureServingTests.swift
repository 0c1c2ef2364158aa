import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Captures that devices bring, and that others read.
  @Suite(.programs) struct CaptureServingTests {
    @Test func `a capture is stored before it is answered, and once`() async throws {
      let server = try await TestServer(isWritable: true)
      let capture = SampleCapture()
      for _ in 0..<2 {
        let answer = try await server.upload(capture)
        #expect(answer.status == 200)
        #expect(answer.text == #"{"token":"c1"}"#)
        #expect(
          try await server.captureRows()
            == ["capture": 1, "capture_point": 2, "capture_track": 1, "media": 2])
      }
      await server.close()
      let left = try FileManager.default.contentsOfDirectory(atPath: server.folder.url.path)
      #expect(left == ["field.gpkg"])
    }

    @Test func `what is stored is read again, byte for byte`() async throws {
      let server = try await TestServer(isWritable: true)
      let capture = SampleCapture()
      _ = try await server.upload(capture)
      #expect(try await server.get("/captures/c1/media").body == capture.media)
      let thumbnail = try await server.get("/captures/c1/thumbnail")
      #expect(thumbnail.body == capture.thumbnail)
      #expect(thumbnail.fields["Content-Type"] == "image/png")
      let info = try await server.get("/captures/c1/info")
      #expect(info.text.contains(#""title":"Tür \"1\"""#))
      #expect(try info.json["weather"] == "dry")
      let geodata = try await server.get("/captures/c1/geodata")
      #expect(try geodata.json["device"] == "phone")
      let whole = try await server.get("/captures/c1").json
      #expect(try whole["info"] == info.json)
      #expect(try whole["geodata"] == geodata.json)
      #expect(
        whole["files"]
          == [
            [
              "href": .text("\(server.address)/captures/c1/media"), "role": "media",
              "file_name": "c1.mov", "content_type": "video/quicktime", "byte_count": 1_500_000,
              "sha256": .text(SHA256.hex(capture.media)),
            ],
            [
              "href": .text("\(server.address)/captures/c1/thumbnail"), "role": "thumbnail",
              "file_name": "c1.png", "content_type": "image/png",
              "byte_count": .integer(Int64(capture.thumbnail.count)),
              "sha256": .text(SHA256.hex(capture.thumbnail)),
            ],
          ])
      for path in ["/captures/c2", "/captures/c1/other", "/captures/c1/media/x"] {
        #expect(try await server.get(path).status == 404, "\(path)")
      }
      await server.close()
    }

    @Test func `captures are listed in pages, the newest first`() async throws {
      let server = try await TestServer(isWritable: true)
      #expect(
        try await server.get("/captures").text
          == #"{"captures":[],"numberMatched":0,"numberReturned":0}"#)
      for number in 1...3 {
        _ = try await server.upload(
          SampleCapture(token: "c\(number)", createdAt: number, media: SampleCapture.movie(50)))
      }
      var path: String? = "/captures?limit=2"
      var tokens: [[String]] = []
      while let next = path {
        let page = try await server.get(next).json
        guard case .array(let captures)? = page["captures"] else { throw TestFailure() }
        tokens.append(captures.compactMap { $0["token"]?.string })
        #expect(page["numberMatched"] == 3)
        path = page["next"]?.string.map { String($0.dropFirst(server.address.count)) }
      }
      #expect(tokens == [["c3", "c2"], ["c1"]])
      #expect(try await server.get("/captures?limit=0").status == 400)
      #expect(try await server.get("/captures?offset=-1").status == 400)
      await server.close()
    }

    @Test func `a server that only reads takes no capture`() async throws {
      let server = try await TestServer()
      #expect(try await server.upload(SampleCapture(media: SampleCapture.movie(99))).status == 403)
      #expect(try await server.send("PUT", "/uploads/a", [1]).status == 403)
      #expect(try await server.send("POST", "/motion", [1]).status == 403)
      let writable = try await TestServer(isWritable: true)
      let foreign = try await writable.send(
        "POST", "/upload", SampleCapture(media: [1]).body,
        fields: ["Content-Type": SampleCapture.type, "Origin": "https://other.example"])
      #expect(foreign.status == 403)
      let other = try await writable.get("/upload")
      #expect(other.status == 405)
      #expect(other.fields["Allow"] == "POST, OPTIONS")
      await server.close()
      await writable.close()
    }

    @Test func `forms that harm are refused, and leave nothing`() async throws {
      let server = try await TestServer(isWritable: true)
      let capture = SampleCapture(media: SampleCapture.movie(99))
      func answer(_ body: [UInt8], _ type: String = SampleCapture.type) async throws -> String {
        let answer = try await server.send(
          "POST", "/upload", body, fields: ["Content-Type": type])
        return "\(answer.status) \(answer.text)"
      }
      func refusal(_ message: String) -> String {
        #"400 {"error":"true","message":"\#(message)"}"#
      }
      let noBoundary = refusal("the request is no multipart/form-data with a boundary")
      #expect(try await answer(capture.body, "multipart/form-data") == noBoundary)
      #expect(try await answer(capture.body, "text/plain") == noBoundary)
      #expect(
        try await answer([], SampleCapture.type)
          == refusal("the body ends before its last boundary"))
      #expect(
        try await answer(Array(capture.body.dropLast(20)))
          == refusal("the body ends before its last boundary"))
      let many = (0..<10_000).map { ("a\($0)", "f", [UInt8(1)]) }
      #expect(
        try await answer(SampleCapture.body(many))
          == refusal("the body has more than 64 parts"))
      var parts = capture.parts
      parts[0].1 = "../c1.mov"
      #expect(
        try await answer(SampleCapture.body(parts))
          == refusal("'../c1.mov' is not of the capture 'c1'"))
      parts[0].1 = "c1.mov"
      parts[2].2 = Array(capture.info.replacing(#""token":"c1""#, with: #""token":"../c1""#).utf8)
      #expect(
        try await answer(SampleCapture.body(parts))
          == refusal("the token '../c1' cannot be the name of a folder"))
      parts[2].2 = [UInt8](repeating: 0x20, count: 1 << 20 | 1)
      #expect(
        try await answer(SampleCapture.body(parts))
          == refusal("the part 'capture_info' is longer than 1048576 bytes"))
      #expect(
        try await answer(SampleCapture.body(capture.parts + capture.parts))
          == refusal("the form does not have one file 'media_file'"))
      #expect(try await server.store.layers().map(\.id) == ["wells"])
      await server.close()
    }

    @Test func `media are given in parts`() async throws {
      let server = try await TestServer(isWritable: true)
      let capture = SampleCapture()
      _ = try await server.upload(capture)
      let tag = "\"\(SHA256.hex(capture.media))\""
      func ask(
        _ range: String?, _ more: HTTPFields = [:], _ method: String = "GET"
      ) async throws -> (String, [UInt8]) {
        var fields = more
        fields["Range"] = range
        let answer = try await server.get("/captures/c1/media", method, fields: fields)
        #expect([304, 416].contains(answer.status) || answer.fields["ETag"] == tag)
        return ("\(answer.status) \(answer.fields["Content-Range"] ?? "")", answer.body)
      }
      let part = try await ask("bytes=700000-1100000")
      #expect(part.0 == "206 bytes 700000-1100000/1500000")
      #expect(part.1 == Array(capture.media[700_000...1_100_000]))
      let end = try await ask("bytes=-5")
      #expect(end.0 == "206 bytes 1499995-1499999/1500000")
      #expect(end.1 == Array(capture.media.suffix(5)))
      #expect(try await ask("bytes=1500000-").0 == "416 bytes */1500000")
      let several = try await ask("bytes=0-1,5-6")
      #expect(several.0 == "200 ")
      #expect(several.1 == capture.media)
      let many = "bytes=" + (0..<500).map { "\($0)-" }.joined(separator: ",")
      #expect(try await ask(many).0 == "416 bytes */1500000")
      #expect(try await ask("bytes=0-0", ["If-Range": tag]).0 == "206 bytes 0-0/1500000")
      #expect(try await ask("bytes=0-0", ["If-Range": "\"other\""]).0 == "200 ")
      #expect(try await ask(nil, ["If-None-Match": tag]).0 == "304 ")
      let head = try await server.get("/captures/c1/media", "HEAD")
      #expect(head.fields["Content-Length"] == "1500000")
      #expect(head.fields["Accept-Ranges"] == "bytes")
      #expect(head.body.isEmpty)
      await server.close()
    }

    @Test func `clients that take media slowly share a room on the disk`() async throws {
      let server = try await TestServer(isWritable: true)
      let capture = SampleCapture(media: SampleCapture.movie(300_000))
      _ = try await server.upload(capture)
      var options = ServerDocuments.Options(title: "field")
      options.isWritable = true
      let published = PublishedStore(server.store, options, room: SpillRoom(limit: 700_000)) {
        .zero
      }
      let router = ServerRouter(
        published, publicBase: nil, hosts: nil, logger: .silent)
      func ask(_ name: String, _ range: String? = nil, _ method: String = "GET") async
        -> ServerResponse
      {
        var request = ServerRequest(method, ["captures", "c1", name])
        request.fields["Range"] = range
        return await router.answer(request)
      }
      var slow = [await ask("media"), await ask("media", "bytes=0-299998")]
      #expect(slow.map(\.status) == [200, 206])
      let refused = await ask("media")
      #expect("\(refused.status) \(refused.fields["Retry-After"] ?? "")" == "503 5")
      // What fits into memory needs no room on the disk.
      #expect(await ask("media", "bytes=0-262143").status == 206)
      #expect(await ask("media", nil, "HEAD").status == 200)
      #expect(await ask("thumbnail").status == 200)
      for (index, count) in [300_000, 299_999].enumerated() {
        let taken = try await bytes(of: slow[index])
        #expect(taken == Array(capture.media.prefix(count)))
      }
      slow = []
      // What read the file may still be at its end.
      while await ask("media").status == 503 { try await Task.sleep(for: .milliseconds(1)) }
      await server.close()
    }

    /// More than the sockets hold goes to clients that take nothing.
    @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
    func `slow clients keep neither others from an answer nor the file's log`() async throws {
      let server = try await TestServer(isWritable: true)
      _ = try await server.upload(SampleCapture(media: SampleCapture.movie(24_000_000)))
      var slow = try (0..<8).map { _ in try RawConnection(server.address) }
      for connection in slow {
        connection.send("GET /captures/c1/media HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      }
      #expect(await slow[7].receive { $0.hasPrefix("HTTP/1.1 200 ") } != nil)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(1, in: "wells", set: ["name": "new"])
      }
      #expect(try await server.get("/collections/wells/items/1").text.contains("new"))
      // The log can be emptied as soon as all media are read, although nobody has taken them.
      while true {
        let emptied = try await Program.run(
          "sqlite3", [server.store.path, "PRAGMA wal_checkpoint(TRUNCATE)"])
        if emptied.output == "0|0|0\n" { break }
        try await Task.sleep(for: .milliseconds(10))
      }
      slow = []
      await server.close()
    }

    /// All bytes of an answer, as a client takes them.
    private func bytes(of response: ServerResponse) async throws -> [UInt8] {
      guard case .stream(let stream) = response.body else { throw TestFailure() }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 10_000)
      while true {
        switch buffer.withUnsafeMutableBytes({ stream.take(into: $0) { {} } }) {
        case .bytes(let count): bytes += buffer[..<count]
        case .nothing: try await Task.sleep(for: .milliseconds(1))
        case .end: return bytes
        case .failure: throw TestFailure()
        }
      }
    }

    @Test func `a page that grows beyond the room is cut`() throws {
      let room = SpillRoom(limit: 5 << 20)
      let part = [UInt8](repeating: 7, count: 1 << 20)
      let first = try ResponseStream(packs: false, in: room)
      // Four parts are in memory, and five have room on the disk.
      for _ in 0..<9 { try first.send(part) }
      let second = try ResponseStream(packs: false, in: room)
      for _ in 0..<4 { try second.send(part) }
      for stream in [first, second] {
        let error = #expect(throws: FieldpackError.self) { try stream.send(part) }
        #expect(error?.code == .full)
      }
    }

    @Test func `a client that catches up has all of the room again`() throws {
      let stream = ResponseStream(in: SpillRoom(limit: 2 << 20))
      let part = [UInt8](repeating: 7, count: 1 << 20)
      var buffer = part
      for _ in 0..<3 {
        for _ in 0..<6 { try stream.send(part) }
        var taken = 0
        while case .bytes(let count) = buffer.withUnsafeMutableBytes({
          stream.take(into: $0) { {} }
        }) { taken += count }
        #expect(taken == 6 << 20)
      }
    }

    @Test func `a caller has a quarter of the room, or one answer`() {
      let room = SpillRoom(limit: 1000)
      var held = [room.place(for: 400, of: "a"), room.place(for: 100, of: "b")]
      #expect(held.allSatisfy { $0 != nil })
      #expect(room.place(for: 1, of: "a") == nil)
      #expect(room.place(for: 150, of: "b") != nil)
      #expect(room.place(for: 151, of: "b") == nil)
      withExtendedLifetime(held) {}
      held = []
      #expect(room.place(for: 1000, of: "a") != nil)
    }

    @Test(arguments: [
      ("bytes=0-9", ByteRange.part(0..<10)), ("bytes=5-", .part(5..<100)),
      ("bytes=-7", .part(93..<100)), ("bytes=-700", .part(0..<100)), ("bytes=-0", .unsatisfiable),
      ("bytes=90-99999999999999999999", .part(90..<100)),
      ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=9-1", .whole), ("bytes=a-", .whole),
      ("bytes=", .whole), ("bytes=-", .whole), ("lines=0-9", .whole), ("bytes=0-1,3-4", .whole),
    ])
    func `ranges are read`(field: String, range: ByteRange) {
      #expect(ByteRange(field, length: 100) == range)
    }

    @Test func `the viewer's scripts are for whom they are meant`() async throws {
      let server = try await TestServer(isWritable: true, hasPublicCaptures: true)
      let capture = SampleCapture(media: SampleCapture.movie(99))
      _ = try await server.upload(capture)
      let script = try await server.get("/c1/c1.js")
      #expect(script.fields["Content-Type"] == "text/javascript; charset=utf-8")
      #expect(script.text.hasPrefix(#"/**/S.currentRamble._processResponse({"token":"c1","#))
      let points =
        #""points":[{"timestamp":0,"coords":[43.5,-72.25],"latitude":43.5,"longitude":-72.25,"#
        + #""accuracy":65,"heading":99.5},"#
      #expect(script.text.contains(points), "\(script.text)")
      #expect(script.text.hasSuffix(#""description":""});"# + "\n"))
      #expect(try await server.get("/c1/c1.js?callback=a.b_1").text.hasPrefix("/**/a.b_1({"))
      for name in ["alert(1)//", "", "1a", "a..b"] {
        let path = "/c1/c1.js?callback=\(PercentText.encode(name))"
        #expect(try await server.get(path).status == 400, "\(name)")
      }
      #expect(try await server.get("/c1/c1.mov").body == capture.media)
      #expect(try await server.get("/c1/c1.exe").status == 404)
      #expect(try await server.get("/c2/c2.js").status == 404)
      let closed = try await TestServer(isWritable: true)
      _ = try await closed.upload(capture)
      #expect(try await closed.get("/c1/c1.js").status == 404)
      await server.close()
      await closed.close()
    }

    /// curl sends the form and goes on with a part of a file.
    @Test func `curl uploads and resumes`() async throws {
      let server = try await TestServer(isWritable: true)
      let capture = SampleCapture()
      var arguments = ["-sS", "\(server.address)/upload"]
      for (name, file, content) in capture.parts {
        try Data(content).write(to: server.folder.file(file))
        arguments += ["-F", "\(name)=@\(server.folder.file(file).path)"]
      }
      let sent = try await Program.run("curl", arguments)
      #expect(sent.output == #"{"token":"c1"}"#, "\(sent)")
      let target = server.folder.file("part.mov")
      try Data(capture.media.prefix(1_000_001)).write(to: target)
      let fetched = try await Program.run(
        "curl",
        ["-sS", "-C", "-", "-o", target.path, "\(server.address)/captures/c1/media"])
      #expect(fetched.status == 0, "\(fetched)")
      #expect(try Array(Data(contentsOf: target)) == capture.media)
      await server.close()
    }
  }
#endif
