import FieldpackTestSupport
import Testing

@testable import FieldpackMedia

@Suite struct PictureSizeTests {
  /// Bytes of a picture, and what they tell of its size.
  struct Sample: Sendable {
    var bytes: [UInt8]
    var size: PictureSize?
  }

  private static let jpegHead: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2]

  @Test(arguments: [
    Sample(
      bytes: TestPicture.png(width: 7, height: 5, color: (1, 2, 3)),
      size: PictureSize(width: 7, height: 5)),
    Sample(
      bytes: jpegHead + [0xFF, 0xC2, 0, 11, 8, 0, 48, 0, 64, 1, 1, 17, 0],
      size: PictureSize(width: 64, height: 48)),
    Sample(
      bytes: Array("GIF89a".utf8) + [3, 1, 2, 0], size: PictureSize(width: 259, height: 2)),
    Sample(bytes: jpegHead + [0xFF, 0xDA, 0, 8, 1]),
    Sample(bytes: jpegHead + [0xFF, 0xE1, 0xFF, 0xFF, 0]),
    Sample(bytes: [0xFF, 0xD8, 0xFF]),
    Sample(bytes: [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0xFF, count: 99)),
    Sample(bytes: Array("GIF89a".utf8)), Sample(bytes: Array("RIFF....WEBPVP8 ".utf8)),
    Sample(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), Sample(bytes: []),
    Sample(bytes: Array("<svg xmlns=".utf8)),
  ])
  func `a picture is as large as its header says`(sample: Sample) {
    #expect(PictureSize(of: sample.bytes) == sample.size)
  }

  @Test func `a header of 65,500 by 65,500 is read and never decoded`() {
    let side: [UInt8] = [0xFF, 0xDC]
    let frame: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8] + side + side + [1, 1, 0x11, 0]
    let size = PictureSize(width: 65_500, height: 65_500)
    #expect(PictureSize(of: frame) == size)
    for count in 0..<frame.count {
      let found = PictureSize(of: Array(frame[..<count]))
      #expect(found == nil || found == size)
    }
  }
}
