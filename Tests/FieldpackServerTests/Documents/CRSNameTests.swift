import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import Testing

@testable import FieldpackServer

@Suite struct CRSNameTests {
  @Test(arguments: [
    ("http://www.opengis.net/def/crs/OGC/1.3/CRS84", CRSName.crs84),
    ("http://www.opengis.net/def/crs/OGC/0/CRS84", .crs84),
    ("urn:ogc:def:crs:OGC:1.3:CRS84", .crs84), ("urn:ogc:def:crs:OGC::CRS84", .crs84),
    ("[OGC:CRS84]", .crs84), ("http://www.opengis.net/def/crs/EPSG/0/4326", .code(.wgs84)),
    ("https://www.opengis.net/def/crs/EPSG/9.9.1/25832", .code(SRS("EPSG", 25832))),
    ("urn:ogc:def:crs:EPSG::3857", .code(SRS("EPSG", 3857))),
    ("[EPSG:4326]", .code(.wgs84)), ("[epsg:25832]", .code(SRS("EPSG", 25832))),
    ("http://www.opengis.net/def/crs/ESRI/0/54030", .code(SRS("ESRI", 54030))),
  ])
  func `names are read in each form`(text: String, expected: CRSName) {
    #expect(CRSName(text) == expected)
    #expect(CRSName(expected.uri) == expected)
  }

  @Test(arguments: [
    "", "EPSG:4326", "4326", "CRS84", "[]", "[EPSG]", "[EPSG:4326", "[EPSG:x]", "[NONE:5]",
    "[EPSG:-1]", "[EPSG:0]", "http://www.opengis.net/def/crs/EPSG/0", "[a/b:4]",
    "http://www.opengis.net/def/crs/EPSG/0/4326/", "http://www.opengis.net/def/crs/EPSG//4326",
    "http://example.org/def/crs/EPSG/0/4326", "urn:ogc:def:crs:EPSG:4326", "+proj=longlat",
    "http://www.opengis.net/def/crs/OGC/0/CRS85", "[EPSG:99999999999]",
  ])
  func `other texts are no names`(text: String) { #expect(CRSName(text) == nil) }

  /// As EPSG's database has it.
  @Test(arguments: [
    (CRSName.crs84, false), (.code(.wgs84), true), (.code(SRS("EPSG", 3857)), false),
    (.code(SRS("EPSG", 25832)), false), (.code(SRS("EPSG", 4258)), true),
    (.code(SRS("EPSG", 3035)), true), (.code(SRS("EPSG", 2193)), true),
    // At the poles both axes lead the same way; their names tell the order.
    (.code(SRS("EPSG", 32661)), true), (.code(SRS("EPSG", 5041)), false),
  ])
  func `the axis order is that of the authority`(name: CRSName, isNorthFirst: Bool) throws {
    #expect(try name.isNorthFirst(in: SRSCatalogue()) == isNorthFirst)
  }

  @Test func `a system that is not there is a mistake of the request`() {
    let error = #expect(throws: FieldpackError.self) {
      _ = try CRSName.code(SRS("EPSG", 999_999)).isNorthFirst(in: SRSCatalogue())
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `systems that only their file defines have no name`() {
    #expect(CRSName(storage: SRS("NONE", 100_001)) == nil)
    #expect(CRSName(storage: .undefinedGeographic) == nil)
    #expect(CRSName(storage: .wgs84) == .crs84)
  }
}
