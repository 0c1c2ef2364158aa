import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackMedia

/// Numbers that are the same in every run.
private struct Noise: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
}

@Suite(.enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)))
struct HostileMediaTests {
  private func failure(_ bytes: [UInt8]) async throws -> FieldpackError {
    try #require(
      await #expect(throws: FieldpackError.self) {
        try await FFmpeg.standard.thumbnail(
          of: try OpenedMedia.file(bytes), side: 300, else: .omitThumbnail)
      })
  }

  private static func jpeg() async throws -> [UInt8] {
    try await MediaSample.jpeg(Pixels(quartersOf: 40, 30))
  }

  private static func film() async throws -> [UInt8] {
    try await OpenedMedia.film(Pixels(quartersOf: 40, 30))
  }

  @Test func `a picture of 65,500 x 65,500 pixels is not decoded`() async throws {
    var bytes = try await Self.jpeg()
    let frame = try #require(
      bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xC0, 0x00, 0x11]) })
    bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
    let error = try await failure(bytes)
    #expect(error.code == .unsupported)
    #expect(
      error.message == "output says it is 65500 x 65500 pixels large; 134217728 pixels are decoded "
        + "at most")
    bytes.replaceSubrange(frame + 5..<frame + 9, with: [0, 0, 0, 1])
    #expect(try await failure(bytes).message == "output says it is 1 x 0 pixels large")
  }

  @Test func `a film of 65,500 x 65,500 pixels is not decoded`() async throws {
    var bytes = try await Self.film()
    let entry = try #require(MediaSample.offset(of: "stsd", in: bytes))
    MediaSample.set(&bytes, entry + 4 + 8 + 8 + 24, 0xFFDC_FFDC)
    let error = try await failure(bytes)
    #expect(error.code == .unsupported)
    #expect(error.message.hasPrefix("output says it is 65500 x 65500 pixels large"))
  }

  @Test func `a picture that is cut short anywhere is refused`() async throws {
    let bytes = MediaSample.adding(
      MediaSample.exif(6, isLittle: false), to: try await Self.jpeg())
    for count in Array(0..<200) + Array(stride(from: 200, to: bytes.count, by: 7)) {
      let error = #expect(throws: FieldpackError.self) {
        let start = try MediaHeader(
          start: Array(bytes.prefix(min(count, MediaType.length))), name: "a", for: "a test")
        #expect(start.isPicture)
        _ = try JPEGStructure(Array(bytes.prefix(count)), name: "a")
      }
      #expect(error?.code == .invalidData || error?.code == .unsupported)
    }
    let half = try await failure(Array(bytes.prefix(bytes.count / 2)))
    #expect(half.message == "output is cut short: the end of the picture is missing")
  }

  @Test func `a film that is cut short anywhere is refused`() async throws {
    let bytes = try await Self.film()
    for count in Array(0..<64) + Array(stride(from: 64, to: bytes.count, by: 31)) {
      let error = #expect(throws: FieldpackError.self) {
        try OpenedMedia.file(Array(bytes.prefix(count)))
      }
      #expect(error?.code == .invalidData || error?.code == .unsupported)
    }
    let half = try await failure(Array(bytes.prefix(bytes.count / 2)))
    #expect(half.code == .invalidData)
    #expect(half.message.hasPrefix("output is cut short:"))
  }

  @Test func `boxes without an end are refused`() async throws {
    let head = [0, 0, 0, 20] + Array("ftypqt  ".utf8) + [UInt8](repeating: 0, count: 8)
    let box = [0, 0, 0, 8] + Array("free".utf8)
    let many = head + (0..<20_001).flatMap { _ in box }
    #expect(try await failure(many).message == "output has too many boxes")
    let inner = (0..<20_001).flatMap { _ in box }
    var nested = head + [0, 0, 0, 0] + Array("moov".utf8) + inner
    #expect(try await failure(nested).message == "output has too many boxes")
    nested = head + [0, 0, 0, 7] + Array("moov".utf8) + inner
    #expect(try await failure(nested).message == "output has a box without a sensible length")
    let long = head + [0, 0, 0, 1] + Array("moov".utf8) + [UInt8](repeating: 0xFF, count: 8)
    #expect(try await failure(long).message == "output has a box without a sensible length")
    let wide = head + [0, 0, 0, 1] + Array("moov".utf8) + [0, 0, 0xFF, 0, 0, 0, 0, 0]
    #expect(try await failure(wide).message.hasPrefix("output is cut short:"))
  }

  @Test func `directories of EXIF that point to themselves are read once`() throws {
    var exif = MediaSample.exif(6, isLittle: false)
    // The offset of the next directory is the first's own.
    exif.replaceSubrange(40..<44, with: [0, 0, 0, 8])
    #expect(ExifBlock(exif[...])?.turn == .right)
    for offset in exif.indices {
      for value: UInt8 in [0, 1, 0x7F, 0xFF] {
        var damaged = exif
        damaged[offset] = value
        let block = ExifBlock(damaged[...])
        #expect(block == nil || block?.upright.bytes.count == exif.count)
      }
    }
    for count in exif.indices { _ = ExifBlock(exif.prefix(count)) }
    exif.replaceSubrange(14..<16, with: [0xFF, 0xFF])
    #expect(ExifBlock(exif[...])?.turn == .right)
    exif.replaceSubrange(10..<14, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(ExifBlock(exif[...]) == nil)
  }

  @Test func `damaged heads are refused or read, and never worse`() async throws {
    let picture = MediaSample.adding(
      MediaSample.exif(6, isLittle: true), to: try await Self.jpeg())
    let film = try await Self.film()
    var noise = Noise(state: 7)
    var outcomes: [Bool: Int] = [:]
    for round in 0..<300 {
      var bytes = round % 2 == 0 ? picture : film
      for _ in 0..<Int.random(in: 1...8, using: &noise) {
        bytes[Int.random(in: 12..<bytes.count, using: &noise)] = .random(in: 0...255, using: &noise)
      }
      do {
        let size = try OpenedMedia.file(bytes).header.size
        #expect(size.width * size.height <= PictureSize.limit)
        outcomes[true, default: 0] += 1
      } catch let error as FieldpackError {
        #expect([.invalidData, .unsupported].contains(error.code))
        outcomes[false, default: 0] += 1
      }
    }
    #expect(outcomes[true, default: 0] > 20 && outcomes[false, default: 0] > 20)
  }

  @Test func `a film of a codec that is not known is refused by ffmpeg's words`() async throws {
    var bytes = try await Self.film()
    let entry = try #require(MediaSample.offset(of: "stsd", in: bytes))
    bytes.replaceSubrange(entry + 16..<entry + 20, with: Array("raw ".utf8))
    let error = try await failure(bytes)
    #expect(error.code == .invalidData)
    #expect(error.message.hasPrefix("output cannot be decoded: "))
  }

  @Test func `a film whose pictures lie in another file is refused`() async throws {
    var bytes = try await Self.film()
    let reference = try #require(MediaSample.offset(of: "url ", in: bytes))
    // Not in this file, as flag 1 said.
    MediaSample.set(&bytes, reference + 4, 0)
    let offset = try #require(MediaSample.offset(of: "stco", in: bytes))
    MediaSample.set(&bytes, offset + 12, 0x7FFF_FFF0)
    #expect(try await failure(bytes).code == .invalidData)
  }
}
