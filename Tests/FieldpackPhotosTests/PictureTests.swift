import FieldpackField
import FieldpackTestSupport
import Testing

@testable import FieldpackPhotos

@Suite struct PictureTests {
  /// Bytes of a picture, and what is known of it.
  struct Sample: Sendable {
    var bytes: [UInt8]
    var type: String?
    var size: [Int?] = [nil, nil]
  }

  private static let jpegHead: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2]

  @Test(arguments: [
    Sample(
      bytes: TestPicture.png(width: 7, height: 5, color: (1, 2, 3)), type: "image/png",
      size: [7, 5]),
    Sample(
      bytes: jpegHead + [0xFF, 0xC2, 0, 11, 8, 0, 48, 0, 64, 1, 1, 17, 0], type: "image/jpeg",
      size: [64, 48]),
    Sample(bytes: jpegHead + [0xFF, 0xDA, 0, 8, 1], type: "image/jpeg"),
    Sample(bytes: jpegHead + [0xFF, 0xE1, 0xFF, 0xFF, 0], type: "image/jpeg"),
    Sample(bytes: [0xFF, 0xD8, 0xFF], type: "image/jpeg"),
    Sample(bytes: [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0xFF, count: 99), type: "image/jpeg"),
    Sample(bytes: Array("GIF89a".utf8) + [3, 1, 2, 0], type: "image/gif", size: [259, 2]),
    Sample(bytes: Array("GIF89a".utf8), type: "image/gif"),
    Sample(bytes: Array("RIFF....WEBPVP8 ".utf8), type: "image/webp"),
    Sample(bytes: []), Sample(bytes: [0xFF, 0xD8]), Sample(bytes: Array("<svg xmlns=".utf8)),
    Sample(bytes: Array("<!DOCTYPE html>".utf8)), Sample(bytes: Array("%PDF-1.4".utf8)),
  ])
  func `a picture is what its first bytes say`(sample: Sample) {
    let type = PictureType(sample.bytes)
    #expect(type?.contentType == sample.type)
    #expect([type?.width, type?.height] == sample.size)
  }
}
