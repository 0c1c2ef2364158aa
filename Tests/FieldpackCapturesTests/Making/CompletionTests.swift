import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures
@testable import FieldpackMedia

@Suite(.enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)))
struct CompletionTests {
  private static func turned() async throws -> [UInt8] {
    MediaSample.adding(
      MediaSample.exif(6, isLittle: true),
      to: try await MediaSample.jpeg(Pixels(quartersOf: 20, 30)))
  }

  @Test func `the four files of a capture say what the draft said`() async throws {
    let sample = try MakingSample()
    try sample.write(try await MediaSample.jpeg(Pixels(quartersOf: 30, 20)), "output.jpg")
    let info = try await sample.complete("output.jpg")
    let token = sample.token.description
    var expected = CaptureInfo(
      token: token, title: "Mount Tom", kind: .image, longitude: -72.25, latitude: 43.5,
      heading: 99.5, createdAt: 1_344_352_260)
    expected.orientation = .horizontal
    #expect(info == expected)
    #expect(
      String(decoding: try sample.bytes("capture-info.json"), as: UTF8.self)
        == #"{"token":"\#(token)","title":"Mount Tom","media_type":"image","#
        + #""created_at":1344352260,"uploaded_at":0,"coords":[43.5,-72.25],"heading":99.5,"#
        + #""orientation":"horizontal","geodata_file":"\#(token)/\#(token).json","#
        + #""thumbnail_file":"\#(token)/\#(token).png","media_file":"\#(token)/\#(token).jpg"}"#)
    #expect(
      String(decoding: try sample.bytes("\(token).json"), as: UTF8.self)
        == #"{"points":[{"timestamp":0,"coords":[43.5,-72.25],"accuracy":5,"heading":99.5}]}"#)
  }

  @Test func `what a kill left is completed to the same files`() async throws {
    let whole = try MakingSample()
    let original = try await Self.turned()
    try whole.write(original, "output.jpg")
    _ = try await whole.complete("output.jpg")
    let token = whole.token.description
    let files = try whole.names.map { ($0, try whole.bytes($0)) }
    let (jpg, json, png) = ("\(token).jpg", "\(token).json", "\(token).png")
    // Which of the files were there, besides the original and parts of the next.
    let left: [[String]] = [[], [png], [png, jpg], [png, jpg, json], files.map(\.0)]
    for names in left {
      for hasOriginal in names.contains(jpg) ? [true, false] : [true] {
        let sample = try MakingSample()
        let making = sample.making
        if hasOriginal { try sample.write(original, "output.jpg") }
        for (name, bytes) in files where names.contains(name) { try sample.write(bytes, name) }
        for name in [jpg, png, json, "capture-info.json"] {
          try sample.write([1, 2, 3], ".\(name).part")
        }
        _ = try await making.complete(
          MakingSample.draft, token: whole.token, media: "output.jpg", in: sample.folder.url.path)
        #expect(try sample.names == files.map(\.0))
        for (name, bytes) in files { #expect(try sample.bytes(name) == bytes) }
      }
    }
  }

  @Test(arguments: ["-i.jpg", "file:x.jpg", "a%03d.jpg", "concat:a|b.jpg", "ü \"'.jpg", "x.mov"])
  func `names that programs could misread are names`(name: String) async throws {
    let sample = try MakingSample()
    try sample.write(try await Self.turned(), name)
    let info = try await sample.complete(name)
    #expect(info.kind == .image && info.orientation == .horizontal)
    #expect(try sample.names.count == 4)
  }

  @Test func `a film that MPEG-4 holds is called mov, whatever it was called`() async throws {
    let sample = try MakingSample()
    let path = sample.folder.file("output.jpg").path
    try await MediaSample.movie(Pixels(quartersOf: 32, 32), codec: "mjpeg", to: path)
    var bytes = try sample.bytes("output.jpg")
    bytes.replaceSubrange(8..<12, with: Array("isom".utf8))
    try sample.write(bytes, "output.jpg")
    let info = try await sample.complete("output.jpg")
    #expect(info.kind == .video)
    // A square is no wider than high.
    #expect(info.orientation == .vertical)
    #expect(try sample.bytes("\(sample.token).mov") == bytes)
  }

  @Test func `the colour profile stays, and what ffmpeg tells of itself does not come`()
    async throws
  {
    let sample = try MakingSample()
    let profile: [UInt8] = [0xFF, 0xE2, 0, 18] + Array("ICC_PROFILE\0\u{1}\u{1}xy".utf8)
    var original = try await Self.turned()
    original.insert(contentsOf: profile, at: 2)
    try sample.write(original, "output.jpg")
    _ = try await sample.complete("output.jpg")
    let made = try sample.bytes("\(sample.token).jpg")
    #expect(try JPEGStructure(made, name: "made").profile == profile)
    #expect(!String(decoding: made, as: UTF8.self).contains("Lav"))
  }

  @Test func `media that cannot be read are left as they were`() async throws {
    let sample = try MakingSample()
    let path = sample.folder.file("film").path
    try await MediaSample.movie(Pixels(quartersOf: 40, 30), codec: "mjpeg", to: path)
    var film = try sample.bytes("film")
    try FileManager.default.removeItem(atPath: path)
    let entry = try #require(MediaSample.offset(of: "stsd", in: film))
    film.replaceSubrange(entry + 16..<entry + 20, with: Array("raw ".utf8))
    let picture = try await Self.turned()
    let cases = [
      (picture.prefix(picture.count / 2), "output is cut short: the end of the picture is missing"),
      (film.prefix(film.count / 2), "output is cut short:"),
      (film[...], "output cannot be decoded:"),
    ]
    for (bytes, message) in cases {
      try sample.write(Array(bytes), "output")
      let error = await #expect(throws: FieldpackError.self) { try await sample.complete("output") }
      #expect(error?.message.hasPrefix(message) == true)
      #expect(error?.code == .invalidData)
      #expect(try sample.names == ["output"])
      #expect(try sample.bytes("output") == Array(bytes))
    }
  }

  @Test func `without thumbnails ffmpeg is asked for nothing`() async throws {
    let sample = try MakingSample(makesThumbnail: false)
    sample.making = CaptureMaking(
      identity: sample.making.identity, makesThumbnail: false, ffmpeg: FFmpeg(program: nil))
    try sample.write(try await Self.turned(), "output.jpg")
    let error = await #expect(throws: FieldpackError.self) {
      try await sample.complete("output.jpg")
    }
    #expect(error?.message == "ffmpeg is not installed")
    #expect(error?.advice == .installFFmpeg(or: .keepBytes))
    #expect(try sample.names == ["output.jpg"])
    try sample.write(try await MediaSample.jpeg(Pixels(quartersOf: 20, 30)), "output.jpg")
    _ = try await sample.complete("output.jpg")
    #expect(try sample.names.count == 3)
  }
}
