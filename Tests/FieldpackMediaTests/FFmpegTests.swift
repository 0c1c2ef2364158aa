import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackMedia

@Suite(.programs) struct FFmpegTests {
  /// Of one pixel, with an empty scan.
  private static let picture: [UInt8] = [
    0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xFF, 0xDA, 0, 2, 0, 0xFF, 0xD9,
  ]

  @Test func `an ffmpeg that misbehaves gives an error each`() async throws {
    let folder = try TemporaryFolder()
    let cases: [(script: String, code: FieldpackError.Code, message: String)] = [
      ("sleep 600", .unavailable, "ffmpeg was not done with a.jpg within 1.0 s"),
      ("yes", .invalidData, "ffmpeg made more of a.jpg than there can be"),
      ("kill -SEGV $$", .invalidData, "ffmpeg was ended by signal 11 when it decoded a.jpg"),
      ("exit 1", .invalidData, "a.jpg cannot be decoded"),
      ("exit 0", .invalidData, "a.jpg cannot be decoded"),
      (
        "echo '[x @ 0x1] no \u{1B}[1mgood' >&2; exit 1", .invalidData,
        "a.jpg cannot be decoded: no [1mgood"
      ),
      ("echo text", .invalidData, "ffmpeg gave no picture of a.jpg that is whole"),
      ("printf '\\377'", .invalidData, "ffmpeg gave no picture of a.jpg that is whole"),
      ("printf '\\377\\330'", .invalidData, "ffmpeg gave no picture of a.jpg that is whole"),
    ]
    for one in cases {
      let timeout = one.script.hasPrefix("sleep") ? 1.0 : 3600
      let path = folder.file("ffmpeg").path
      try await Program.writeScript(one.script, to: path)
      let file = try OpenedMedia.file(Self.picture, "a.jpg")
      let error = await #expect(throws: FieldpackError.self) {
        try await FFmpeg(program: path, timeout: timeout).thumbnail(
          of: file, side: 300, else: .omitThumbnail)
      }
      #expect(error?.code == one.code)
      #expect(error?.message == one.message && error?.advice == .omitThumbnail)
      // It may write so much more of a whole picture that its time would be over first.
      guard one.script != "yes", let structure = file.structure else { continue }
      let other = await #expect(throws: FieldpackError.self) {
        try await FFmpeg(program: path, timeout: timeout).upright(file, structure, else: .keepBytes)
      }
      #expect(other?.code == one.code)
      #expect(other?.message == one.message && other?.advice == .keepBytes)
    }
  }

  @Test(arguments: [Double.infinity, .nan, 1e300, -1, 0])
  func `a time that is none is no trap`(timeout: Double) async throws {
    let file = try OpenedMedia.file(Self.picture, "a.jpg")
    let error = await #expect(throws: FieldpackError.self) {
      try await FFmpeg(program: "/bin/sh", timeout: timeout).thumbnail(
        of: file, side: 300, else: .omitThumbnail)
    }
    #expect(error?.code == (timeout > 0 ? .invalidData : .unavailable))
  }
}
