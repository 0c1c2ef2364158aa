import FieldpackGeometry
import Testing

@Suite struct WKBMalformedTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let hex: String
    let error: GeometryError
    var testDescription: String { name }

    init(
      _ name: String, _ hex: String, _ kind: GeometryError.Kind, at offset: Int, _ message: String
    ) {
      self.name = name
      self.hex = hex
      self.error = GeometryError(kind, at: offset, message)
    }
  }

  static let xy = "000000000000f03f0000000000000040"

  static let cases = [
    Case("nothing", "", .truncated, at: 0, "the bytes end before a geometry's header"),
    Case("header only", "0101000000", .truncated, at: 5, "the bytes end before a point's position"),
    Case(
      "count 0x7fffffff in 9 bytes", "0102000000 ffffff7f", .truncated, at: 5,
      "2147483647 positions do not fit into the 0 bytes left"),
    Case(
      "ring count 0xffffffff", "0103000000 ffffffff 05000000", .truncated, at: 5,
      "4294967295 rings do not fit into the 4 bytes left"),
    Case(
      "positions of a ring", "0103000000 01000000 02000000" + xy, .truncated, at: 9,
      "2 positions do not fit into the 16 bytes left"),
    Case(
      "member count", "0000000007 7fffffff",
      .truncated, at: 5, "2147483647 members do not fit into the 0 bytes left"),
    Case(
      "SRID cut", "0101000020 e610", .truncated, at: 5, "the bytes end before the SRID"),
    Case(
      "byte order 7", "0701000000" + xy, .unknownByteOrder, at: 0,
      "byte order is 7, not 0 (big-endian) or 1 (little-endian)"),
    Case("type 99", "0163000000" + xy, .unknownType, at: 1, "geometry type 99 is unknown"),
    Case("type 4001", "01a10f0000" + xy, .unknownType, at: 1, "geometry type 4001 is unknown"),
    Case("abstract", "010d000000 00000000", .unknownType, at: 1, "geometry type 13 is unknown"),
    Case(
      "trailing", "0101000000" + xy + "67617262616765", .trailingBytes, at: 21,
      "7 bytes follow the geometry"),
    Case(
      "line in MULTIPOINT", "0104000000 01000000 0102000000 00000000" + xy, .wrongMember, at: 9,
      "MULTIPOINT cannot hold a LINESTRING"),
    Case(
      "point in MULTIPOLYGON", "0106000000 01000000 0101000000" + xy, .wrongMember, at: 9,
      "MULTIPOLYGON cannot hold a POINT"),
    Case(
      "polygon in COMPOUNDCURVE", "0109000000 01000000 0103000000 00000000", .wrongMember, at: 9,
      "COMPOUNDCURVE cannot hold a POLYGON"),
    Case(
      "POINT Z in XY", "0107000000 01000000 01e9030000" + xy + "0000000000000840",
      .mixedDimensions, at: 9,
      "POINT has the dimensions XYZ inside GEOMETRYCOLLECTION with XY"),
  ]

  @Test(arguments: cases) func `malformed bytes are refused with place and reason`(
    given: Case
  ) {
    let input = bytes(given.hex)
    #expect(failure { () throws(GeometryError) in try WKB.read(input) } == given.error)
    let inEnvelope = failure { () throws(GeometryError) in
      try WKB.envelope(of: input.span.bytes)
    }
    #expect(inEnvelope == given.error)
  }

  @Test func `every cut of every geometry is refused`() {
    for geometry in Samples.types.map({ Samples.geometry($0, .xyz) }) {
      let whole = WKB.bytes(of: geometry, flavour: .ewkb(srid: 1))
      for length in 0..<whole.count {
        let error = failure { () throws(GeometryError) in
          try WKB.read(Array(whole.prefix(length)))
        }
        #expect(error?.kind == .truncated, "\(geometry.type) of \(length) bytes")
      }
    }
  }

  @Test func `every changed byte is read or refused, never more`() {
    for geometry in Samples.types.map({ Samples.geometry($0, .xym) }) {
      var whole = WKB.bytes(of: geometry)
      for index in whole.indices {
        let before = whole[index]
        for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
          whole[index] = value
          let error = failure { () throws(GeometryError) in
            let read = try WKB.read(whole)
            #expect(WKB.bytes(of: read).count <= whole.count)
          }
          if value == before { #expect(error == nil) }
        }
        whole[index] = before
      }
    }
  }

  static func nested(_ depth: Int) -> [UInt8] {
    let level = bytes("0107000000 01000000")
    return (1..<depth).flatMap { _ in level } + bytes("0107000000 00000000")
  }

  @Test func `nesting is read to its cap and no deeper`() throws {
    #expect(try WKB.read(Self.nested(32)).isEmpty)
    for depth in [33, 2_000, 100_000] {
      let error = failure { () throws(GeometryError) in try WKB.read(Self.nested(depth)) }
      #expect(
        error
          == GeometryError(.tooDeep, at: 32 * 9, "geometries are nested more than 32 deep"))
      #expect(
        failure { () throws(GeometryError) in
          try WKB.isEmpty(Self.nested(depth).span.bytes)
        }?.kind == .tooDeep)
    }
  }

  @Test func `trailing bytes are read over where they are allowed`() throws {
    let input = bytes("0101000000" + Self.xy + "00ff")
    #expect(
      try WKB.read(input.span.bytes, allowsTrailingBytes: true) == .point(x: 1, y: 2))
  }

  @Test func `an error says what and where`() {
    let error = failure { () throws(GeometryError) in try WKB.read(bytes("0163000000")) }
    #expect(error?.description == "geometry type 99 is unknown at byte 1")
  }
}
