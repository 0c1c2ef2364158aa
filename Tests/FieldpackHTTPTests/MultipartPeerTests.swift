import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackHTTP

/// Forms that others write, and what others read in forms.
@Suite(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
struct MultipartPeerTests {
  /// All bytes, line ends, and what is nearly a boundary of anybody.
  private static let content =
    (0..<1000).map { UInt8(truncatingIfNeeded: $0) } + Array("\r\n--\r\n\r\n------\r\r\n--".utf8)

  /// Writes the parts of a form that it reads from a file, as JSON.
  private static let reading = """
    import base64, email, email.policy, json, sys
    body = open(sys.argv[1], 'rb').read()
    head = b'Content-Type: ' + sys.argv[2].encode() + b'\\r\\n\\r\\n'
    parts = email.message_from_bytes(head + body, policy=email.policy.HTTP).get_payload()
    print(json.dumps([[p.get_param('name', header='content-disposition'), p.get_filename(),
      p['Content-Type'], base64.b64encode(p.get_payload(decode=True)).decode()] for p in parts]))
    """

  private func python(
    _ body: [UInt8], _ contentType: String, in folder: TemporaryFolder
  ) async throws -> [FormPart] {
    try Data(body).write(to: folder.file("body"))
    let result = try await Program.run(
      Programs.python ?? "", ["-c", Self.reading, folder.file("body").path, contentType])
    try #require(result.status == 0, "\(result.error)")
    let parts = try JSONSerialization.jsonObject(with: result.outputBytes) as? [[Any]]
    return try #require(parts).map { part in
      FormPart(
        name: part[0] as? String, fileName: part[1] as? String, contentType: part[2] as? String,
        content: [UInt8](try #require(Data(base64Encoded: part[3] as? String ?? "-"))),
        isWhole: true)
    }
  }

  @Test(.enabled(if: Programs.curl != nil, Comment(rawValue: Programs.noCurl)))
  func `what curl sends is read as Python reads it`() async throws {
    let folder = try TemporaryFolder()
    try Data(Self.content).write(to: folder.file("media.bin"))
    let server = try LoopbackServer { _ in .text(200, "") }
    let result = try await Program.run(
      Programs.curl ?? "",
      [
        "-sS", "--noproxy", "*", "--form-string", "title=Mount Tom; a \"quote\"", "-F", "empty=",
        "-F",
        "media_file=@\(folder.file("media.bin").path);type=image/jpeg;filename=b \"b\".jpg", "-F",
        "other=@\(folder.file("media.bin").path);filename=\"c;d.bin\"", server.address,
      ])
    try #require(result.status == 0, "\(result.error)")
    let request = try #require(server.requests.first)
    let type = try #require(request["Content-Type"])
    let parts = try FormPart.all(in: request.body, type)
    #expect(parts.map(\.name) == ["title", "empty", "media_file", "other"])
    #expect(parts[0].content == Array("Mount Tom; a \"quote\"".utf8))
    #expect(parts[1].content.isEmpty)
    #expect(parts[2].contentType == "image/jpeg")
    #expect(parts[3].fileName == "c;d.bin")
    #expect(parts[2...].allSatisfy { $0.content == Self.content })
    #expect(try await python(request.body, type, in: folder) == parts)
    let bytes = request.body.indices.map { request.body[$0...$0] }
    #expect(try FormPart.all(in: bytes, type) == parts)
  }

  @Test func `what Python writes is read as Python reads it`() async throws {
    let folder = try TemporaryFolder()
    // Its long headers go on in a second line.
    let script = """
      import sys
      from email.mime.application import MIMEApplication
      from email.mime.multipart import MIMEMultipart
      from email.mime.text import MIMEText
      from email.policy import compat32
      form = MIMEMultipart('form-data')
      text = MIMEText('a value')
      text.add_header('Content-Disposition', 'form-data', name='title')
      media = MIMEApplication(bytes(range(256)), name='of the type')
      media.add_header('Content-Disposition', 'form-data', name='media_file',
        filename='a long name with "quotes", \\\\ and ; ' + 'x' * 80 + '.bin')
      form.attach(text)
      form.attach(media)
      body = form.as_bytes(policy=compat32.clone(linesep='\\r\\n')).split(b'\\r\\n\\r\\n', 1)[1]
      open(sys.argv[1], 'wb').write(body)
      print(form.get_boundary(), end='')
      """
    let result = try await Program.run(
      Programs.python ?? "", ["-c", script, folder.file("made").path])
    try #require(result.status == 0, "\(result.error)")
    let body = [UInt8](try Data(contentsOf: folder.file("made")))
    #expect(String(decoding: body, as: UTF8.self).contains(";\r\n "))
    let type = "multipart/form-data; boundary=\"\(result.output)\""
    var parts = try FormPart.all(in: body, type)
    #expect(parts.map(\.name) == ["title", "media_file"])
    #expect(
      parts[1].fileName
        == "a long name with \"quotes\", \\ and ; \(String(repeating: "x", count: 80)).bin")
    #expect(parts[0].content == Array("a value".utf8))
    // Python takes the words for the bytes that they stand for, and forms say nothing of that.
    let words = String(decoding: parts[1].content, as: UTF8.self).replacing("\r\n", with: "")
    parts[1].content = [UInt8](try #require(Data(base64Encoded: words)))
    #expect(parts[1].content == (0...255).map { UInt8($0) })
    #expect(try await python(body, type, in: folder).map(\.content) == parts.map(\.content))
    #expect(try await python(body, type, in: folder).map(\.fileName) == parts.map(\.fileName))
  }

  @Test func `what a form writes is read by Python`() async throws {
    let form = MultipartForm([
      .init("plain", .bytes(Array("value".utf8))), .init("empty", .bytes([])),
      .init("media", fileName: "a;b.jpg", contentType: "image/jpeg", .bytes(Self.content)),
    ])
    let request = try RequestBody(.multipart(form))
    var body = [UInt8](repeating: 0, count: Int(request.length))
    var count = 0
    while count < body.count {
      count += body.withUnsafeMutableBytes { request.read(into: .init(rebasing: $0[count...])) }
    }
    let parts = try await python(body, form.contentType, in: try TemporaryFolder())
    #expect(parts == (try FormPart.all(in: body, form.contentType)))
    #expect(parts.map(\.fileName) == [nil, nil, "a;b.jpg"])
    #expect(parts[2].content == Self.content)
  }
}
