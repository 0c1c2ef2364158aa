import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ShapefileHostileTests {
  private static var sample: ShapefileBytes {
    var bytes = ShapefileBytes()
    bytes.kind = 15
    let ring: [(Double, Double)] = [(0, 0), (0, 1), (1, 1), (0, 0)]
    let hole: [(Double, Double)] = [(0.1, 0.2), (0.2, 0.3), (0.1, 0.3), (0.1, 0.2)]
    bytes.shapes = [
      ShapefileBytes.parts(15, [ring, hole], z: [1, 2, 3, 4, 5, 6, 7, 8]),
      ShapefileBytes.parts(15, [ring], z: [1, 2, 3, 4], m: [5, 6, 7, 8]),
    ]
    bytes.fields = [
      .init(name: "n", type: "N", width: 3), .init(name: "d", type: "D", width: 8),
      .init(name: "t", type: "C", width: 3),
    ]
    bytes.rows = ["  120240101abc", "  220240102d\u{E9}f"]
    return bytes
  }

  @Test(arguments: [
    ("shx", "test.shx: the file is missing: it tells where the shapes are"),
    ("dbf", "test.dbf: the file is missing: it holds the attributes"),
  ])
  func `a missing file is named`(suffix: String, message: String) throws {
    var bytes = Self.sample
    bytes.files[suffix] = .some(nil)
    #expect(bytes.failure()?.hasPrefix(message) == true)
    let reading = try bytes.read("shp") { $0.skipsErrors = true }
    #expect(reading.features("test").count == 2)
    #expect(reading.columns("test").count == (suffix == "dbf" ? 0 : 3))
    #expect(reading.result.notes.contains { $0.text.hasPrefix(message) })
  }

  @Test func `damaged files are named`() throws {
    let sample = Self.sample
    var cut = sample
    cut.files["shx"] = Array(sample.shx.dropLast(4))
    #expect(
      cut.failure()?.hasPrefix(
        "test.shx: the index says it has 116 bytes, and the file has 112") == true)
    cut = sample
    cut.files["dbf"] = Array(sample.dbf.dropLast(20))
    #expect(
      cut.failure()?.hasPrefix(
        "test.dbf: the table says it has 2 rows, and the file ends after 0") == true)
    cut = sample
    cut.files["shp"] = Array(sample.shp.dropLast(20))
    #expect(
      cut.failure() == "test.shp: record 2 says it has 208 bytes, and the file has not")
    cut = sample
    cut.rows.append("  320240103abc")
    #expect(
      cut.failure()?.hasPrefix("test.dbf: the table has 3 rows, and there are 2 shapes") == true)
  }

  @Test func `records that lie over each other do not make a file endless`() {
    var bytes = Self.sample
    var index = Array(bytes.shx.prefix(100))
    for _ in 0..<50 { index += bytes.shx[100..<108] }
    index.replaceSubrange(24..<28, with: ShapefileBytes.big(Int32(index.count / 2)))
    bytes.files["shx"] = index
    #expect(bytes.failure() == "test.shx: record 3 lies over other records")
  }

  @Test func `many rings inside of one another are read`() {
    var bytes = ShapefileBytes()
    bytes.kind = 5
    // Alternately clockwise: every hole is in all larger rings.
    let rings = (0..<4000).map { number -> [(Double, Double)] in
      let (low, high) = (Double(number), 10_000 - Double(number))
      let ring = [(low, low), (low, high), (high, high), (high, low), (low, low)]
      return number.isMultiple(of: 2) ? ring : ring.reversed()
    }
    bytes.shapes = [ShapefileBytes.parts(5, rings)]
    // The smallest ring around a hole is found first, so that not every ring is compared with all.
    #expect(bytes.failure() == nil)
  }

  /// Whatever a byte is changed to, or where a file ends, there is a result or an error.
  @Test(arguments: ["shp", "shx", "dbf"]) func `damage never traps`(suffix: String) throws {
    let sample = Self.sample
    let whole = ["shp": sample.shp, "shx": sample.shx, "dbf": sample.dbf][suffix] ?? []
    let folder = try TemporaryFolder()
    try sample.write(to: folder)
    let target = folder.file("test.\(suffix)")
    let path = folder.file("test.shp").path
    var failures = 0
    func check(_ bytes: [UInt8], skips: Bool) throws {
      try Data(bytes).write(to: target)
      do {
        _ = try ShapefileBytes.read(path) { $0.skipsErrors = skips }
      } catch is FieldpackError { failures += 1 }
    }
    for length in 0..<whole.count {
      try check(Array(whole.prefix(length)), skips: length.isMultiple(of: 2))
    }
    for place in whole.indices {
      for value: UInt8 in [0, 0xFF, whole[place] ^ 1] {
        var bytes = whole
        bytes[place] = value
        try check(bytes, skips: place.isMultiple(of: 2))
      }
    }
    #expect(failures > 50)
  }

  @Test func `a point whose z is no number is read`() throws {
    var bytes = ShapefileBytes()
    bytes.kind = 11
    bytes.shapes = [1, .nan].map {
      ShapefileBytes.little(Int32(11)) + ShapefileBytes.little(13, 52, $0, -.infinity)
    }
    bytes.fields = [.init(name: "n", type: "N", width: 3)]
    let texts = try bytes.read().features("test").map { $0.geometry.map { WKT.text(of: $0) } }
    #expect(texts == ["POINT Z (13 52 1)", "POINT Z (13 52 NaN)"])
  }
}
