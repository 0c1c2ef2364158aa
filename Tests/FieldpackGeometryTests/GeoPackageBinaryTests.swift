import FieldpackGeometry
import Testing

@Suite struct GeoPackageBinaryTests {
  static let point = "0101000000 000000000000f03f 0000000000000040"
  static let nan = "000000000000f87f"

  static func header(_ flags: UInt8, _ srsID: Int32, _ order: ByteOrder, _ bounds: [Double])
    -> [UInt8]
  {
    func ordered<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
      withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian, Array.init)
    }
    return [0x47, 0x50, 0, flags | order.rawValue] + ordered(srsID)
      + bounds.flatMap { ordered($0.bitPattern) }
  }

  @Test(arguments: ByteOrder.allCases, ByteOrder.allCases)
  func `all envelope codes are read in either byte order, whatever the body's`(
    headerOrder: ByteOrder, bodyOrder: ByteOrder
  ) throws {
    let box = [1.0, 5, 2, 6]
    let z = [-1.0, 3]
    let m = [7.0, 8]
    let plain = Envelope(minX: 1, minY: 2, maxX: 5, maxY: 6)
    var withZ = plain
    var withM = plain
    var full = plain
    withZ.z = -1...3
    withM.m = 7...8
    full.z = -1...3
    full.m = 7...8
    let table: [(GeoPackageBinary.EnvelopeContents, [Double], Envelope?)] = [
      (.none, [], nil), (.xy, box, plain), (.xyz, box + z, withZ), (.xym, box + m, withM),
      (.xyzm, box + z + m, full),
    ]
    let line = Samples.geometry(.lineString, .xyzm)
    for (contents, bounds, expected) in table {
      let blob =
        Self.header(contents.rawValue << 1, 3857, headerOrder, bounds)
        + WKB.bytes(of: line, byteOrder: bodyOrder)
      let header = try GeoPackageBinary(blob.span.bytes)
      #expect(header.envelope == expected && header.envelopeContents == contents)
      #expect(header.srsID == 3857 && header.byteOrder == headerOrder)
      #expect(!header.isFlaggedEmpty && !header.isExtended && !header.hasReservedFlags)
      #expect(header.bodyOffset == 8 + 8 * bounds.count)
      #expect(try GeoPackageBinary.read(blob.span.bytes) == line)
      #expect(try GeoPackageBinary.envelope(of: blob.span.bytes) == expected ?? line.envelope)
    }
  }

  @Test(arguments: [
    ("", GeometryError.Kind.truncated, 0), ("47500001e61000", .truncated, 0),
    ("47580001e6100000" + point, .notGeoPackageBinary, 0),
    ("504f494e542831203229", .notGeoPackageBinary, 0),
    ("47500101e6100000" + point, .unknownVersion, 2),
    ("4750000be6100000" + point, .unknownEnvelopeCode, 3),
    ("4750000de6100000" + point, .unknownEnvelopeCode, 3),
    ("4750000fe6100000" + point, .unknownEnvelopeCode, 3),
    ("47500003e6100000" + point, .truncated, 8),
    ("47500021e6100000", .truncated, 8),
  ])
  func `malformed headers are refused`(hex: String, kind: GeometryError.Kind, offset: Int) {
    let error = failure { () throws(GeometryError) in
      try GeoPackageBinary(bytes(hex).span.bytes)
    }
    #expect(error?.kind == kind && error?.offset == offset)
  }

  @Test(arguments: [
    ("47500001e6100000", GeometryError.Kind.truncated),
    ("47500001e6100000 0101000000", .truncated),
    ("47500001e6100000 0102000000 ffffff7f 00000000", .truncated),
    ("47500001e6100000 0163000000 000000000000f03f", .unknownType),
    ("47500001e6100000 0701000000 000000000000f03f", .unknownByteOrder),
    ("47500001e6100000" + point + "67617262616765", .trailingBytes),
  ])
  func `a sound header does not save the body`(hex: String, kind: GeometryError.Kind) {
    let error = failure { () throws(GeometryError) in
      try GeoPackageBinary.read(bytes(hex).span.bytes)
    }
    #expect(error?.kind == kind)
  }

  @Test func `an envelope that cannot be is passed over for the positions`() throws {
    let one = Envelope(minX: 1, minY: 2, maxX: 1, maxY: 2)
    let unusable = [[Double.nan, .nan, .nan, .nan], [9, 1, 9, 1], [0, 1, .nan, 1]]
    for bounds in unusable {
      let blob = Self.header(0b0010, 4326, .little, bounds) + bytes(Self.point)
      #expect(try GeoPackageBinary(blob.span.bytes).hasUnusableEnvelope)
      #expect(try GeoPackageBinary.envelope(of: blob.span.bytes) == one)
      #expect(try !GeoPackageBinary.isEmpty(blob.span.bytes))
    }
    let blob = Self.header(0b1000, 4326, .big, [0, 1, 0, 1, 5, 4, .nan, 1]) + bytes(Self.point)
    #expect(
      try GeoPackageBinary(blob.span.bytes).envelope == Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)
    )
  }

  @Test func `the header alone answers when it can`() throws {
    let cut = Self.header(0b0010, 4326, .little, [0, 40, 0, 30]) + [1]
    #expect(
      try GeoPackageBinary.envelope(of: cut.span.bytes)
        == Envelope(minX: 0, minY: 0, maxX: 40, maxY: 30))
    #expect(try !GeoPackageBinary.isEmpty(cut.span.bytes))
    let flagged = Self.header(0x10, 4326, .little, []) + bytes(Self.point)
    #expect(try GeoPackageBinary.isEmpty(flagged.span.bytes))
    #expect(try GeoPackageBinary.envelope(of: flagged.span.bytes) == nil)
    let unflagged = Self.header(0, 4326, .little, []) + bytes("0101000000" + Self.nan + Self.nan)
    #expect(try GeoPackageBinary.isEmpty(unflagged.span.bytes))
    #expect(try GeoPackageBinary.envelope(of: unflagged.span.bytes) == nil)
  }

  @Test func `an extended encoding is told by its letters and not read as WKB`() throws {
    let blob = Self.header(0x20, 4326, .little, []) + Array("TEST".utf8) + [1, 2, 3]
    let header = try GeoPackageBinary(blob.span.bytes)
    #expect(header.extensionCode == "TEST" && header.bodyOffset == 12)
    let error = failure { () throws(GeometryError) in try GeoPackageBinary.read(blob.span.bytes) }
    #expect(
      error?.description
        == "the geometry is in the extended encoding 'TEST', which is not WKB at byte 8")
    #expect(
      failure { () throws(GeometryError) in
        try GeoPackageBinary.envelope(of: blob.span.bytes)
      }?.kind == .extendedBinary)
  }

  @Test func `reserved flags are read and told`() throws {
    let blob = Self.header(0x40, 4326, .little, []) + bytes(Self.point)
    #expect(try GeoPackageBinary(blob.span.bytes).hasReservedFlags)
  }
}
