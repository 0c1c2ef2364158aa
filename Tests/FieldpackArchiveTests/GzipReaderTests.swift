import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackArchive

@Suite struct GzipReaderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Two members by Python's gzip: three times "hello, " on a line of its own, and "world".
  private static let packed = [UInt8](
    Data(
      base64Encoded:
        "H4sIAAAAAAACA8tIzcnJ11HgykCjARKn5ecYAAAAH4sIAAAAAAACAyvPL8pJ4QIAqGE43QYAAAA=")!)
  private static let text = "hello, \nhello, \nhello, \nworld\n"
  private static let firstLength = 30

  private func input(_ bytes: [UInt8], _ name: String = "x.gz") throws -> ByteInput {
    let file = folder.file(name)
    try Data(bytes).write(to: file)
    return try ByteInput(path: file.path, name: name)
  }

  private func unpacked(
    _ bytes: [UInt8], _ limits: UnpackingLimits = UnpackingLimits()
  ) throws -> String {
    let contents = try input(bytes).unpacked(limits: limits)
    #expect(contents.name == "x.gz")
    return String(decoding: try contents.head(1000), as: UTF8.self)
  }

  @Test(arguments: [0, 1, 700]) func `members and the padding behind them are one text`(
    padding: Int
  ) throws {
    #expect(
      try unpacked(Self.packed + [UInt8](repeating: 0, count: padding)) == Self.text)
  }

  @Test func `what is not packed stays as it is`() throws {
    #expect(try unpacked(Array("BZh,lon,lat".utf8)) == "BZh,lon,lat")
    #expect(try unpacked([]) == "")
  }

  @Test func `the head is unpacked alone`() throws {
    let input = try input(Self.packed)
    #expect(try input.unpackedHead(12) == Array(Self.text.utf8.prefix(12)))
    #expect(try input.unpackedHead(100) == Array(Self.text.utf8))
  }

  @Test func `a file that is cut short is an error with its byte`() throws {
    for length in 4..<Self.packed.count {
      let bytes = Array(Self.packed.prefix(length))
      if length == Self.firstLength {
        #expect(try unpacked(bytes) == String(Self.text.prefix(24)))
        continue
      }
      let error = try #require(throws: FieldpackError.self) { try unpacked(bytes) }
      #expect(error.code == .invalidData)
      #expect(error.message == "the file ends in the middle of its compressed data")
      #expect(error.position == FilePosition(file: "x.gz", byteOffset: length))
    }
  }

  @Test func `a byte that changed is an error, or changes no content`() throws {
    for index in 3..<Self.packed.count {
      for change: UInt8 in [1, 0x80, 0xFF] {
        var bytes = Self.packed
        bytes[index] ^= change
        do {
          #expect(try unpacked(bytes) == Self.text)
        } catch {
          #expect((error as? FieldpackError)?.code == .invalidData)
        }
      }
    }
  }

  @Test func `something else behind the data is an error`() throws {
    let error = try #require(throws: FieldpackError.self) {
      try unpacked(Self.packed + Array("tail".utf8))
    }
    #expect("\(error)" == "x.gz, byte 56: behind the compressed data is something else")
  }

  @Test func `a bomb is refused`() throws {
    var limits = UnpackingLimits()
    limits.freeByteCount = 10
    limits.ratio = 0
    let error = try #require(throws: FieldpackError.self) { try unpacked(Self.packed, limits) }
    #expect(error.code == .invalidData)
    #expect(error.message.hasPrefix("it unpacks to more than 10 bytes"))
    limits.ratio = 1
    #expect(try unpacked(Self.packed, limits) == Self.text)
    limits.byteCount = 29
    #expect(throws: FieldpackError.self) { try unpacked(Self.packed, limits) }
  }

  @Test(arguments: [
    ("bzip2", Array("BZh91AY&SY".utf8)), ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0]),
    ("zstd", [0x28, 0xB5, 0x2F, 0xFD, 4]), ("7z", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
  ])
  func `other compressions are named`(name: String, head: [UInt8]) throws {
    let error = try #require(throws: FieldpackError.self) { try unpacked(head) }
    #expect(error.code == .unsupported)
    #expect(error.message == "x.gz is \(name)-compressed; unpack it first")
  }
}
