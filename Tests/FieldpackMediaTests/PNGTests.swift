import FieldpackArchive
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackMedia

@Suite(.programs) struct PNGTests {
  /// A PNG of the given rows, each with its filter first.
  private static func png(
    width: Int, height: Int, depth: UInt8, color: UInt8, rows: [UInt8], interlacing: UInt8 = 0,
    parts: [(String, [UInt8])] = []
  ) throws -> [UInt8] {
    let header = big(width) + big(height) + [depth, color, 0, 0, interlacing]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
      + parts.flatMap { chunk($0.0, $0.1) } + chunk("IDAT", try ZlibData.packed(rows))
      + chunk("IEND", [])
  }

  private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + content
    return big(content.count) + body + big(Int(ZlibData.checksum(body[...])))
  }

  private static func big(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func decoded(_ png: [UInt8], limit: Int = 1 << 20) throws -> [UInt8] {
    try PNGDecoder.bitmap(of: png, name: "a.png", limit: limit).bytes
  }

  @Test func `few bits, palettes and clear colours become red, green, blue and alpha`() throws {
    let gray = try Self.png(
      width: 3, height: 1, depth: 2, color: 0, rows: [0, 0b00_01_11_00],
      parts: [("tRNS", [0, 1])])
    #expect(try Self.decoded(gray) == [0, 0, 0, 255, 85, 85, 85, 0, 255, 255, 255, 255])
    let palette = try Self.png(
      width: 3, height: 1, depth: 4, color: 3, rows: [0, 0x01, 0x20],
      parts: [("PLTE", [1, 2, 3, 4, 5, 6]), ("tRNS", [9])])
    #expect(try Self.decoded(palette) == [1, 2, 3, 9, 4, 5, 6, 255, 0, 0, 0, 255])
    let wide = try Self.png(
      width: 2, height: 1, depth: 16, color: 2,
      rows: [0, 0, 0, 128, 0, 255, 255, 0, 1, 0, 2, 0, 3],
      parts: [("tEXt", [65, 0, 66]), ("tRNS", [0, 1, 0, 2, 0, 3])])
    #expect(try Self.decoded(wide) == [0, 128, 255, 255, 0, 0, 0, 0])
  }

  @Test func `every filter is undone`() throws {
    let rows: [UInt8] = [
      1, 10, 20, 30, 1, 1, 1, 2, 1, 1, 1, 2, 2, 2, 3, 5, 5, 5, 5, 5, 5, 4, 1, 1, 1, 3, 3, 3,
    ]
    let png = try Self.png(width: 2, height: 4, depth: 8, color: 2, rows: rows)
    let expected: [UInt8] = [
      10, 20, 30, 11, 21, 31, 11, 21, 31, 13, 23, 33, 10, 15, 20, 16, 24, 31, 11, 16, 21, 19, 27,
      34,
    ]
    let colors = try Self.decoded(png).enumerated().filter { $0.offset % 4 < 3 }.map(\.element)
    #expect(colors == expected)
  }

  static let formats = [
    "monob", "gray", "gray16be", "ya8", "ya16be", "pal8", "rgb24", "rgba", "rgb48be", "rgba64be",
  ]

  @Test(
    .enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)), arguments: formats)
  func `pictures of ffmpeg decode as ffmpeg decodes them`(format: String) async throws {
    let folder = try TemporaryFolder()
    for flags in [[], ["-flags", "+ildct"]] {
      let path = folder.file("\(flags.count).png").path
      let source =
        "testsrc2=s=37x23:d=1,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='mod(X*9,256)'"
      let palette = ",split[a][b];[a]palettegen[p];[b][p]paletteuse"
      let filter = format == "pal8" ? source + palette : source
      let ffmpeg = try #require(Programs.ffmpeg)
      let made = try await Program.run(
        ffmpeg,
        ["-v", "error", "-f", "lavfi", "-i", filter, "-frames:v", "1", "-pix_fmt", format] + flags
          + ["-pred", "mixed", path])
      try #require(made.status == 0, "\(made)")
      let raw = folder.file("\(flags.count).raw").path
      _ = try await Program.run(
        ffmpeg,
        ["-v", "error", "-i", path, "-pix_fmt", "rgba", "-f", "rawvideo", raw])
      let expected = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
      let found = try Self.decoded([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
      #expect(found.count == expected.count)
      let worst = zip(found, expected).map { abs(Int($0) - Int($1)) }.max()
      // Ffmpeg cuts 16 bits to 8, where we round.
      let isWide = ["16", "48", "64"].contains { format.contains($0) }
      #expect(try #require(worst) <= (isWide ? 1 : 0))
    }
  }

  @Test func `what is damaged or too large is refused`() throws {
    let good = try Self.png(width: 2, height: 1, depth: 8, color: 0, rows: [0, 1, 2])
    var wrongSum = good
    wrongSum[20] ^= 1
    let cases: [(png: [UInt8], message: String)] = [
      (Array(good.dropLast(6)), "it is cut short"),
      (Array("GIF89a".utf8), "it does not begin as a PNG does"),
      (wrongSum, #"the checksum of "IHDR" is wrong"#),
      (
        try Self.png(width: 2, height: 2, depth: 8, color: 0, rows: [0, 1, 2]),
        "the compressed data are damaged"
      ),
      (
        try Self.png(width: 2, height: 1, depth: 8, color: 0, rows: [0, 1, 2, 3]),
        "the compressed data are damaged"
      ),
      (
        try Self.png(width: 2, height: 1, depth: 8, color: 0, rows: [5, 1, 2]),
        "a row has an unknown filter"
      ),
      (
        try Self.png(width: 2, height: 1, depth: 8, color: 3, rows: [0, 1, 2]),
        "it has no palette"
      ),
      (
        try Self.png(width: 2, height: 1, depth: 4, color: 2, rows: [0, 1, 2]),
        "its header is none that the standard has"
      ),
      (
        try Self.png(width: 0, height: 1, depth: 8, color: 0, rows: [0]),
        "its header is none that the standard has"
      ),
      (
        try Self.png(
          width: 2, height: 1, depth: 8, color: 0, rows: [0, 1, 2], parts: [("NEWS", [])]),
        #"it has a part "NEWS" that is not known"#
      ),
      (
        Array(good.prefix(8)) + Self.chunk("IEND", []),
        "it does not begin with IHDR"
      ),
    ]
    for one in cases {
      let error = #expect(throws: FieldpackError.self) { try Self.decoded(one.png) }
      #expect(error?.code == .invalidData)
      #expect(error?.message == "a.png is no PNG that can be decoded: \(one.message)")
    }
    let error = #expect(throws: FieldpackError.self) { try Self.decoded(good, limit: 1) }
    #expect(error?.code == .unsupported)
    #expect(
      error?.message == "a.png says it is 2 x 1 pixels large; 1 pixels are decoded at most")
  }

  @Test func `a picture without a header, or of too much memory, is refused`() throws {
    let png = try Self.png(width: 4096, height: 4096, depth: 16, color: 6, rows: [0])
    let bare = Array(png.prefix(8)) + Self.chunk("tEXt", []) + Self.chunk("IEND", [])
    let damage = #expect(throws: FieldpackError.self) { try Self.decoded(bare) }
    #expect(damage?.code == .invalidData)
    #expect(damage?.message == "a.png is no PNG that can be decoded: it has no IHDR")
    let excess = #expect(throws: FieldpackError.self) { try Self.decoded(png, limit: 1 << 26) }
    #expect(excess?.code == .unsupported)
    #expect(
      excess?.message
        == "a.png says it is 4096 x 4096 pixels large, which take more than 134217728 bytes")
  }

  @Test func `what is encoded decodes to the same pixels`() throws {
    var generator = SystemRandomNumberGenerator()
    let size = PictureSize(width: 31, height: 17)
    func bitmap(_ pixel: (Int) -> [UInt8]) -> Bitmap {
      Bitmap(size, bytes: (0..<size.width * size.height).flatMap(pixel))
    }
    let pictures: [(Bitmap, color: UInt8)] = [
      (bitmap { [UInt8($0 % 7), 2, 3, UInt8($0 % 3 * 127)] }, 3),
      (bitmap { [UInt8($0 % 256), UInt8($0 / 256), 7, 255] }, 2),
      (bitmap { _ in (0..<4).map { _ in .random(in: 0...255, using: &generator) } }, 6),
    ]
    for (picture, color) in pictures {
      let png = try PNGEncoder.bytes(of: picture)
      #expect(png[25] == color)
      #expect(try PNGDecoder.bitmap(of: png, name: "a.png", limit: 1 << 20) == picture)
    }
  }

  @Test(
    .enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)),
    arguments: ["jpg", "webp"])
  func `ffmpeg decodes JPEG and WebP`(suffix: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.\(suffix)").path
    let made = try await Program.run(
      try #require(Programs.ffmpeg),
      [
        "-v", "error", "-f", "lavfi", "-i", "color=c=0x3070B0:s=40x30", "-frames:v", "1", "-q:v",
        suffix == "jpg" ? "1" : "95", path,
      ])
    guard made.status == 0 else { return }
    let picture = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let bitmap = try await FFmpeg.standard.bitmap(
      of: picture, name: "a", limit: 1 << 20, else: .storeTilesAsPNG)
    #expect(bitmap.size == PictureSize(width: 40, height: 30))
    let expected: [UInt8] = [0x30, 0x70, 0xB0, 255]
    #expect(
      bitmap.bytes.enumerated().allSatisfy {
        abs(Int($0.element) - Int(expected[$0.offset % 4])) <= 3
      })
    let error = await #expect(throws: FieldpackError.self) {
      try await FFmpeg(program: nil).bitmap(
        of: picture, name: "a", limit: 1 << 20, else: .storeTilesAsPNG)
    }
    #expect(error?.code == .unavailable)
    #expect(error?.advice == .installFFmpeg(or: .storeTilesAsPNG))
  }
}
