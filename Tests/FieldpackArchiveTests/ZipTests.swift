import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackArchive

@Suite(.programs) struct ZipTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// By Python's zipfile: a folder, a deflated entry, and stored ones whose names lead elsewhere.
  private static let packed = [UInt8](
    Data(
      base64Encoded: """
        UEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAACAAAAYS9QSwMEFAAAAAgAAAAhAJihIuYLAAAAeAAAAAkAAABhL2RvYy5r\
        bWyzyc7N0bezoTsJAFBLAwQUAAAAAAAAACEAcO6UQwIAAAACAAAACQAAAC4uL3VwLnR4dHVwUEsDBBQAAAAAAAAAIQCm\
        UZMoAwAAAAMAAAAIAAAAL2Ficy50eHRhYnNQSwMEFAAACAgAAAAhAD6NBA4EAAAAAgAAAAYAAADDqS50eHQ7vBIAUEsB\
        AhQDFAAAAAAAAAAhAAAAAAAAAAAAAAAAAAIAAAAAAAAAAAAAAIABAAAAAGEvUEsBAhQDFAAAAAgAAAAhAJihIuYLAAAA\
        eAAAAAkAAAAAAAAAAAAAAIABIAAAAGEvZG9jLmttbFBLAQIUAxQAAAAAAAAAIQBw7pRDAgAAAAIAAAAJAAAAAAAAAAAA\
        AACAAVIAAAAuLi91cC50eHRQSwECFAMUAAAAAAAAACEAplGTKAMAAAADAAAACAAAAAAAAAAAAAAAgAF7AAAAL2Ficy50\
        eHRQSwECFAMUAAAICAAAACEAPo0EDgQAAAACAAAABgAAAAAAAAAAAAAAgAGkAAAAw6kudHh0UEsFBgAAAAAFAAUACAEA\
        AMwAAAAAAA==
        """)!)
  private static let contents: [String: String] = [
    "a/": "", "a/doc.kml": String(repeating: "<kml/>", count: 20), "../up.txt": "up",
    "/abs.txt": "abs", "é.txt": "é",
  ]

  private func input(_ bytes: [UInt8]) throws -> ByteInput {
    let file = folder.file("x.zip")
    try Data(bytes).write(to: file)
    return try ByteInput(path: file.path, name: "x.zip")
  }

  private func read(
    _ bytes: [UInt8], _ limits: UnpackingLimits = UnpackingLimits()
  ) throws -> [String: String] {
    let reader = try ZipReader(try input(bytes), limits: limits)
    var read: [String: String] = [:]
    for entry in reader.entries {
      read[entry.name] = String(decoding: try reader.open(entry).head(1000), as: UTF8.self)
    }
    return read
  }

  @Test func `entries have their names and contents`() throws {
    #expect(try read(Self.packed) == Self.contents)
    let reader = try ZipReader(try input(Self.packed))
    #expect(reader.entries.map(\.name) == ["a/", "a/doc.kml", "../up.txt", "/abs.txt", "é.txt"])
    #expect(reader.entries.map(\.isFolder) == [true, false, false, false, false])
    #expect(reader.entry(named: "A/Doc.kml")?.lastName == "doc.kml")
    #expect(reader.entry(named: "doc.kml") == nil)
    #expect(try reader.open(reader.entries[1]).name == "x.zip/a/doc.kml")
    // Any order, and more than once.
    #expect(try reader.open(reader.entries[3]).head(9) == Array("abs".utf8))
    #expect(try reader.open(reader.entries[2]).head(9) == Array("up".utf8))
  }

  @Test func `a cut archive is an error`() throws {
    // The last five bytes are zeros, and minizip takes them for what is not there.
    for length in 0..<Self.packed.count - 5 {
      let error = try #require(throws: FieldpackError.self, "\(length)") {
        try read(Array(Self.packed.prefix(length)))
      }
      #expect(error.code == .invalidData)
      #expect(error.position?.file == "x.zip")
    }
  }

  @Test func `a byte that changed is an error, or contents as they were`() throws {
    let contents = Set(Self.contents.values)
    for index in Self.packed.indices {
      var bytes = Self.packed
      bytes[index] ^= 0xFF
      do {
        #expect(contents.isSuperset(of: try read(bytes).values))
      } catch let error as FieldpackError {
        #expect([.invalidData, .unsupported].contains(error.code))
      }
    }
  }

  @Test func `a bomb is refused before it is unpacked`() throws {
    var limits = UnpackingLimits()
    limits.freeByteCount = 120
    limits.ratio = 0
    let reader = try ZipReader(try input(Self.packed), limits: limits)
    #expect(try reader.open(reader.entries[1]).size == 120)
    // All entries together count.
    let error = try #require(throws: FieldpackError.self) { try reader.open(reader.entries[2]) }
    #expect(error.position == FilePosition(file: "x.zip"))
    #expect(error.message.hasPrefix("it unpacks to more than 120 bytes, which is refused"))
    limits.entryCount = 4
    let many = try #require(throws: FieldpackError.self) { try read(Self.packed, limits) }
    #expect(many.message == "the ZIP archive has more than 4 entries, which is refused")
  }

  // MARK: Writing

  private func archive(_ entries: [(String, String)]) throws -> [UInt8] {
    let writer = try ZipWriter()
    for (name, text) in entries {
      try writer.begin(name)
      for byte in text.utf8 { try withUnsafeBytes(of: byte) { try writer.write($0) } }
    }
    let output = ByteOutput()
    try writer.finish(into: output)
    return output.buffer
  }

  @Test func `what is written is read`() throws {
    let long = String(repeating: "long text ", count: 90)
    let bytes = try archive([("doc.kml", long), ("files/é.txt", "é"), ("empty", "")])
    #expect(try read(bytes) == ["doc.kml": long, "files/é.txt": "é", "empty": ""])
    #expect(bytes == (try archive([("doc.kml", long), ("files/é.txt", "é"), ("empty", "")])))
  }

  @Test(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
  func `Python reads what is written`() throws {
    let file = folder.file("ours.zip")
    try Data(try archive([("doc.kml", "<kml/>"), ("files/é.txt", "é")])).write(to: file)
    let script = """
      import sys, zipfile
      z = zipfile.ZipFile(sys.argv[1])
      print(z.testzip(), [(n, z.read(n)) for n in z.namelist()])
      """
    let python = try #require(Programs.python)
    #expect(
      try Programs.output(python, ["-c", script, file.path])
        == "None [('doc.kml', b'<kml/>'), ('files/é.txt', b'\\xc3\\xa9')]\n")
  }
}
