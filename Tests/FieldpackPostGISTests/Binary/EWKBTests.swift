import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackPostGIS

@Suite struct EWKBTests {
  /// The EWKB of each text is what `ST_GeomFromEWKT` of PostGIS 3.3.2 gives.
  static let table: [(wkt: String, srid: Int32, ewkb: String)] = [
    ("POINT (1 2)", 0, "0101000000000000000000f03f0000000000000040"),
    ("POINT (1 2)", 4326, "0101000020e6100000000000000000f03f0000000000000040"),
    (
      "POINT Z (1 2 3)", 4326,
      "01010000a0e6100000000000000000f03f00000000000000400000000000000840"
    ),
    (
      "POINT ZM (1 2 3 4)", 25833,
      "01010000e0e9640000000000000000f03f000000000000004000000000000008400000000000001040"
    ),
    ("POINT EMPTY", 4326, "0101000020e6100000000000000000f87f000000000000f87f"),
    ("LINESTRING EMPTY", 4326, "0102000020e610000000000000"),
    (
      "MULTIPOINT M (1 2 3)", 4326,
      "0104000060e6100000010000000101000040000000000000f03f00000000000000400000000000000840"
    ),
    (
      "CIRCULARSTRING (0 0,1 1,2 0)", 0,
      "01080000000300000000000000000000000000000000000000000000000000f03f000000000000f03f"
        + "00000000000000400000000000000000"
    ),
    (
      "GEOMETRYCOLLECTION Z (POINT Z (1 2 3))", 4326,
      "01070000a0e6100000010000000101000080000000000000f03f00000000000000400000000000000840"
    ),
  ]

  @Test(arguments: table)
  func `a geometry is sent as PostGIS writes it`(
    wkt: String, srid: Int32, ewkb: String
  ) throws {
    let geometry = try WKT.read(wkt)
    #expect(try EWKB.bytes(of: geometry, srid: srid).hex == ewkb)
    var back: [UInt8] = []
    let found = try EWKB.append(ewkb: bytes(ewkb).span.bytes, asWKBTo: &back)
    #expect(found == srid)
    #expect(back == WKB.bytes(of: geometry))
  }

  @Test func `the blob of a GeoPackage is sent without its header`() throws {
    var blob: [UInt8] = []
    GeoPackageBinary.append(try WKT.read("LINESTRING (1 2,3 4)"), srsID: 4326, to: &blob)
    var sent: [UInt8] = [7]
    try EWKB.append(blob: blob.span.bytes, srid: 25833, to: &sent)
    #expect(
      sent.hex == "070102000020e964000002000000000000000000f03f0000000000000040"
        + "00000000000008400000000000001040")
  }

  @Test func `a big-endian WKB keeps its byte order`() throws {
    let wkb = WKB.bytes(of: .point(x: 1, y: 2), byteOrder: .big)
    var sent: [UInt8] = []
    try EWKB.append(wkb: wkb.span.bytes, srid: 4326, to: &sent)
    #expect(sent.hex == "0020000001000010e63ff00000000000004000000000000000")
    #expect(try WKB.read(sent) == .point(x: 1, y: 2))
  }

  @Test(arguments: [
    ("POINT (1 2)", "MULTIPOINT (1 2)"), ("POINT Z (1 2 3)", "MULTIPOINT Z (1 2 3)"),
    ("POLYGON ((0 0,1 0,1 1,0 0))", "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))"),
    ("LINESTRING EMPTY", "MULTILINESTRING EMPTY"), ("POINT EMPTY", "MULTIPOINT EMPTY"),
  ])
  func `a single geometry becomes the only member of its Multi type`(
    single: String, multi: String
  ) throws {
    let wkb = WKB.bytes(of: try WKT.read(single))
    var sent: [UInt8] = []
    try EWKB.append(wkb: wkb.span.bytes, srid: 4326, asMulti: true, to: &sent)
    #expect(try sent == EWKB.bytes(of: WKT.read(multi), srid: 4326))
  }

  @Test(arguments: [
    ("LINESTRING (1 2)", "a line has one position, and PostGIS takes no fewer than two"),
    ("POLYGON ((0 0,1 0,0 0))", "a ring has 3 positions, and PostGIS takes no fewer than four"),
    ("POLYGON ((0 0,1 0,1 1,0 1))", "a ring is not closed"),
    (
      "CIRCULARSTRING (0 0,1 1)",
      "a circular string has 2 positions, and PostGIS takes odd numbers from three on"
    ),
    (
      "MULTILINESTRING ((0 0,1 1),(2 2))",
      "a line has one position, and PostGIS takes no fewer than two"
    ),
  ])
  func `what PostGIS would refuse is told before it is sent`(wkt: String, why: String) throws {
    let wkb = WKB.bytes(of: try WKT.read(wkt))
    var sent: [UInt8] = [1, 2]
    let error = #expect(throws: EWKBMistake.self) {
      try EWKB.append(wkb: wkb.span.bytes, srid: 4326, to: &sent)
    }
    #expect(error?.description == why)
    #expect(sent == [1, 2])
  }

  /// What a server must not be able to do to its client.
  static let hostile: [(name: String, ewkb: String, kind: GeometryError.Kind)] = [
    ("nothing", "", .truncated),
    ("a header alone", "0101000020", .truncated),
    ("half a point", "0101000020e6100000000000000000f03f", .truncated),
    ("more than a point", "0101000000000000000000f03f000000000000004000", .trailingBytes),
    ("four billion positions", "0102000020e6100000ffffffff", .truncated),
    ("four billion rings", "0103000020e6100000ffffffff", .truncated),
    ("four billion members", "0107000020e6100000ffffffff", .truncated),
    ("a type that is not known", "01630000000000000000000000", .unknownType),
    ("an abstract type", "010d000000000000000000", .unknownType),
    ("a byte order of seven", "0701000000000000000000f03f0000000000000040", .unknownByteOrder),
    (
      "a line in a multipoint", "0104000000010000000102000000" + String(repeating: "00", count: 16),
      .wrongMember
    ),
    (
      "z inside of x and y",
      "0104000000010000000101000080000000000000f03f00000000000000400000000000000840",
      .mixedDimensions
    ),
    (
      "thousands of levels", String(repeating: "010700000001000000", count: 5_000) + "0107",
      .tooDeep
    ),
  ]

  @Test(arguments: hostile)
  func `hostile bytes of a server are a typed error`(
    name: String, ewkb: String, kind: GeometryError.Kind
  ) {
    var back: [UInt8] = [9]
    let error = #expect(throws: GeometryError.self) {
      try EWKB.append(ewkb: bytes(ewkb).span.bytes, asWKBTo: &back)
    }
    #expect(error?.kind == kind)
    #expect(back == [9])
  }
}

/// The bytes that hexadecimal digits say.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.filter { $0 != " " && $0 != "\n" }.map { UInt8($0.hexDigitValue ?? 0) }
  return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
