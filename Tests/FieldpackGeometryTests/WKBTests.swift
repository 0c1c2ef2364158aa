import FieldpackGeometry
import Testing

@Suite struct WKBTests {
  @Test(arguments: Samples.all) func `every geometry comes back from every encoding`(
    geometry: Geometry
  ) throws {
    for order in ByteOrder.allCases {
      for flavour in [WKB.Flavour.iso, .ewkb(srid: nil), .ewkb(srid: 25833)] {
        let written = WKB.bytes(of: geometry, byteOrder: order, flavour: flavour)
        #expect(try WKB.read(written) == geometry)
        var copy = WKBWriter(byteOrder: order, flavour: flavour)
        try WKB.visit(written.span.bytes, with: &copy)
        #expect(copy.bytes == written)
      }
    }
  }

  @Test func `the header tells type, dimensions and SRID`() throws {
    let geometry = Samples.geometry(.multiLineString, .xyzm)
    let iso = WKB.bytes(of: geometry, byteOrder: .big)
    #expect(hex(Array(iso.prefix(5))) == "0000000bbd")
    #expect(try WKB.srid(of: iso.span.bytes) == nil)
    let extended = WKB.bytes(of: geometry, flavour: .ewkb(srid: 4326))
    #expect(hex(Array(extended.prefix(9))) == "01050000e0e6100000")
    let header = try WKB.header(of: extended.span.bytes)
    #expect(header.type == .multiLineString && header.dimensions == .xyzm && header.isExtended)
    #expect(header.srid == 4326 && header.byteOrder == .little && header.bodyOffset == 9)
    // Members carry flags, but no SRID of their own.
    #expect(hex(Array(extended[13..<18])) == "01020000c0")
  }

  @Test func `byte orders and flavours may differ inside one blob`() throws {
    let mixed = bytes(
      """
      01 07000000 03000000
      00 00000001 3ff0000000000000 4000000000000000
      01 01000020 e6100000 000000000000f03f 0000000000000040
      00 00000004 00000001 01 01000000 000000000000f03f 0000000000000040
      """)
    let point = Geometry.point(x: 1, y: 2)
    let expected = Geometry.geometryCollection(
      [point, point, .multiPoint([Position(x: 1, y: 2)], .xy)], .xy)
    #expect(try WKB.read(mixed) == expected)
  }

  @Test func `a POINT of NaN is EMPTY and is written as NaN`() throws {
    let written = WKB.bytes(of: .point(nil, .xym))
    #expect(hex(written) == "01d1070000" + String(repeating: "000000000000f87f", count: 3))
    #expect(try WKB.read(written) == .point(nil, .xym))
    #expect(try WKB.isEmpty(written.span.bytes))
  }

  @Test func `bytes before the geometry in the buffer stay`() {
    var buffer: [UInt8] = [0xAA]
    WKB.write(.point(x: 1, y: 2), into: &buffer, byteOrder: .big)
    #expect(hex(buffer) == "aa" + "0000000001" + "3ff0000000000000" + "4000000000000000")
  }

  @Test(arguments: Samples.all) func `bytes agree with the value on envelope and count`(
    geometry: Geometry
  ) throws {
    let written = WKB.bytes(of: geometry, byteOrder: .big)
    #expect(try WKB.envelope(of: written.span.bytes) == geometry.envelope)
    #expect(try WKB.coordinateCount(written.span.bytes) == geometry.coordinateCount)
    #expect(try WKB.isEmpty(written.span.bytes) == geometry.isEmpty)
  }

  @Test func `an envelope has ranges of Z and M and ignores NaN positions`() throws {
    let line = CoordinateSequence(
      dimensions: .xyzm,
      ordinates: [1, 2, 30, 400, .nan, 99, 99, 99, -3, 4, .nan, 500, 0, 7, -10, .nan])
    let envelope = try WKB.envelope(of: WKB.bytes(of: .lineString(line)).span.bytes)
    #expect(
      envelope == Envelope(minX: -3, minY: 2, maxX: 1, maxY: 7, z: -10...30, m: 400...500))
    let lost = CoordinateSequence(dimensions: .xy, ordinates: [.nan, 1, 2, .nan])
    let bytes = WKB.bytes(of: .lineString(lost))
    #expect(try WKB.envelope(of: bytes.span.bytes) == nil)
    #expect(try !WKB.isEmpty(bytes.span.bytes))
  }

  @Test func `rings and members without positions are EMPTY`() throws {
    let empties: [Geometry] = [
      .polygon([CoordinateSequence()], .xy),
      .geometryCollection([.point(nil, .xy), .multiPoint([nil], .xy)], .xy),
    ]
    for geometry in empties {
      let written = WKB.bytes(of: geometry)
      #expect(try WKB.read(written) == geometry)
      #expect(try WKB.isEmpty(written.span.bytes) && geometry.isEmpty)
    }
  }

  @Test func `a writer fills counts in and is used again`() throws {
    var writer = WKBWriter()
    for _ in 0..<2 {
      writer.reset()
      writer.begin(.multiPolygon, .xy)
      writer.begin(.polygon, .xy)
      writer.beginRing()
      for (x, y) in [(0.0, 0.0), (4, 0), (4, 5), (0, 0)] { writer.position(x, y, .nan, .nan) }
      writer.endRing()
      writer.end(.polygon)
      writer.end(.multiPolygon)
      let ring = Samples.line([(0, 0), (4, 0), (4, 5), (0, 0)], .xy)
      #expect(try WKB.read(writer.bytes) == .multiPolygon([[ring]], .xy))
      #expect(writer.envelope == Envelope(minX: 0, minY: 0, maxX: 4, maxY: 5))
    }
  }

  @Test func `a run of positions is written as its single ones, NaN or not`() {
    let ordinates: [Double] = [1, 2, .nan, 9, -3, 7.5, 4, .nan, 0.5, -6]
    var (single, run) = (WKBWriter(), WKBWriter())
    single.begin(.lineString, .xy)
    run.begin(.lineString, .xy)
    for index in stride(from: 0, to: ordinates.count, by: 2) {
      single.position(ordinates[index], ordinates[index + 1], .nan, .nan)
    }
    ordinates.map(\.bitPattern.littleEndian).withUnsafeBytes { run.positions($0) }
    single.end(.lineString)
    run.end(.lineString)
    #expect(run.bytes == single.bytes)
    #expect(run.envelope == single.envelope)
    #expect(run.envelope == Envelope(minX: -3, minY: -6, maxX: 1, maxY: 7.5))
  }
}
