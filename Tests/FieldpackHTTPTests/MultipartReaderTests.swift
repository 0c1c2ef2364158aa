import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackHTTP

/// A part as a test reads or expects it.
struct FormPart: Hashable, Sendable {
  var name: String?
  var fileName: String?
  var contentType: String?
  var content: [UInt8] = []
  /// Whether its end came.
  var isWhole = false

  /// What a reader makes of a body that comes in pieces.
  static func all(
    in pieces: [ArraySlice<UInt8>], _ contentType: String, mostParts: Int = 100
  ) throws(FieldpackError) -> [FormPart] {
    var reader = try MultipartReader(contentType: contentType, mostParts: mostParts)
    var parts: [FormPart] = []
    for piece in pieces {
      var bytes = piece
      while let event = try reader.next(&bytes) {
        switch event {
        case .part(let head):
          parts.append(
            FormPart(
              name: head.name, fileName: head.fileName, contentType: head.fields["Content-Type"]))
        case .content(let content): parts[parts.count - 1].content += content
        case .end: parts[parts.count - 1].isWhole = true
        }
      }
      #expect(bytes.isEmpty)
    }
    try reader.finish()
    return parts
  }

  static func all(in body: [UInt8], _ contentType: String) throws(FieldpackError) -> [FormPart] {
    try all(in: [body[...]], contentType)
  }
}

@Suite struct MultipartReaderTests {
  private static let type = "multipart/form-data; boundary=B-1"

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// All that may stand in a body, with contents that nearly hold its boundary.
  private static let body = bytes(
    "--B-1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n"
      + "--B-1 \t\r\ncontent-disposition: form-data; filename=\"x;y.bin\"; NAME=b\r\n"
      + "Content-Type: a/b\r\n\r\n\r\n--B-\r\n--B\r\r\n\r\n--b-1\r\n\r\n--B-1\r\n"
      + "Content-Disposition: form-data;\r\n name=\"c\";\r\n\tfilename=\"C:\\dir\\\"q\\\"\"\r\n\r\n"
      + "--B-2\r\n--B-1\r\nContent-Disposition: form-data; name=d\r\n\r\n\r\n"
      + "--B-1\r\nContent-Disposition: form-data; name=e\r\n\r\n--B-1\r\n\r\nno header\r\n"
      + "--B-1--\r\nafter all --B-1\r\n--B-1\r\n")

  private static let parts = [
    FormPart(name: "a", content: bytes("value"), isWhole: true),
    FormPart(
      name: "b", fileName: "x;y.bin", contentType: "a/b",
      content: bytes("\r\n--B-\r\n--B\r\r\n\r\n--b-1\r\n"), isWhole: true),
    FormPart(name: "c", fileName: #"C:\dir"q""#, content: bytes("--B-2"), isWhole: true),
    FormPart(name: "d", isWhole: true), FormPart(name: "e", isWhole: true),
    FormPart(content: bytes("no header"), isWhole: true),
  ]

  @Test func `a body is read in one piece`() throws {
    #expect(try FormPart.all(in: Self.body, Self.type) == Self.parts)
  }

  @Test func `a body that is cut in two anywhere has the same parts`() throws {
    for cut in 0...Self.body.count {
      let pieces = [Self.body[..<cut], Self.body[cut...]]
      #expect(try FormPart.all(in: pieces, Self.type) == Self.parts, "cut at \(cut)")
    }
  }

  @Test(arguments: [1, 2, 3, 5, 8, 13, 64])
  func `a body in pieces of so many bytes has the same parts`(length: Int) throws {
    let pieces = stride(from: 0, to: Self.body.count, by: length).map {
      Self.body[$0..<min($0 + length, Self.body.count)]
    }
    #expect(try FormPart.all(in: pieces, Self.type) == Self.parts)
  }

  @Test func `contents of all bytes are read as they are`() throws {
    let all = (0..<4).flatMap { _ in (0...255).map { UInt8($0) } }
    let content = all + Self.bytes("\r\n\r\n--B\r\n--B-") + all.reversed()
    let body =
      Self.bytes("--B-1\r\nContent-Disposition: form-data; name=a\r\n\r\n") + content
      + Self.bytes("\r\n--B-1--")
    for length in [1, 7, 250, body.count] {
      let pieces = stride(from: 0, to: body.count, by: length).map {
        body[$0..<min($0 + length, body.count)]
      }
      #expect(
        try FormPart.all(in: pieces, Self.type)
          == [FormPart(name: "a", content: content, isWhole: true)])
    }
  }

