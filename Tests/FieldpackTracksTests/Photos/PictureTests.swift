import FieldpackTestSupport
import Testing

@testable import FieldpackTracks

@Suite struct PictureTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
    (
      "00000000-0000-0000-0000-000000000000-abcdefghij-1344352260",
      "f8d27bed75bd96014de63cad9951e1845beb28416cda478d7d2943b4f3346cae"
    ),
  ])
  func `digests are those of FIPS 180-4`(text: String, digest: String) {
    #expect(SHA256.hex(Array(text.utf8)) == digest)
  }

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
