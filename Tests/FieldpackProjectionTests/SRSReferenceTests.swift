import FieldpackGeometry
import FieldpackProjection
import Testing

@Suite struct SRSReferenceTests {
  @Test(arguments: [
    "+proj=longlat", "+init=/etc/hostname:x", "{\"type\":\"GeographicCRS\"}", "EPSG:4326", "", "[",
    "GEOGCSX[\"a\"]", "BOUNDCRS[SOURCECRS[]]", "PROJCS", "PROJCS +proj=merc",
    "PROJCS[\"a\",EXTENSION[\"PROJ4\",\"+proj=merc +nadgrids=/etc/passwd\"]]",
    "PROJCS[\"a\",EXTENSION[\"PROJ4\",\"+proj=merc +nadgrids = /etc/passwd\"]]",
    "PROJCS[\"a\",EXTENSION[\"PROJ4\",\"+proj=merc +nadgrids=@null +geoidgrids=x\"]]",
    "PROJCS[\"a\",EXTENSION[\"PROJ4\",\"+INIT=epsg:4326\"]]",
    "GEOGCS[\"a\",EXTENSION[\"PROJ4_GRIDS\",\"/etc/passwd\"]]",
    "PROJCRS[\"a\",CONVERSION[\"x\",METHOD[\"PROJ-based operation method: +proj=merc\"]]]",
    "PROJCRS[\"a\",PARAMETERFILE[\"f\",\"/etc/passwd\"]]", "GEOGCS[\"\0\"]",
  ])
  func `refuses what is no plain WKT`(text: String) {
    let error = #expect(throws: ProjectionError.self) { _ = try SRSReference(wkt: text) }
    #expect(error?.kind == .invalidDefinition)
  }

  @Test func `refuses a definition longer than any real one`() {
    let error = #expect(throws: ProjectionError.self) {
      _ = try SRSReference(wkt: "GEOGCS[\"" + String(repeating: "a", count: 70_000) + "\"]")
    }
    #expect(error?.message == "the WKT definition is longer than 65536 bytes")
  }

  @Test func `a definition nested 5,000 deep is an error`() throws {
    let text = "GEOGCS" + String(repeating: "[GEOGCS", count: 5_000)
    let reference = try SRSReference(wkt: text)
    #expect(throws: ProjectionError.self) { _ = try SRSCatalogue().identify(reference) }
  }

  @Test(arguments: [
    "PROJCS[\"a\"", "GEOGCS[]", "PROJCS[\"a\",GEOGCS[\"b\"]]", "COMPD_CS[\"x\",[[[[[[[[[[[[[[[[[[",
  ])
  func `a definition that PROJ cannot read is an error with its reason`(text: String) throws {
    let reference = try SRSReference(wkt: text)
    let error = #expect(throws: ProjectionError.self) {
      _ = try CoordinateTransformation(from: reference, to: SRSReference(.wgs84))
    }
    #expect(error?.kind == .invalidDefinition)
  }

  @Test(arguments: [Int32(3857), 25833, 4326, 2263, 3035, 31370])
  func `a definition in WKT transforms as its code does`(code: Int32) throws {
    let catalogue = SRSCatalogue()
    let definition = try catalogue.definition(of: SRS("EPSG", code))
    let start = Position(x: 13.4, y: 52.5)
    let byCode = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", code))
    for wkt in [definition.wkt1, definition.wkt2].compactMap(\.self) {
      let reference = try SRSReference(wkt: wkt)
      #expect(reference.description == definition.name)
      let byText = try CoordinateTransformation(from: SRSReference(.wgs84), to: reference)
      let expected = try #require(byCode.transform(start))
      let moved = try #require(byText.transform(start))
      #expect(abs(moved.x - expected.x) < 1e-6 && abs(moved.y - expected.y) < 1e-6)
    }
  }

  @Test func `a local system has no way to WGS 84`() throws {
    let local = try SRSReference(wkt: "LOCAL_CS[\"site\",UNIT[\"metre\",1]]")
    let error = #expect(throws: ProjectionError.self) {
      _ = try CoordinateTransformation(from: local, to: SRSReference(.wgs84))
    }
    #expect(error?.kind == .noOperation)
    #expect(error?.message.hasPrefix("PROJ has no operation from site to EPSG:4326: ") == true)
  }
}
