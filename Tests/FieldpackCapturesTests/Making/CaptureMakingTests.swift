import FieldpackCore
import FieldpackField
import FieldpackMedia
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

@Suite struct CaptureMakingTests {
  private let folder: TemporaryFolder
  private let making: CaptureMaking
  private let token: CaptureToken

  init() throws {
    folder = try TemporaryFolder()
    let identity = try #require(MachineIdentity("00000000-0000-0000-0000-000000000000"))
    making = CaptureMaking(identity: identity, makesThumbnail: false, keepsBytes: true)
    token = try making.token(at: 1_344_352_260)
  }

  private static let point = CapturePoint(
    time: 0, longitude: -72.25, latitude: 43.5, heading: 99.5, accuracy: 5)

  private func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: folder.file(name))
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  @Test(
    arguments: [
      ([], "is empty"), (TestPicture.png(color: (1, 2, 3)), "is PNG;"),
      (Array("GIF89a\u{1}".utf8), "is GIF;"), (Array("RIFF....WEBPVP8 ".utf8), "is WebP;"),
      (Array("RIFF....AVI LIST".utf8), "is AVI;"),
      ([0, 0, 0, 24] + Array("ftypheic".utf8), "HEIC;"),
      ([0, 0, 0, 24] + Array("ftypavif".utf8), "is AVIF;"), (Array("II*\0abcd".utf8), "is TIFF;"),
      ([0x1A, 0x45, 0xDF, 0xA3], "is Matroska or WebM;"),
      (Array("-i /etc/passwd".utf8), "is neither a picture nor a video"),
      (Array("#EXTM3U\nfile:///etc/passwd".utf8), "is neither a picture nor a video"),
    ] as [([UInt8], String)])
  func `media of other formats are refused by name`(bytes: [UInt8], message: String) async throws {
    try write(bytes, "output.jpg")
    let draft = CaptureDraft(points: [Self.point], createdAt: 0)
    let error = await #expect(throws: FieldpackError.self) {
      try await making.complete(draft, token: token, media: "output.jpg", in: folder.url.path)
    }
    #expect(error?.message.contains(message) == true)
    #expect([.unsupported, .invalidData].contains(error?.code))
    #expect(try names == ["output.jpg"])
  }

  @Test(
    arguments: [
      ([], "has no point"), ([0, 1], "is a picture, which has one point, and has 2"),
      ([0.5], "begins at 0.5 s"), ([.nan], "begins at nan"),
    ] as [([Double], String)])
  func `a picture has one point at time 0`(times: [Double], message: String) throws {
    let points = times.map { CapturePoint(time: $0, longitude: 1, latitude: 2) }
    let error = #expect(throws: FieldpackError.self) {
      try CaptureDraft(points: points, createdAt: 0).checked(as: .image)
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(message) == true)
  }

  @Test func `points are on Earth, in order, and of numbers`() throws {
    let wrong: [CapturePoint] = [
      CapturePoint(time: 1, longitude: 181, latitude: 0),
      CapturePoint(time: 1, longitude: 0, latitude: -90.5),
      CapturePoint(time: 1, longitude: .nan, latitude: 0),
      CapturePoint(time: -1, longitude: 0, latitude: 0),
      CapturePoint(time: .infinity, longitude: 0, latitude: 0),
      CapturePoint(time: 1, longitude: 0, latitude: 0, heading: .nan),
      CapturePoint(time: 1, longitude: 0, latitude: 0, accuracy: .infinity),
    ]
    for point in wrong {
      let draft = CaptureDraft(points: [Self.point, point], createdAt: 0)
      let error = #expect(throws: FieldpackError.self) { try draft.checked(as: .video) }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func `a link, a pipe and a name that leads elsewhere are not taken for media`() async throws
  {
    let other = try folder.write("secret", to: "secret.jpg").path
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.jpg").path, withDestinationPath: other)
    #expect(mkfifo(folder.file("pipe.jpg").path, 0o600) == 0)
    let draft = CaptureDraft(points: [Self.point], createdAt: 0)
    for name in ["link.jpg", "pipe.jpg", "../secret.jpg", ".hidden", "", "absent.jpg"] {
      let error = await #expect(throws: FieldpackError.self) {
        try await making.complete(draft, token: token, media: name, in: folder.url.path)
      }
      #expect([.invalidData, .invalidArgument, .notFound].contains(error?.code))
    }
    #expect(try names == ["link.jpg", "pipe.jpg", "secret.jpg"])
  }

  @Test func `thumbnails need ffmpeg, and that is told at once`() throws {
    let without = CaptureMaking(identity: making.identity, ffmpeg: FFmpeg(program: nil))
    let error = #expect(throws: FieldpackError.self) { try without.check() }
    #expect(error?.code == .unavailable)
    #expect(error?.message == "ffmpeg is not installed")
    #expect(error?.advice == .installFFmpeg(or: .omitThumbnail))
    try making.check()
  }
}
