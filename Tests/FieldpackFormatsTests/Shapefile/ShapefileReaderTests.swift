import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ShapefileReaderTests {
  /// Rings of squares, clockwise and the other way.
  private static func square(
    _ x: Double, _ y: Double, _ size: Double, clockwise: Bool = true
  ) -> [(Double, Double)] {
    let ring = [(x, y), (x, y + size), (x + size, y + size), (x + size, y), (x, y)]
    return clockwise ? ring : ring.reversed()
  }

  private static func wkt(_ reading: GPXReading) throws -> [String] {
    reading.features("test").map { $0.geometry.map { WKT.text(of: $0) } ?? "-" }
  }

  @Test func `points with their attributes, deleted rows left out`() throws {
    var bytes = ShapefileBytes()
    bytes.shapes = [
      ShapefileBytes.point(1, 2), ShapefileBytes.point(3, 4), ShapefileBytes.little(Int32(0)),
    ]
    bytes.fields = [
      .init(name: "n", type: "N", width: 4), .init(name: "r", type: "N", width: 6, decimals: 2),
      .init(name: "l", type: "L", width: 1), .init(name: "d", type: "D", width: 8),
      .init(name: "c", type: "C", width: 5),
    ]
    bytes.rows = [
      "   7  1.50T20240229caf\u{E9} ", "   8  2.50F20240301x    ", "**** *****?00000000",
    ]
    bytes.deleted = [1]
    bytes.files["prj"] = Array("EPSG:25833".utf8)
    let reading = try bytes.read()
    let date = Value.date(try #require(CalendarDate("2024-02-29")))
    #expect(
      reading.result.layers == [
        FileLayer(
          schema: Schema(
            layer: "test", geometry: GeometryColumn(type: .point, srs: SRS("EPSG", 25833)),
            columns: [
              .init("n", .integer), .init("r", .double), .init("l", .boolean), .init("d", .date),
              .init("c", .text()),
            ]))
      ])
    #expect(
      reading.features("test") == [
        Feature(
          id: 1, geometry: .point(x: 1, y: 2),
          attributes: [
            "n": 7, "r": 1.5, "l": true, "d": date, "c": "café",
          ]),
        Feature(id: 2, geometry: nil, attributes: [:]),
      ])
    #expect(reading.result.notes == [])
    #expect(reading.passes == 1)
  }

  @Test(arguments: [
    ("N", 4, 0, ["   1", " 2.5"], "REAL"), ("N", 4, 0, ["   1", "   x"], "TEXT"),
    ("N", 20, 0, [" 9223372036854775807", "-9223372036854775808"], "INTEGER"),
    ("N", 20, 0, [" 9223372036854775808", "                   1"], "REAL"),
    ("F", 9, 0, ["1.00e+003", "        2"], "REAL"), ("D", 8, 0, ["20240230"], "TEXT"),
    ("D", 8, 0, ["        ", "20240228"], "DATE"), ("M", 4, 0, ["  12"], "TEXT"),
  ])
  func `a column holds all of its values`(
    type: Character, width: Int, decimals: Int, values: [String], declared: String
  ) throws {
    var bytes = ShapefileBytes()
    bytes.shapes = values.map { _ in ShapefileBytes.point(0, 0) }
    bytes.fields = [.init(name: "v", type: type, width: width, decimals: decimals)]
    bytes.rows = values
    let reading = try bytes.read()
    #expect(reading.columns("test") == ["v \(declared)"])
    let present = values.filter { $0.contains { $0 != " " } }
    #expect(reading.values("test", "v").count { !$0.isNull } == present.count)
  }

  @Test func `rings are polygons and holes by the way they run`() throws {
    var bytes = ShapefileBytes()
    bytes.kind = 5
    let outer = Self.square(0, 0, 10)
    let hole = Self.square(2, 2, 6, clockwise: false)
    let island = Self.square(3, 3, 3)
    let pond = Self.square(4, 4, 1, clockwise: false)
    bytes.shapes = [
      ShapefileBytes.parts(5, [outer]), ShapefileBytes.parts(5, [hole, outer]),
      ShapefileBytes.parts(5, [outer, pond, island, hole]),
      // No ring runs as it should.
      ShapefileBytes.parts(5, [outer.reversed(), hole, island.reversed()]),
    ]
    let reading = try bytes.read()
    #expect(reading.schema("test")?.geometry?.type == .multiPolygon)
    #expect(
      try Self.wkt(reading) == [
        "MULTIPOLYGON (((0 0,0 10,10 10,10 0,0 0)))",
        "MULTIPOLYGON (((0 0,0 10,10 10,10 0,0 0),(2 2,8 2,8 8,2 8,2 2)))",
        "MULTIPOLYGON (((0 0,0 10,10 10,10 0,0 0),(2 2,8 2,8 8,2 8,2 2)),"
          + "((3 3,3 6,6 6,6 3,3 3),(4 4,5 4,5 5,4 5,4 4)))",
        "MULTIPOLYGON (((0 0,10 0,10 10,0 10,0 0),(2 2,8 2,8 8,2 8,2 2)),"
          + "((3 3,6 3,6 6,3 6,3 3)))",
      ])
  }

  @Test func `a ring that is not closed is closed`() throws {
    var bytes = ShapefileBytes()
    bytes.kind = 5
    bytes.shapes = [ShapefileBytes.parts(5, [[(0, 0), (0, 1), (1, 1)]])]
    #expect(try Self.wkt(bytes.read()) == ["POLYGON ((0 0,0 1,1 1,0 0))"])
  }

  @Test func `z and m are there where shapes have them`() throws {
    var bytes = ShapefileBytes()
    bytes.kind = 13
    let line: [(Double, Double)] = [(0, 0), (1, 1)]
    bytes.shapes = [
      ShapefileBytes.parts(13, [line], z: [5, 6]),
      ShapefileBytes.parts(13, [line], z: [5, 6], m: [-1e39, -1e39]),
      ShapefileBytes.parts(13, [line], z: [5, 6], m: [7, -1e39]),
    ]
    let reading = try bytes.read()
    #expect(
      reading.schema("test")?.geometry
        == GeometryColumn(type: .lineString, srs: .undefinedCartesian, z: .mandatory, m: .optional))
    #expect(
      try Self.wkt(reading) == [
        "LINESTRING Z (0 0 5,1 1 6)", "LINESTRING Z (0 0 5,1 1 6)",
        "LINESTRING ZM (0 0 5 7,1 1 6 NaN)",
      ])
  }

  @Test func `a MultiPatch is the polygons of its faces`() throws {
    var bytes = ShapefileBytes()
    bytes.kind = 31
    let four: [(Double, Double)] = [(0, 0), (0, 1), (1, 1), (1, 0)]
    let z: [Double] = [1, 2, 3, 4]
    bytes.shapes = [
      ShapefileBytes.parts(31, [four], z: z, types: [0]),
      ShapefileBytes.parts(31, [four], z: z, types: [1]),
      ShapefileBytes.parts(31, [four, four], z: z + z, types: [2, 3]),
    ]
    let ring = "(0 0 1,0 1 2,1 1 3,1 0 4,0 0 1)"
    #expect(
      try Self.wkt(bytes.read()) == [
        "MULTIPOLYGON Z (((0 0 1,0 1 2,1 1 3,0 0 1)),((0 1 2,1 1 3,1 0 4,0 1 2)))",
        "MULTIPOLYGON Z (((0 1 2,1 1 3,0 0 1,0 1 2)),((1 1 3,1 0 4,0 0 1,1 1 3)))",
        "MULTIPOLYGON Z ((\(ring),\(ring)))",
      ])
  }

  @Test(arguments: [
    ("UTF-8", "\u{C3}\u{9F}", "ß"), ("1250", "\u{9A}", "š"), ("ANSI 1251", "\u{C6}", "Ж"),
    ("ISO 8859-5", "\u{B6}", "Ж"), ("ISO88592", "\u{B9}", "š"), ("CP936", "\u{D6}\u{D0}", "中"),
    ("SJIS", "\u{93}\u{FA}", "日"), ("LDID/201", "\u{C6}", "Ж"), (nil, "\u{DF}", "ß"),
    ("<html>", "\u{DF}", "ß"), ("OEM 437", "\u{E1}", "ß"),
  ])
  func `the code page tells the encoding`(page: String?, stored: String, text: String) throws {
    var bytes = ShapefileBytes()
    bytes.shapes = [ShapefileBytes.point(0, 0)]
    bytes.fields = [.init(name: "v", type: "C", width: 4)]
    bytes.rows = [stored]
    bytes.files["CPG"] = page.map { Array($0.utf8) }
    bytes.files["prj"] = Array("EPSG:4326".utf8)
    let reading = try bytes.read()
    #expect(reading.values("test", "v") == [.text(text)])
    #expect(reading.result.notes.count == (page == "<html>" ? 1 : 0))
  }

  @Test func `bytes that are no text are replaced, and told`() throws {
    var bytes = ShapefileBytes()
    bytes.shapes = [ShapefileBytes.point(0, 0)]
    bytes.fields = [.init(name: "v", type: "C", width: 4)]
    bytes.rows = ["a\u{FF}b"]
    bytes.files = ["cpg": Array("UTF-8".utf8), "prj": Array("EPSG:4326".utf8)]
    let reading = try bytes.read()
    #expect(reading.values("test", "v") == ["a\u{FFFD}b"])
    #expect(
      reading.result.notes == ["U+FFFD stands for bytes that are not UTF-8, in texts: 1 of them"])
  }

  @Test func `a column fid of distinct integers gives the ids`() throws {
    var bytes = ShapefileBytes()
    bytes.shapes = [ShapefileBytes.point(0, 0), ShapefileBytes.point(1, 1)]
    bytes.fields = [.init(name: "FID", type: "N", width: 3), .init(name: "k", type: "N", width: 3)]
    bytes.rows = [" 17  5", "  4  6"]
    bytes.files["prj"] = Array("EPSG:4326".utf8)
    #expect(try bytes.read().features("test").map(\.id) == [17, 4])
    #expect(try bytes.read("shp") { $0.idColumn = "K" }.features("test").map(\.id) == [5, 6])
    bytes.rows[1] = " 17  6"
    let reading = try bytes.read()
    #expect(reading.features("test").map(\.id) == [1, 2])
    #expect(reading.columns("test") == ["FID_2 INTEGER", "k INTEGER"])
    #expect(
      reading.result.notes == [
        "column 'FID' does not hold distinct integers and is named 'FID_2'"
      ])
  }

  @Test func `a table alone is a layer of attributes`() throws {
    var bytes = ShapefileBytes()
    bytes.fields = [.init(name: "v", type: "C", width: 2)]
    bytes.rows = ["ab", "cd"]
    bytes.files = ["shp": nil, "shx": nil]
    let reading = try bytes.read("dbf")
    #expect(reading.schema("test")?.geometry == nil)
    #expect(reading.values("test", "v") == ["ab", "cd"])
  }

  @Test func `an empty file has the type of its header`() throws {
    var bytes = ShapefileBytes()
    bytes.kind = 15
    bytes.fields = [.init(name: "v", type: "C", width: 2)]
    let reading = try bytes.read()
    #expect(reading.schema("test")?.geometry?.type == .polygon)
    #expect(reading.schema("test")?.geometry?.z == .mandatory)
    #expect(reading.features("test") == [])
    #expect(reading.passes == 1)
  }

  @Test func `the given reference system goes before the file's`() throws {
    var bytes = ShapefileBytes()
    bytes.shapes = [ShapefileBytes.point(0, 0)]
    bytes.files["prj"] = Array("EPSG:4326".utf8)
    let given = try bytes.read("shp") { $0.sourceSRS = SRS("EPSG", 3857) }
    #expect(given.schema("test")?.geometry?.srs == SRS("EPSG", 3857))
    #expect(
      given.result.notes == [
        "the .prj says EPSG:4326; the coordinates are taken to be in EPSG:3857"
      ])
    bytes.files["prj"] = .some(nil)
    let none = try bytes.read()
    #expect(
      none.result.notes == [
        Note("the file does not say its reference system", advice: .nameSourceSRS)
      ])
  }
}
