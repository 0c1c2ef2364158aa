import FieldpackTestSupport
import Testing

@testable import FieldpackCore

@Suite struct MediaTypeTests {
  /// The first bytes of a file, and what it is.
  struct Sample: Sendable {
    var bytes: [UInt8]
    var type: MediaType?

    init(_ bytes: [UInt8], _ type: MediaType?) {
      self.bytes = bytes
      self.type = type
    }

    init(_ text: String, _ type: MediaType?) { self.init(Array(text.utf8), type) }

    /// A file of boxes.
    init(box: String, _ type: MediaType?) { self.init([0, 0, 0, 20] + Array(box.utf8), type) }
  }

  private static let samples = [
    Sample(TestPicture.png(color: (1, 2, 3)), .png), Sample([0xFF, 0xD8, 0xFF], .jpeg),
    Sample("RIFF....WEBPVP8 ", .webp), Sample("GIF87a", .gif), Sample("GIF89a", .gif),
    Sample("II*\0", .tiff), Sample("MM\0*", .tiff), Sample("BM1234\0\0\0\0", .bmp),
    Sample("RIFF....AVI LIST", .avi), Sample("%PDF-1.4", .pdf),
    Sample([0x1A, 0x45, 0xDF, 0xA3], .matroska), Sample(box: "ftypqt  ", .quickTime),
    Sample(box: "ftypisom", .mpeg4), Sample(box: "ftypheic", .heic), Sample(box: "ftypmif1", .heif),
    Sample(box: "ftypavif", .avif), Sample(box: "ftypcrx ", .canonRaw),
    Sample(box: "ftypM4A ", .sound), Sample(box: "jP  \r\n\u{87}", .jpeg2000),
    Sample(box: "wide\0\0\u{1}\0", .quickTime), Sample(box: "moov....", .quickTime),
    Sample(box: "mdat....", .quickTime), Sample(box: "pnot....", .quickTime),
    Sample([], nil), Sample([0xFF, 0xD8], nil), Sample([0x89, 0x50, 0x4E, 0x47, 0x0A], nil),
    Sample("JPEG-BYTES", nil), Sample("<svg xmlns=", nil), Sample("<!DOCTYPE html>", nil),
    Sample("RIFF....WAVEfmt ", nil), Sample("BMW and others", nil), Sample("GIF88a......", nil),
    Sample(box: "free....", nil), Sample(box: "ftypqt", nil),
  ]

  @Test(arguments: samples)
  func `a file is what its first bytes say`(sample: Sample) {
    #expect(MediaType(sample.bytes) == sample.type)
    #expect(MediaType(Array(sample.bytes.prefix(MediaType.length))) == sample.type)
  }

  @Test func `each type has a sample, and a name`() {
    #expect(Set(Self.samples.compactMap(\.type)) == Set(MediaType.allCases))
    #expect(Set(MediaType.allCases.map(\.name)).count == MediaType.allCases.count)
  }
}
