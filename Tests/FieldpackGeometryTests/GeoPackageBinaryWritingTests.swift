import FieldpackGeometry
import Testing

@Suite struct GeoPackageBinaryWritingTests {
  static func blob(
    _ geometry: Geometry, _ policy: GeoPackageBinary.EnvelopePolicy = .standard
  ) -> [UInt8] {
    var blob: [UInt8] = []
    GeoPackageBinary.append(geometry, srsID: 4326, to: &blob, policy: policy)
    return blob
  }

  @Test(arguments: Samples.all) func `blobs of values and of WKB are the same and come back`(
    geometry: Geometry
  ) throws {
    let expected = Self.blob(geometry)
    var fromWKB: [UInt8] = []
    let wkb = WKB.bytes(of: geometry)
    let envelope = try GeoPackageBinary.append(wkb: wkb.span.bytes, srsID: 4326, to: &fromWKB)
    #expect(fromWKB == expected && envelope == geometry.envelope)
    #expect(try GeoPackageBinary.read(expected.span.bytes) == geometry)
    let header = try GeoPackageBinary(expected.span.bytes)
    #expect(header.isFlaggedEmpty == geometry.isEmpty && header.srsID == 4326)
    #expect(
      header.envelopeContents == (geometry.type == .point || geometry.isEmpty ? .none : .xy))
  }

  @Test(arguments: [
    (
      Dimensions.xyzm, GeoPackageBinary.EnvelopeContents.xyzm,
      GeoPackageBinary.EnvelopeContents.xyzm
    ),
    (.xyzm, .xyz, .xyz), (.xyzm, .xym, .xym), (.xyzm, .xy, .xy), (.xyzm, .none, .none),
    (.xy, .xyzm, .xy), (.xym, .xyzm, .xym), (.xyz, .xym, .xy),
  ])
  func `an envelope holds what is asked for and there`(
    dimensions: Dimensions, asked: GeoPackageBinary.EnvelopeContents,
    written: GeoPackageBinary.EnvelopeContents
  ) throws {
    let geometry = Samples.geometry(.polygon, dimensions)
    let header = try GeoPackageBinary(Self.blob(geometry, .fixed(asked)).span.bytes)
    #expect(header.envelopeContents == written)
    #expect(
      header.envelope?.z == (written == .xyz || written == .xyzm ? geometry.envelope?.z : nil))
    #expect(
      header.envelope?.m == (written == .xym || written == .xyzm ? geometry.envelope?.m : nil))
  }

  @Test func `bytes are those of the standard`() {
    #expect(
      hex(Self.blob(.point(x: 1, y: 2)))
        == "47500001e6100000" + "0101000000" + "000000000000f03f" + "0000000000000040")
    #expect(
      hex(Self.blob(.point(nil, .xy)))
        == "47500011e6100000" + "0101000000" + "000000000000f87f" + "000000000000f87f")
    let line = Samples.line([(1, 2), (0, 3)], .xy)
    #expect(
      hex(Array(Self.blob(.lineString(line)).prefix(45)))
        == "47500003e6100000" + "0000000000000000" + "000000000000f03f" + "0000000000000040"
        + "0000000000000840" + "0102000000")
  }

  @Test(arguments: Samples.types) func `EWKB becomes ISO WKB`(type: GeometryType) throws {
    for (dimensions, srid) in [(Dimensions.xy, Int32?(25833)), (.xyz, nil), (.xyzm, 4326)] {
      let geometry = Samples.geometry(type, dimensions)
      var blob: [UInt8] = []
      let wkb = WKB.bytes(of: geometry, flavour: .ewkb(srid: srid))
      try GeoPackageBinary.append(wkb: wkb.span.bytes, srsID: 4326, to: &blob)
      #expect(blob == Self.blob(geometry))
    }
  }

  @Test(arguments: [
    "0107000000 01000000 0101000020 e6100000 000000000000f03f 0000000000000040",
    "01ef030000 01000000 0101000080 000000000000f03f 0000000000000040 0000000000000840",
  ])
  func `EWKB members inside ISO WKB become ISO`(input: String) throws {
    let wkb = bytes(input)
    var blob: [UInt8] = []
    try GeoPackageBinary.append(wkb: wkb.span.bytes, srsID: 4326, to: &blob)
    #expect(blob == Self.blob(try WKB.read(wkb)))
  }

  @Test func `an error leaves the buffer as it was`() {
    var blob: [UInt8] = [7]
    let error = failure { () throws(GeometryError) in
      try GeoPackageBinary.append(wkb: bytes("0102000000ffffff7f").span.bytes, srsID: 1, to: &blob)
    }
    #expect(error?.kind == .truncated && blob == [7])
  }
}