  @Test func `contents come as the pieces of what was given`() throws {
    var reader = try MultipartReader(contentType: Self.type, mostParts: 1)
    var head = Self.bytes("--B-1\r\nContent-Disposition: form-data; name=a\r\n\r\n")[...]
    #expect(try reader.next(&head) != nil)
    #expect(try reader.next(&head) == nil)
    // What may be a boundary waits for what follows; nothing else does.
    for (piece, contents) in [
      ("0123456789", ["0123456789"]), ("ab\r", ["ab"]), ("cd\r\n--B", ["\r", "cd"]),
      ("-", []), ("-x", ["\r\n--B-", "-x"]),
    ] {
      var bytes = Self.bytes(piece)[...]
      for content in contents {
        #expect(try reader.next(&bytes) == .content(Self.bytes(content)[...]))
      }
      #expect(try reader.next(&bytes) == nil)
    }
  }

  // MARK: What is wrong

  /// What is wrong with a body, however it comes.
  private func failure(
    _ body: [UInt8], _ type: String = type, mostParts: Int = 100
  ) throws -> MultipartFailure? {
    let whole = #expect(throws: FieldpackError.self) {
      try FormPart.all(in: [body[...]], type, mostParts: mostParts)
    }
    let single = #expect(throws: FieldpackError.self) {
      try FormPart.all(in: body.indices.map { body[$0...$0] }, type, mostParts: mostParts)
    }
    #expect(whole?.code == .invalidData && whole?.message == single?.message)
    return whole?.underlying as? MultipartFailure
  }

  @Test(arguments: [
    "", "text/plain", "multipart/form-data", "multipart/form-data; boundary=",
    "multipart/form-data; boundary=\"\"", "multipart/form-data; boundary=ä",
    "multipart/form-data; boundary=" + String(repeating: "x", count: 71),
    "multipart/form-database; boundary=x", "multipart/mixed; boundary=x", "; boundary=x",
    "multipart/form-data, boundary=x", "multipart/form-data; xboundary=x",
  ])
  func `a type without a boundary is no form`(type: String) throws {
    #expect(try failure(Self.body, type) == .noBoundary)
  }

  @Test(arguments: [
    "Multipart/Form-Data;boundary=B-1",
    "multipart/form-data; charset=\"a;boundary=c\"; boundary=B-1",
    "multipart/form-data; BOUNDARY=\"B-1\"", "multipart/form-data ; boundary = B-1 ; x",
  ])
  func `a boundary is found in its type`(type: String) throws {
    #expect(try FormPart.all(in: Self.body, type) == Self.parts)
  }

  @Test func `a body that ends before its last boundary has no end`() throws {
    let end = try #require(Self.body.firstRange(of: Self.bytes("\r\n--B-1--"))).upperBound
    for count in 0..<end {
      let error = #expect(throws: FieldpackError.self) {
        try FormPart.all(in: Array(Self.body[..<count]), Self.type)
      }
      #expect(error?.underlying as? MultipartFailure == .noEnd)
    }
    #expect(try FormPart.all(in: Array(Self.body[..<end]), Self.type) == Self.parts)
  }

  @Test func `a body that begins with something else has the wrong boundary`() throws {
    for text in ["x", "--B-2\r\n", "\r\n--B-1\r\n", "-", "--B-1"] {
      let expected: MultipartFailure = text == "--B-1" || text == "-" ? .noEnd : .wrongBoundary
      #expect(try failure(Self.bytes(text)) == expected)
    }
  }

  @Test func `a boundary ends with its line, or with two dashes`() throws {
    for text in ["--B-1x", "--B-1\n", "--B-1\rx", "--B-1-x", "--B-1 x", "--B-1 -"] {
      #expect(try failure(Self.bytes(text)) == .malformed)
      let later = "--B-1\r\nContent-Disposition: form-data; name=a\r\n\r\nvalue\r\n" + text
      #expect(try failure(Self.bytes(later)) == .malformed)
    }
  }

  @Test func `a header without an end is refused before it is long`() throws {
    let long = "--B-1\r\nA: " + String(repeating: "x", count: 20_000)
    #expect(try failure(Self.bytes(long)) == .longHead)
    #expect(try failure(Self.bytes(long) + Self.body) == .longHead)
    var reader = try MultipartReader(contentType: Self.type, mostParts: 1)
    var bytes = Self.bytes(long)[...]
    #expect(throws: FieldpackError.self) { try reader.next(&bytes) }
    #expect(bytes.count == long.utf8.count - 7 - MultipartReader.longestHead - 1)
    for missing in 1...3 {
      let text = "--B-1\r\nContent-Disposition: form-data; name=a\r\n\r\n".dropLast(missing)
      #expect(try failure(Self.bytes(String(text))) == .noEnd)
    }
    // With its blank line as long as may be, and longer.
    let name = String(repeating: "n", count: MultipartReader.longestHead - 41)
    func body(_ name: String) -> [UInt8] {
      Self.bytes("--B-1\r\nContent-Disposition: form-data; name=\(name)\r\n\r\n\r\n--B-1--")
    }
    #expect(try FormPart.all(in: body(name), Self.type)[0].name == name)
    #expect(try failure(body(name + "n")) == .longHead)
  }

  @Test(arguments: ["no colon", ": no name", "a b: c", "a: b\nc: d", "a: b\rc", "a: \0"])
  func `a header of what are no fields is refused`(line: String) throws {
    let text = "--B-1\r\n\(line)\r\n\r\nvalue\r\n--B-1--"
    #expect(try failure(Self.bytes(text)) == .malformed)
  }

  @Test func `more parts than are taken are refused at the first that is too many`() throws {
    let part = Self.bytes("--B-1\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n")
    let many = (0..<100_000).flatMap { _ in part }
    var reader = try MultipartReader(contentType: Self.type, mostParts: 64)
    var (bytes, count) = (many[...], 0)
    let error = #expect(throws: FieldpackError.self) {
      while let event = try reader.next(&bytes) { if case .part = event { count += 1 } }
    }
    #expect(error?.underlying as? MultipartFailure == .tooManyParts)
    #expect(error?.message == "the body has more than 64 parts")
    #expect(count == 64)
    #expect(many.count - bytes.count == 64 * part.count + 7)
    let last = Self.bytes("--B-1--")
    #expect(
      try FormPart.all(in: [many[...], last[...]], Self.type, mostParts: 100_000).count == 100_000)
  }

  // MARK: What is written

  @Test func `what a form writes is read as it was`() throws {
    let folder = try TemporaryFolder()
    let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) }
    let file = try folder.write("in a file\r\n--", to: "a.txt").path
    let form = MultipartForm([
      .init("plain", .bytes(Self.bytes("Grüße\r\n"))), .init("empty", .bytes([])),
      .init("media", fileName: "a b;c.jpg", contentType: "image/jpeg", .bytes(content)),
      .init("file", fileName: "ä.txt", contentType: "text/plain; charset=utf-8", .file(file)),
    ])
    let body = try RequestBody(.multipart(form))
    var pieces: [[UInt8]] = []
    while true {
      var space = [UInt8](repeating: 0, count: 1000)
      let count = space.withUnsafeMutableBytes { body.read(into: $0) }
      try #require(count >= 0)
      if count == 0 { break }
      pieces.append(Array(space[..<count]))
    }
    #expect(
      try FormPart.all(in: pieces.map { $0[...] }, form.contentType) == [
        FormPart(name: "plain", content: Self.bytes("Grüße\r\n"), isWhole: true),
        FormPart(name: "empty", isWhole: true),
        FormPart(
          name: "media", fileName: "a b;c.jpg", contentType: "image/jpeg", content: content,
          isWhole: true),
        FormPart(
          name: "file", fileName: "ä.txt", contentType: "text/plain; charset=utf-8",
          content: Self.bytes("in a file\r\n--"), isWhole: true),
      ])
  }
}
