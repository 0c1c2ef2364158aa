import FieldpackCore
import Testing

@testable import FieldpackCaptures

@Suite struct CaptureReceiverTests {
  private static let type = "multipart/form-data; boundary=0xKhTmLbOuNdArY"
  private static let info =
    #"{"token": "x", "media_type": "image", "created_at": 1000, "coords": [1, 2]}"#
  private static let geodata = #"{"points": [{"timestamp": 0, "coords": [1, 2]}]}"#

  /// The body of a whole upload, with the given parts changed.
  private static func body(_ changes: [String: (file: String, content: String)] = [:]) -> [UInt8] {
    var text = ""
    for (name, file, content) in [
      ("media_file", "x.jpg", "JPEG"), ("thumbnail", "x.png", "PNG"),
      ("capture_info", "capture-info.json", info), ("geo_data", "x.json", geodata),
    ] {
      let part = changes[name] ?? (file, content)
      text += "--0xKhTmLbOuNdArY\r\nContent-Disposition: form-data; name=\"\(name)\"; "
      text += "filename=\"\(part.file)\"\r\nContent-Type: a/b\r\n\r\n\(part.content)\r\n"
    }
    return Array((text + "--0xKhTmLbOuNdArY--\r\n").utf8)
  }

  private func answer(_ reply: CaptureReceiver.Reply) -> String {
    "\(reply.status) \(String(decoding: reply.body, as: UTF8.self))"
  }

  @Test func `a capture is taken once`() {
    var receiver = CaptureReceiver()
    let first = receiver.receive(contentType: Self.type, body: Self.body())
    #expect(answer(first) == #"200 {"token":"x"}"#)
    #expect(first.capture?.info.token == "x")
    #expect(first.capture?.geodata.points.count == 1)
    let again = receiver.receive(contentType: Self.type, body: Self.body())
    #expect(answer(again) == #"200 {"token":"x"}"#)
    #expect(again.capture == nil)
    #expect(receiver.tokens == ["x"])
  }

  @Test(arguments: [
    (["media_file": ("y.jpg", "JPEG")], "'y.jpg' is not of the capture 'x'"),
    (["geo_data": ("../x.json", geodata)], "'../x.json' is not of the capture 'x'"),
    (["thumbnail": ("x.png", "")], "the form does not have one file 'thumbnail'"),
    (
      ["capture_info": ("capture-info.json", "{")],
      "capture_info is no JSON: expected a name in quotes at byte 1"
    ),
    (["geo_data": ("x.json", #"{"points": []}"#)], "geo-data has no points"),
    (
      [
        "capture_info": (
          "capture-info.json",
          #"{"token": "../x", "media_type": "image", "created_at": 1, "coords": [1, 2]}"#
        )
      ], "the token '../x' cannot be the name of a folder"
    ),
  ])
  func `parts that do not agree are refused`(
    _ changes: [String: (file: String, content: String)], _ message: String
  ) {
    var receiver = CaptureReceiver()
    let reply = receiver.receive(contentType: Self.type, body: Self.body(changes))
    #expect(answer(reply) == #"400 {"error":"true","message":"\#(message)"}"#)
    #expect(reply.capture == nil && receiver.tokens.isEmpty)
  }

  @Test func `no cut of a body is taken, and none crashes`() {
    var receiver = CaptureReceiver()
    let body = Self.body()
    // The last mark and its line end may be missing from it.
    for count in 0..<body.count - 3 {
      let reply = receiver.receive(contentType: Self.type, body: Array(body[..<count]))
      #expect(reply.status == 400)
    }
    for type in ["", "text/plain", "multipart/form-data", "multipart/form-data; boundary="] {
      #expect(receiver.receive(contentType: type, body: body).status == 400)
    }
  }

  @Test func `media may hold what looks like another boundary`() throws {
    let content = "a\r\n--0xKhTmLbOuNdAr\r\n\r\n--other--\r\n"
    var form = try UploadForm(contentType: Self.type)
    // One byte after the other.
    for byte in Self.body(["media_file": ("x.jpg", content)]) { try form.take([byte]) }
    try form.finish()
    #expect(try form.parts[0].content.prefix(1000) == Array(content.utf8))
  }
}
