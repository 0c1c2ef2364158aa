import FieldpackTestSupport
import Testing

@testable import FieldpackCaptures

@Suite struct MediaTypeTests {
  @Test func `media are told by their first bytes`() {
    let png = TestPicture.png(width: 4, height: 3, color: (1, 2, 3))
    #expect(MediaType(png) == MediaType(contentType: "image/png", width: 4, height: 3))
    for (brand, type) in [("qt  ", "video/quicktime"), ("isom", "video/mp4")] {
      let bytes = [0, 0, 0, 20] + Array("ftyp\(brand)".utf8) + [0, 0, 2, 0]
      #expect(MediaType(bytes) == MediaType(contentType: type))
    }
    let old = [0, 0, 0, 8] + Array("wide".utf8) + [0, 0, 1, 0] + Array("mdat".utf8)
    #expect(MediaType(old) == MediaType(contentType: "video/quicktime"))
    for bytes in [[], [0xFF, 0xD8], Array("JPEG-BYTES".utf8), Array("<svg/>".utf8)] {
      #expect(MediaType(bytes) == MediaType(contentType: "application/octet-stream"))
    }
  }

  @Test func `a header of 65,500 by 65,500 is read and never decoded`() {
    let size: [UInt8] = [0xFF, 0xDC]
    let frame: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8] + size + size + [1, 1, 0x11, 0]
    #expect(
      MediaType(frame) == MediaType(contentType: "image/jpeg", width: 65_500, height: 65_500))
    for count in 3..<frame.count {
      #expect(MediaType(Array(frame[..<count])).contentType == "image/jpeg")
    }
  }
}
