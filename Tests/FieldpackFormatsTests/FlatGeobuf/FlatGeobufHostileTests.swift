import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// Damaged files and files that somebody made to do damage: read or refused, never a trap.
@Suite struct FlatGeobufHostileTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.file("test.fgb") }

  init() throws { folder = try TemporaryFolder() }

  private func data(_ name: String) throws -> Data {
    try Data(contentsOf: Checkout.file("TestData/fgb/\(name).fgb"))
  }

  @Test func `what GDAL wrote is read`() throws {
    let reading = try readFlatGeobuf(Checkout.file("TestData/fgb/gdal-3.6.fgb").path)
    #expect(reading.passes == 1)
    #expect(reading.schema("test")?.geometry == GeometryColumn(type: .point, srs: .wgs84))
    #expect(
      reading.columns("test").prefix(4) == [
        "name TEXT", "use TEXT", "depth REAL", "level REAL",
      ])
    #expect(reading.features("test").count == 8)
  }

  @Test func `what we wrote is read in one pass`() throws {
    let reading = try readFlatGeobuf(Checkout.file("TestData/fgb/shapes.fgb").path)
    #expect(reading.passes == 1)
    #expect(reading.result.layers.map(\.ids) == [.file])
    #expect(
      reading.columns("test") == ["name TEXT", "n INTEGER", "x REAL", "ok BOOLEAN", "at DATETIME"])
    let texts = reading.features("test").map { feature in
      (feature.id?.description ?? "") + " " + (feature.geometry.map { WKT.text(of: $0) } ?? "none")
    }
    #expect(
      texts.sorted() == [
        "1 POINT Z (1 2 3)", "2 LINESTRING Z (0 0 1,1 1 1)",
        "3 POLYGON Z ((0 0 0,4 0 0,4 4 0,0 0 0),(1 1 0,2 1 0,2 2 0,1 1 0))",
        "4 MULTIPOINT Z ((1 1 1),(2 2 2))", "5 MULTILINESTRING Z ((0 0 1,1 1 1),(2 2 2,3 3 3))",
        "6 MULTIPOLYGON Z (((0 0 0,1 0 0,1 1 0,0 0 0)),((5 5 5,6 5 5,6 6 5,5 5 5)))",
        "7 GEOMETRYCOLLECTION Z (POINT Z (1 1 1),CIRCULARSTRING Z (0 0 0,1 1 1,2 0 2))", "8 none",
      ])
  }

  @Test(arguments: [UInt64(Int64.max), 1_031_865_892_864, 2570])
  func `an index that leads out of the file is an error within it`(offset: UInt64) throws {
    var bytes = try data("shapes")
    // The root comes first, and then a feature without a place.
    let place = 12 + Int(bytes[8]) + Int(bytes[9]) << 8 + 2 * 40 + 32
    withUnsafeBytes(of: offset.littleEndian) { bytes.replaceSubrange(place..<place + 8, with: $0) }
    try bytes.write(to: file)
    let error = #expect(throws: FieldpackError.self) {
      try readFlatGeobuf(file.path) {
        $0.boxes = [Envelope(minX: -100, minY: -100, maxX: 100, maxY: 100)]
      }
    }
    #expect(error?.message == "the index leads behind the end of the file")
    #expect(error?.position?.byteOffset ?? 0 <= bytes.count)
  }

  @Test func `what the header says of values holds where they keep to it`() throws {
    let stated = [
      ColumnDefinition("name", .text(maximumLength: 4), isNullable: false, isUnique: true),
      ColumnDefinition("n", .mediumInt, isNullable: false),
    ]
    func read(_ rows: [[Value]]) throws -> GPXReading {
      let schema = Schema(
        layer: "test", geometry: GeometryColumn(type: .point, srs: .wgs84), columns: stated)
      var encoder = FlatGeobufEncoder(schema, writesIDs: false, skipsErrors: false)
      try encoder.begin(schema)
      for (index, values) in rows.enumerated() {
        try encoder.feature(ValueRow(id: .integer(Int64(index)), values))
      }
      let head = FlatGeobufHeader.bytes(
        of: schema, writesIDs: false, encoder.traits, count: rows.count, bounds: nil,
        system: (nil, nil))
      try Data(head + encoder.bytes).write(to: file)
      return try readFlatGeobuf(file.path)
    }
    let honest = try read([["ÄÖÜß", 1], ["b", 2]])
    #expect(honest.passes == 1)
    #expect(honest.schema("test")?.columns == stated)
    let untrue = try read([["a", 1], ["a", .null], ["abcde", 3]])
    #expect(untrue.passes == 2)
    #expect(
      untrue.schema("test")?.columns == [
        ColumnDefinition("name", .text(), isNullable: false), ColumnDefinition("n", .mediumInt),
      ])
    #expect(untrue.values("test", "name") == ["a", "a", "abcde"])
  }

  @Test(arguments: ["shapes", "gdal-3.6"])
  func `a file cut at any length is refused`(name: String) throws {
    let bytes = try data(name)
    for length in stride(from: 0, to: bytes.count, by: 3) {
      try bytes[..<length].write(to: file)
      #expect(throws: FieldpackError.self) { try readFlatGeobuf(file.path) }
    }
  }

  @Test(arguments: ["shapes", "gdal-3.6"])
  func `a file with any byte changed is read or refused`(name: String) throws {
    let bytes = try data(name)
    for place in bytes.indices {
      var changed = bytes
      changed[place] = [0, 1, 0x7F, 0x80, 0xFF][place % 5]
      try changed.write(to: file)
      do {
        _ = try readFlatGeobuf(file.path) {
          $0.skipsErrors = place & 1 == 1
          if place & 2 == 2 { $0.boxes = [Envelope(minX: 0, minY: 0, maxX: 50, maxY: 60)] }
        }
      } catch {
        #expect(error is FieldpackError)
      }
    }
  }

  /// A file of one feature, whose FlatBuffer this is.
  private func read(feature: [UInt8], count: UInt64 = 0) throws -> GPXReading {
    var bytes =
      FlatGeobufHeader.magic + FlatBufferWriter.sized([(8, .long(count)), (9, .short(0))])
    withUnsafeBytes(of: UInt32(feature.count).littleEndian) { bytes += $0 }
    try Data(bytes + feature).write(to: file)
    return try readFlatGeobuf(file.path)
  }

  @Test func `nested geometries have a limit`() throws {
    func collection(_ depth: Int) -> [(Int, FlatBufferWriter.Field)] {
      depth == 0
        ? [(1, .doubles([1, 2])), (6, .byte(1))]
        : [(6, .byte(7)), (7, .tables([collection(depth - 1)]))]
    }
    let fine = Array(FlatBufferWriter.sized([(0, .table(collection(31)))]).dropFirst(4))
    #expect(try read(feature: fine).features("test").count == 1)
    let deep = Array(FlatBufferWriter.sized([(0, .table(collection(32)))]).dropFirst(4))
    let error = #expect(throws: FieldpackError.self) { try read(feature: deep) }
    #expect(error?.message == "geometries are nested more than 32 deep")
  }

  @Test func `a geometry whose parts are shared cannot grow`() throws {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
    // The root and a feature with a geometry, then 25 collections of twice the next one.
    append(UInt32(12))
    for value: UInt16 in [6, 8, 4, 0] { append(value) }
    append(Int32(8))
    append(UInt32(4 + 20))
    for _ in 0..<25 {
      for value: UInt16 in [20, 12, 0, 0, 0, 0, 0, 0, 4, 8] { append(value) }
      append(Int32(20))
      append(UInt32(7))
      append(UInt32(4))
      append(UInt32(2))
      append(UInt32(8 + 20))
      append(UInt32(4 + 20))
    }
    for value: UInt16 in [20, 12, 0, 0, 0, 0, 0, 0, 4, 0] { append(value) }
    append(Int32(20))
    append(UInt32(7))
    append(UInt32(0))
    let error = #expect(throws: FieldpackError.self) { try read(feature: bytes) }
    #expect(error?.message == "the geometry has parts that are used more than once")
  }

  @Test func `a count of features beyond the file is an error`() throws {
    let feature = Array(
      FlatBufferWriter.sized([(0, .table([(1, .doubles([1, 2])), (6, .byte(1))]))]))
    let error = #expect(throws: FieldpackError.self) {
      try read(feature: Array(feature.dropFirst(4)), count: 1 << 40)
    }
    #expect(error?.message == "the file ends after 1 of 1099511627776 features")
  }

  @Test func `columns that only features state are read`() throws {
    let name: [[(Int, FlatBufferWriter.Field)]] = [[(0, .text("n")), (1, .byte(2))]]
    let feature = FlatBufferWriter.sized([
      (0, .table([(1, .doubles([1, 2])), (6, .byte(1))])), (1, .text("\0\0\u{1}")),
      (2, .tables(name)),
    ])
    let reading = try read(feature: Array(feature.dropFirst(4)))
    #expect(reading.columns("test") == ["n BOOLEAN"])
    #expect(
      reading.features("test") == [
        Feature(id: 1, geometry: .point(x: 1, y: 2), attributes: ["n": true])
      ])
  }
}
