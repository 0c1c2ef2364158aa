import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackMedia

@Suite(.enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)))
struct ThumbnailTests {
  private static let pixels = Pixels(quartersOf: 60, 40)

  private func thumbnail(
    _ bytes: [UInt8], side: Int, radius: Int = 0
  ) async throws -> (bytes: [UInt8], path: String, folder: TemporaryFolder) {
    let file = try OpenedMedia.file(bytes)
    let made = try await FFmpeg.standard.thumbnail(
      of: file, side: side, cornerRadius: radius, else: .omitThumbnail)
    let folder = try TemporaryFolder()
    try Data(made).write(to: folder.file("a.png"))
    return (made, folder.file("a.png").path, folder)
  }

  /// How opaque each pixel of a picture is, row by row.
  private func opacity(_ path: String) async throws -> [UInt8] {
    let result = try await Program.run(
      Programs.ffmpeg ?? "",
      [
        "-v", "error", "-i", "file:" + path, "-vf", "alphaextract", "-f", "rawvideo", "-pix_fmt",
        "gray", "pipe:1",
      ])
    #expect(result.status == 0)
    return Array(result.outputBytes)
  }

  @Test(arguments: [(1, 1, 1), (7, 7, 5), (30, 30, 20), (60, 60, 40), (61, 60, 40), (900, 60, 40)])
  func `the longer side is no longer than is asked for`(side: Int, width: Int, height: Int)
    async throws
  {
    let made = try await thumbnail(try await MediaSample.jpeg(Self.pixels), side: side)
    let pixels = try await MediaSample.pixels(made.path)
    #expect((pixels.width, pixels.height) == (width, height))
    if side > 1 { #expect(pixels.hasCorners(Self.pixels.corners)) }
  }

  @Test func `corners are round by the radius, and all else is as without`() async throws {
    let upright = Self.pixels
    let turned = MediaSample.adding(
      MediaSample.exif(6, isLittle: true), to: try await MediaSample.jpeg(upright.stored(for: 6)))
    let film = try await OpenedMedia.film(upright.stored(for: 8), orientation: 8)
    for media in [turned, film] {
      let square = try await thumbnail(media, side: 30)
      let round = try await thumbnail(media, side: 30, radius: 6)
      let (all, kept) = (
        try await MediaSample.pixels(square.path), try await MediaSample.pixels(round.path)
      )
      #expect((all.width, all.height) == (30, 20))
      #expect(all == kept)
      let opacity = try await opacity(round.path)
      try #require(opacity.count == 30 * 20)
      for y in 0..<20 {
        for x in 0..<30 {
          // From the nearest centre of a circle, of radius 6.
          let across = max(0, 6 - Double(x) - 0.5, Double(x) + 0.5 - 24)
          let down = max(0, 6 - Double(y) - 0.5, Double(y) + 0.5 - 14)
          let distance = (across * across + down * down).squareRoot()
          let found = opacity[y * 30 + x]
          if distance <= 5.5 { #expect(found == 255, "\(x), \(y)") }
          if distance >= 6.5 { #expect(found == 0, "\(x), \(y)") }
        }
      }
      #expect(opacity[0] == 0 && opacity[15] == 255 && opacity.contains { 0 < $0 && $0 < 255 })
    }
  }

  @Test func `a radius beyond the half of a side rounds as much as there is`() async throws {
    let media = try await MediaSample.jpeg(Self.pixels)
    let half = try await thumbnail(media, side: 30, radius: 10)
    #expect(try await thumbnail(media, side: 30, radius: 1_000_000).bytes == half.bytes)
    #expect(
      try await thumbnail(media, side: 30, radius: -1).bytes
        == thumbnail(media, side: 30).bytes)
  }
}
