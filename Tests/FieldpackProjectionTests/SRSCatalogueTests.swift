import FieldpackGeometry
import FieldpackProjection
import Testing

@Suite struct SRSCatalogueTests {
  @Test func `describes WGS 84 with the text GeoPackage wants`() throws {
    let found = try SRSCatalogue().definition(of: .wgs84)
    #expect(found.name == "WGS 84")
    #expect(found.kind == .geographic && found.isGeographic && !found.isDeprecated)
    #expect(found.srs == .wgs84)
    #expect(found.unit == "degree" && abs(found.unitFactor - .pi / 180) < 1e-15)
    #expect(
      found.areaOfUse
        == .init(name: "World.", envelope: Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)))
    #expect(
      found.wkt1 == """
        GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,\
        AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,\
        AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],\
        AUTHORITY["EPSG","4326"]]
        """)
    #expect(found.wkt2.hasPrefix("GEOGCRS[\"WGS 84\",ENSEMBLE["))
  }

  @Test func `describes a projected system in feet`() throws {
    let found = try SRSCatalogue().definition(of: SRS("EPSG", 2263))
    #expect(found.name == "NAD83 / New York Long Island (ftUS)")
    #expect(found.kind == .projected && found.unit == "US survey foot")
    #expect(found.wkt1?.hasPrefix("PROJCS[\"NAD83 / New York Long Island (ftUS)\"") == true)
    #expect(found.areaOfUse?.contains(longitude: -73.98, latitude: 40.75) == true)
    #expect(found.areaOfUse?.contains(longitude: 13.4, latitude: 52.5) == false)
  }

  @Test func `an area of use may cross the antimeridian`() throws {
    let area = try #require(try SRSCatalogue().definition(of: SRS("EPSG", 2193)).areaOfUse)
    #expect(area.envelope.minX < area.envelope.maxX)
    let pacific = try #require(try SRSCatalogue().definition(of: SRS("EPSG", 32601)).areaOfUse)
    #expect(pacific.envelope == Envelope(minX: -180, minY: 0, maxX: -174, maxY: 84))
    let fiji = try #require(try SRSCatalogue().definition(of: SRS("EPSG", 3460)).areaOfUse)
    #expect(fiji.envelope.minX > fiji.envelope.maxX)
    #expect(fiji.contains(longitude: 179, latitude: -17))
    #expect(fiji.contains(longitude: -179, latitude: -17))
    #expect(!fiji.contains(longitude: 0, latitude: -17))
  }

  @Test func `a system that WKT 1 cannot say has none`() throws {
    let found = try SRSCatalogue().definition(of: SRS("EPSG", 4979))
    #expect(found.wkt1 == nil)
    #expect(found.wkt2.hasPrefix("GEOGCRS[\"WGS 84\""))
  }

  @Test(arguments: [
    ("EPSG:3857", SRSDefinition.Kind.projected), ("EPSG:4978", .geocentric),
    ("EPSG:5773", .vertical), ("EPSG:7415", .compound), ("ESRI:54009", .projected),
    ("IAU_2015:30100", .geographic),
  ])
  func `knows the kind of any system`(text: String, kind: SRSDefinition.Kind) throws {
    let srs = try #require(SRS(text))
    #expect(try SRSCatalogue().definition(of: srs).kind == kind)
  }

  @Test func `an unknown code leads to a search`() {
    let error = #expect(throws: ProjectionError.self) {
      _ = try SRSCatalogue().definition(of: SRS("EPSG", 2_147_483_647))
    }
    #expect(
      error
        == ProjectionError(
          .unknownSRS,
          "PROJ knows no reference system EPSG:2147483647. "
            + "Try: search its name at https://epsg.org or with 'projinfo --list-crs'"))
  }

  @Test func `an unknown authority leads to the known ones`() {
    let error = #expect(throws: ProjectionError.self) {
      _ = try SRSCatalogue().definition(of: SRS("ACME", 1))
    }
    #expect(error?.kind == .unknownSRS)
    #expect(
      error?.message.hasPrefix("PROJ knows no authority 'ACME' for ACME:1 (it has: EPSG, ")
        == true)
  }

  @Test(arguments: [
    "+init=epsg:4326", "+init=/etc/hostname:x", "+proj=longlat +nadgrids=/etc/passwd", "../..",
    "EPSG:99999999999", "EPSG:-2", "EPSG:4326+5773", "EPSG:", ":4326", "{\"type\":\"x\"}",
    "urn:ogc:def:coordinateOperation:EPSG::1671", "GEOGCS[\"x\"]", "EPSG:4326:1", "",
  ])
  func `nothing but authority and code is taken from outside`(text: String) {
    #expect(SRS(text) == nil)
  }

  @Test func `identifies a file's own definition`() throws {
    let catalogue = SRSCatalogue()
    let wkt = try #require(try catalogue.definition(of: SRS("EPSG", 25833)).wkt1)
    let bare = wkt.replacing(",AUTHORITY[\"EPSG\",\"25833\"]", with: "")
    #expect(try catalogue.identify(SRSReference(wkt: bare)) == SRS("EPSG", 25833))
    let local = try SRSReference(wkt: "LOCAL_CS[\"site\",UNIT[\"metre\",1]]")
    #expect(try catalogue.identify(local) == nil)
  }
}
