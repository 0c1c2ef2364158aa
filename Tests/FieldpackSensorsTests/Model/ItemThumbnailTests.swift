import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackMedia
import FieldpackSensors
import Testing

/// The small picture of an item.
@Suite struct ItemThumbnailTests {
  /// The thumbnail that a capture of these bytes gets.
  private func thumbnail(of bytes: [UInt8]) async throws -> Bitmap? {
    let file = try SensorFile()
    return try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(), to: person.key)
      #expect(try await journal.post(SensorDownload("a", of: item, bytes)) == item.key)
      let files = try await persons.files(of: item.key)
      guard let small = files.first(where: { $0.role == .thumbnail }) else { return nil }
      let png = try #require(try await persons.content(of: small))
      return try PNGDecoder.bitmap(of: png, name: "thumbnail", limit: 1 << 20)
    }
  }

  private func pixel(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> [UInt8] {
    let at = (y * bitmap.size.width + x) * 4
    return Array(bitmap.bytes[at..<at + 4])
  }

  @Test(arguments: [false, true])
  func aBMPStandsInTheMiddleAndUpright(fromTop: Bool) async throws {
    // Red above blue, twice as wide as tall.
    let bytes = madeBMP(640, 320, fromTop: fromTop) { _, y in y < 160 ? (255, 0, 0) : (0, 0, 255) }
    let small = try #require(try await thumbnail(of: bytes))
    #expect(small.size == PictureSize(width: 228, height: 228))
    #expect(pixel(small, 114, 0) == [0, 0, 0, 0])
    #expect(pixel(small, 114, 56) == [0, 0, 0, 0])
    #expect(pixel(small, 114, 57) == [255, 0, 0, 255])
    #expect(pixel(small, 0, 113) == [255, 0, 0, 255])
    #expect(pixel(small, 227, 114) == [0, 0, 255, 255])
    #expect(pixel(small, 114, 170) == [0, 0, 255, 255])
    #expect(pixel(small, 114, 171) == [0, 0, 0, 0])
  }

  @Test func `corners are round`() async throws {
    let small = try #require(try await thumbnail(of: madeBMP(20, 20) { _, _ in (9, 8, 7) }))
    // 36 from both sides lies the middle of the circle.
    let diagonal = (0..<228).first { pixel(small, $0, $0)[3] == 255 }
    #expect(diagonal == 11)
    #expect((0..<228).first { pixel(small, $0, 0)[3] > 127 } == 30)
    for (x, y) in [(0, 0), (227, 0), (0, 227), (227, 227)] {
      #expect(pixel(small, x, y)[3] == 0)
    }
    #expect(pixel(small, 114, 114) == [9, 8, 7, 255])
  }

  @Test func `palettes and masks are read`() throws {
    func little(_ numbers: [(value: Int, count: Int)]) -> [UInt8] {
      numbers.flatMap { number in
        (0..<number.count).map { UInt8(truncatingIfNeeded: number.value >> (8 * $0)) }
      }
    }
    func head(_ depth: Int, _ packing: Int, _ start: Int, colors: Int = 0) -> [UInt8] {
      Array("BM".utf8)
        + little([
          (0, 8), (start, 4), (40, 4), (3, 4), (1, 4), (1, 2), (depth, 2), (packing, 4), (0, 12),
          (colors, 4), (0, 4),
        ])
    }
    let palette: [UInt8] = [3, 2, 1, 0, 6, 5, 4, 0]
    let masks = little([(0xFF, 4), (0xFF00, 4), (0xFF_0000, 4)])
    let wide = little([(0x7C00, 2), (0x3E0, 2), (0x1F, 2)])
    let paired: [UInt8] = [4, 5, 6, 1, 2, 3, 4, 5, 6]
    let one: [UInt8] = [0b1010_0000, 0, 0, 0]
    let four: [UInt8] = [0x10, 0x10, 0, 0]
    // An index beyond the colours is the first.
    let eight: [UInt8] = [0, 1, 9, 0]
    let padding: [UInt8] = [0, 0]
    let long: [UInt8] = [1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0]
    var files: [[UInt8]: [UInt8]] = [:]
    files[head(1, 0, 62, colors: 2) + palette + one] = paired
    files[head(4, 0, 62, colors: 2) + palette + four] = paired
    files[head(8, 0, 62, colors: 2) + palette + eight] = [1, 2, 3, 4, 5, 6, 1, 2, 3]
    files[head(16, 0, 54) + wide + padding] = [255, 0, 0, 0, 255, 0, 0, 0, 255]
    files[head(32, 3, 66) + masks + long] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    for (file, colors) in files {
      let bitmap = try BMPDecoder.bitmap(of: file, name: "x", limit: 100)
      #expect(bitmap.size == PictureSize(width: 3, height: 1))
      for index in 0..<3 {
        let color = colors[index * 3..<index * 3 + 3] + [255]
        #expect(pixel(bitmap, index, 0) == Array(color))
      }
    }
  }

  /// Of more than 1 MiB the beginning is read first, and the rest only where that can be decoded.
  @Test func `the beginning of a long picture tells whether the rest is read`() async throws {
    let long = madeBMP(700, 600) { x, _ in x < 350 ? (255, 0, 0) : (0, 0, 255) }
    #expect(long.count > 1 << 20)
    let small = try #require(try await thumbnail(of: long))
    #expect(pixel(small, 50, 114) == [255, 0, 0, 255])
    #expect(pixel(small, 178, 114) == [0, 0, 255, 255])
    // The size stands in the beginning, and is believed for a refusal.
    var huge = long
    for offset in [18, 22] { huge.replaceSubrange(offset..<offset + 2, with: [0xDC, 0xFF]) }
    #expect(try await thumbnail(of: huge) == nil)
    #expect(try await thumbnail(of: Array("%PDF".utf8) + long) == nil)
    // All that is missing is missing at the end, which only the decoder sees.
    #expect(try await thumbnail(of: Array(long.dropLast(8))) == nil)
  }

  @Test func `hostile BMPs are refused before they take memory`() async throws {
    func patched(_ offset: Int, _ value: Int, _ count: Int = 4) -> [UInt8] {
      var bytes = madeBMP(4, 4)
      for index in 0..<count {
        bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
      }
      return bytes
    }
    var large = patched(18, 65_500)
    large.replaceSubrange(22..<26, with: patched(22, 65_500)[22..<26])
    let table: [([UInt8], FieldpackError.Code)] = [
      (large, .unsupported), (patched(18, 0), .invalidData), (patched(18, -4), .invalidData),
      (patched(22, Int(Int32.min)), .unsupported), (patched(22, 5), .invalidData),
      (patched(10, 1 << 30), .invalidData), (patched(10, 0), .invalidData),
      (patched(14, 5000), .invalidData), (patched(28, 7, 2), .unsupported),
      (patched(30, 1), .unsupported), (Array(madeBMP(4, 4).dropLast()), .invalidData),
      (Array(madeBMP(4, 4).prefix(20)), .invalidData), (patched(28, 8, 2), .invalidData),
    ]
    for (index, (bytes, code)) in table.enumerated() {
      let error = await failure {
        _ = try BMPDecoder.bitmap(of: bytes, name: "x", limit: ItemLimit.pixels)
      }
      #expect(error?.code == code, "row \(index)")
      // What was captured is stored all the same.
      #expect(try await thumbnail(of: bytes) == nil)
    }
  }

  private enum ItemLimit { static let pixels = 1 << 24 }
}
